//! Waits until a trace ends: after a timeout, on Ctrl-C, or when the target exits.

use std::{
    io,
    os::unix::process::ExitStatusExt,
    process::ExitStatus,
    sync::{
        atomic::{AtomicBool, Ordering},
        mpsc::{Receiver, RecvTimeoutError},
    },
    thread,
    time::{Duration, Instant},
};

use samples::{TargetKind, TraceEnd};
use units::Nanos;

use super::{flags::TraceArgs, target::Resolved};
use crate::{amount, exit::Exit, failure::Misuse};

const STATUS: &str = "status ";
const SIGNAL: &str = "signal ";
const DEFAULT: Nanos = Nanos::from_secs(10);
const LENGTHS: (Nanos, Nanos) = (Nanos::from_millis(10), Nanos::from_secs(86_400));
/// This limits the CPU cost of updates.
const SHORTEST_INTERVAL: Nanos = Nanos::from_millis(100);
const GLANCE: Duration = Duration::from_millis(20);
/// Time for an interrupted program to exit.
const GRACE: Duration = Duration::from_secs(2);

pub(super) struct Waiting {
    length: Option<Nanos>,
    every: Option<Duration>,
}

impl Waiting {
    pub(super) fn from_flags(args: &TraceArgs) -> Result<Self, Misuse> {
        Self::of(args.how.length, args.how.every, args.command.is_empty())
    }

    /// Without a length, a target that `runs_on` is traced for the default time. An interval of 0 disables updates.
    pub(super) fn of(length: Option<Nanos>, every: Nanos, runs_on: bool) -> Result<Self, Misuse> {
        let length = match length {
            Some(length) => Some(amount::within("--for", length, LENGTHS)?),
            None if runs_on => Some(DEFAULT),
            None => None,
        };
        let every = if every.0 == 0 {
            None
        } else {
            Some(amount::within("--every", every, (SHORTEST_INTERVAL, LENGTHS.1))?)
        };
        Ok(Self { length, every: every.map(Duration::from) })
    }

    pub(super) fn for_end(
        &self,
        target: &Alive,
        stop: &AtomicBool,
        mut tick: impl FnMut() -> anyhow::Result<()>,
    ) -> anyhow::Result<TraceEnd> {
        let start = Instant::now();
        let mut next = self.every;
        loop {
            if let Some(ended) = target.ended(self.rest(start.elapsed()).min(GLANCE)) {
                return Ok(ended);
            }
            if stop.load(Ordering::Relaxed) {
                let interrupted = TraceEnd::Interrupted { requested: self.length };
                return Ok(target.ended(target.grace()).unwrap_or(interrupted));
            }
            if self.rest(start.elapsed()).is_zero() {
                return Ok(TraceEnd::TimeOver);
            }
            if let Some(due) = next.filter(|due| start.elapsed() >= *due) {
                tick()?;
                next = self.every.map(|every| start.elapsed().max(due) + every);
            }
        }
    }

    fn rest(&self, passed: Duration) -> Duration {
        self.length.map_or(Duration::MAX, |length| Duration::from(length).saturating_sub(passed))
    }
}

pub(super) enum Alive {
    Started(Receiver<io::Result<ExitStatus>>),
    Processes(Vec<u32>),
    /// The target never ends, because new processes may join it at any time.
    Always,
}

impl Alive {
    pub(super) fn of(found: &Resolved) -> Self {
        match found.target.kind {
            TargetKind::Processes | TargetKind::Qemu | TargetKind::Command => {
                Self::Processes(found.target.processes.iter().map(|process| process.pid).collect())
            }
            TargetKind::Namespace | TargetKind::ControlGroup => Self::Always,
        }
    }

    fn ended(&self, patience: Duration) -> Option<TraceEnd> {
        let how = match self {
            Self::Started(exit) => match exit.recv_timeout(patience) {
                Ok(status) => status.ok().map(describe),
                Err(RecvTimeoutError::Timeout) => return None,
                Err(RecvTimeoutError::Disconnected) => None,
            },
            Self::Processes(pids) if !pids.iter().any(|pid| probe::is_alive(*pid)) => None,
            Self::Processes(_) | Self::Always => {
                thread::sleep(patience);
                return None;
            }
        };
        Some(TraceEnd::TargetEnded { status: how })
    }

    fn grace(&self) -> Duration {
        if matches!(self, Self::Started(_)) { GRACE } else { Duration::ZERO }
    }
}

pub(super) fn exit(how: &str) -> Exit {
    let number = |prefix| how.strip_prefix(prefix).and_then(|number| number.parse::<u8>().ok());
    let signal = || number(SIGNAL).map(|signal| signal.saturating_add(128));
    number(STATUS).or_else(signal).map_or(Exit::Failure, Exit::Program)
}

fn describe(status: ExitStatus) -> String {
    match (status.code(), status.signal()) {
        (Some(code), _) => format!("{STATUS}{code}"),
        (_, Some(signal)) => format!("{SIGNAL}{signal}"),
        _ => "an unknown status".to_owned(),
    }
}
