//! A QEMU that was started: its process, its monitor, and what has become of them. Must not know what its guest is for.

use std::{
    os::unix::process::ExitStatusExt,
    process::{Child, ExitStatus},
    sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError},
    thread,
    time::{Duration, Instant},
};

use sys::child::ConfinedChild;

use super::qmp::Qmp;

/// How long the kernel may take to tell of the end of a process whose streams have ended.
const ENDING: Duration = Duration::from_secs(10);
const GLANCE: Duration = Duration::from_millis(5);

/// A process of QEMU.
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
    /// One that was `started` then. When its guest's first process runs is told in `first_process`.
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

    /// What is wrong with QEMU itself, if anything is.
    pub(super) fn trouble(&self) -> Option<String> {
        let mut live = self.live();
        match live.qmp.status() {
            Ok(status) if status == "running" => None,
            Ok(status) => Some(format!("QEMU: its guest is in the state `{status}`")),
            Err(error) if error.is_end() => live.ended().map(how),
            Err(error) => Some(error.to_string()),
        }
    }

    /// Ends it, if it still runs, and waits until it is gone.
    pub(super) fn stop(self) {
        let mut live = self.live();
        live.qmp.quit();
        end(&mut live.child);
    }

    fn live(&self) -> MutexGuard<'_, Live> {
        self.live.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Live {
    /// How it ended, once it has.
    fn ended(&mut self) -> Option<ExitStatus> {
        let begun = Instant::now();
        loop {
            match self.child.try_wait() {
                Ok(None) if begun.elapsed() < ENDING => thread::sleep(GLANCE),
                status => return status.ok().flatten(),
            }
        }
    }
}

/// Ends it, if it still runs, and waits until it is gone; how it ended.
pub(super) fn end(child: &mut Child) -> Option<ExitStatus> {
    // Either fails only when the child is gone, which is what is wanted.
    let _ = child.kill();
    child.wait().ok()
}

fn how(status: ExitStatus) -> String {
    match (status.signal(), status.code()) {
        (Some(signal), _) => format!("QEMU was ended by signal {signal}"),
        (None, code) => format!("QEMU ended with status {}", code.unwrap_or_default()),
    }
}
