//! QEMU's monitor protocol: one JSON object a line. Commands are answered in time or not at all; events that say how a
//! guest ends are kept among its last output. Source: docs/interop/qmp-spec.txt and qapi/run-state.json of QEMU 7.2.

use std::{
    io::{self, ErrorKind, Write},
    net::Shutdown,
    os::unix::net::UnixStream,
    sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel},
    time::{Duration, Instant},
};

use serde_json::{Value, json};
use thiserror::Error;

use crate::last_lines::LastLines;

/// On a busy machine QEMU's start takes a while.
const PATIENCE_AT_START: Duration = Duration::from_secs(20);
/// QEMU answers at once, unless it was stopped or gets no CPU.
const PATIENCE: Duration = Duration::from_secs(5);
/// The end need not be waited for: whoever does not answer is killed.
const PATIENCE_AT_END: Duration = Duration::from_millis(500);
/// Queue length. QEMU sends one answer per command; further ones are dropped.
const WAITING: usize = 16;
/// An answer that lists 255 CPUs is some 60 kB long.
const LONGEST: u64 = 1 << 20;

/// Events that tell of a guest's end or standstill.
const TELLING: [&str; 9] = [
    "SHUTDOWN",
    "RESET",
    "GUEST_PANICKED",
    "GUEST_CRASHLOADED",
    "STOP",
    "SUSPEND",
    "POWERDOWN",
    "WATCHDOG",
    "MEMORY_FAILURE",
];

/// What every client has to say first.
const FIRST: &str = "qmp_capabilities";

/// A conversation with QEMU failed.
#[derive(Debug, Error)]
pub enum QmpError {
    /// It ended, or said nothing for long.
    #[error("QEMU does not answer `{command}`: {source}")]
    Silent {
        /// What it was asked.
        command: &'static str,
        /// Why.
        #[source]
        source: io::Error,
    },
    #[error("QEMU refuses `{command}`: {reason}")]
    Refused {
        /// What it was asked.
        command: &'static str,
        /// Its own words.
        reason: String,
    },
    /// It answered something else.
    #[error("QEMU answers `{command}` with what plumb does not understand: {answer}")]
    Strange {
        /// What it was asked.
        command: &'static str,
        answer: String,
    },
}

impl QmpError {
    /// Whether there is nobody left to answer.
    pub(super) fn is_end(&self) -> bool {
        let Self::Silent { source, .. } = self else { return false };
        matches!(source.kind(), ErrorKind::UnexpectedEof | ErrorKind::BrokenPipe)
    }
}

/// A monitor that takes commands.
#[derive(Debug)]
pub(super) struct Qmp {
    to: UnixStream,
    answers: Receiver<Value>,
    last_id: u64,
}

impl Qmp {
    /// Awaits the greeting and enters command mode. Events go to `words`.
    pub(super) fn greet(socket: UnixStream, words: &LastLines) -> Result<Self, QmpError> {
        let silent = |source| QmpError::Silent { command: FIRST, source };
        socket.set_write_timeout(Some(PATIENCE)).map_err(silent)?;
        let (to_us, answers) = sync_channel(WAITING);
        let from = socket.try_clone().map_err(silent)?;
        words.keep_some(from, LONGEST, move |line| sort(line, &to_us));
        let mut qmp = Self { to: socket, answers, last_id: 0 };
        qmp.next(PATIENCE_AT_START).map_err(silent)?;
        qmp.ask(FIRST, PATIENCE_AT_START)?;
        Ok(qmp)
    }

    /// The thread of each of the guest's CPUs, in their order.
    pub(super) fn vcpu_threads(&mut self) -> Result<Vec<u32>, QmpError> {
        const COMMAND: &str = "query-cpus-fast";
        let thread = |cpu: &Value| u32::try_from(cpu["thread-id"].as_u64()?).ok();
        let answer = self.ask(COMMAND, PATIENCE)?;
        let threads = answer.as_array().and_then(|cpus| cpus.iter().map(thread).collect());
        threads.ok_or_else(|| QmpError::Strange { command: COMMAND, answer: answer.to_string() })
    }

    /// What QEMU says that its guest does, as `running` or `paused`.
    pub(super) fn status(&mut self) -> Result<String, QmpError> {
        const COMMAND: &str = "query-status";
        let answer = self.ask(COMMAND, PATIENCE_AT_END)?;
        let status = answer["status"].as_str().map(str::to_owned);
        status.ok_or_else(|| QmpError::Strange { command: COMMAND, answer: answer.to_string() })
    }

    /// Asks QEMU to end; that it is gone already is as good.
    pub(super) fn quit(&mut self) {
        let _ = self.ask("quit", PATIENCE_AT_END);
    }

    /// Has a command carried out; its answer.
    fn ask(&mut self, command: &'static str, patience: Duration) -> Result<Value, QmpError> {
        let silent = |source| QmpError::Silent { command, source };
        self.last_id += 1;
        let order = json!({ "execute": command, "id": self.last_id });
        self.to.write_all(format!("{order}\n").as_bytes()).map_err(silent)?;
        let begun = Instant::now();
        loop {
            let mut answer = self.next(patience.saturating_sub(begun.elapsed())).map_err(silent)?;
            // One that comes too late is that of a command which was given up.
            if answer.get("id").is_some_and(|id| *id != self.last_id) {
                continue;
            }
            if let Some(error) = answer.get("error") {
                let reason = error["desc"].as_str().unwrap_or_default().to_owned();
                return Err(QmpError::Refused { command, reason });
            }
            if let Some(answer) = answer.get_mut("return") {
                return Ok(answer.take());
            }
        }
    }

    fn next(&self, patience: Duration) -> io::Result<Value> {
        if patience.is_zero() {
            return Err(io::Error::new(ErrorKind::TimedOut, "QEMU sends only other messages"));
        }
        self.answers.recv_timeout(patience).map_err(|error| match error {
            RecvTimeoutError::Disconnected => io::Error::new(ErrorKind::UnexpectedEof, "it has ended"),
            RecvTimeoutError::Timeout => io::Error::new(ErrorKind::TimedOut, "it is stopped, or gets no CPU"),
        })
    }
}

impl Drop for Qmp {
    fn drop(&mut self) {
        // What reads from it has a copy. It fails only when the other side is gone.
        let _ = self.to.shutdown(Shutdown::Both);
    }
}

/// Hands on whatever is no event; what is to be kept of an event.
fn sort(line: &str, answers: &SyncSender<Value>) -> Option<String> {
    let said = serde_json::from_str(line).unwrap_or_else(|_| Value::String(line.to_owned()));
    let Some(event) = said.get("event").and_then(Value::as_str) else {
        // Fails if the receiver is gone or its queue is full.
        let _ = answers.try_send(said);
        return None;
    };
    let because = ["reason", "action"].into_iter().find_map(|key| said["data"][key].as_str());
    let because = because.map(|because| format!(" ({because})")).unwrap_or_default();
    TELLING.contains(&event).then(|| format!("QEMU: {event}{because}"))
}

#[cfg(test)]
mod tests;
