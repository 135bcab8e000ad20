//! A QEMU process with its monitor and exit status.

use std::{
    os::unix::process::ExitStatusExt,
    process::{Child, ExitStatus},
    sync::{Arc, OnceLock},
    thread,
    time::{Duration, Instant},
};

use parking_lot::Mutex;
use sys::child::ConfinedChild;

use super::qmp::Qmp;

const EXIT_TIMEOUT: Duration = Duration::from_secs(10);
const POLL: Duration = Duration::from_millis(5);

#[derive(Debug)]
pub(super) struct Running {
    pid: u32,
    started: Instant,
    first_process: Arc<OnceLock<Instant>>,
    live: Mutex<Live>,
}

#[derive(Debug)]
struct Live {
    child: ConfinedChild,
    qmp: Qmp,
}

impl Running {
    pub(super) fn new(
        child: ConfinedChild,
        qmp: Qmp,
        started: Instant,
        first_process: Arc<OnceLock<Instant>>,
    ) -> Self {
        Self { pid: child.id(), started, first_process, live: Mutex::new(Live { child, qmp }) }
    }

    pub(super) fn pid(&self) -> u32 {
        self.pid
    }

    pub(super) fn booted_within(&self) -> Option<Duration> {
        Some(self.first_process.get()?.duration_since(self.started))
    }

    pub(super) fn trouble(&self) -> Option<String> {
        let mut live = self.live.lock();
        match live.qmp.status() {
            Ok(status) if status == "running" => None,
            Ok(status) => Some(format!("QEMU reports guest state `{status}`")),
            Err(error) if error.is_end() => live.ended().map(describe),
            Err(error) => Some(error.to_string()),
        }
    }

    pub(super) fn stop(self) {
        let mut live = self.live.lock();
        live.qmp.quit();
        end(&mut live.child);
    }
}

impl Live {
    fn ended(&mut self) -> Option<ExitStatus> {
        let begun = Instant::now();
        loop {
            match self.child.try_wait() {
                Ok(None) if begun.elapsed() < EXIT_TIMEOUT => thread::sleep(POLL),
                status => return status.ok().flatten(),
            }
        }
    }
}

pub(super) fn end(child: &mut Child) -> Option<ExitStatus> {
    // Fails only if the process has already exited.
    let _ = child.kill();
    child.wait().ok()
}

fn describe(status: ExitStatus) -> String {
    match (status.signal(), status.code()) {
        (Some(signal), _) => format!("QEMU was killed by signal {signal}"),
        (None, code) => format!("QEMU exited with status {}", code.unwrap_or_default()),
    }
}
