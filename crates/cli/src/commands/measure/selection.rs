//! Selects a virtual machine by its PID, name, number or monitor.

use std::{
    fs,
    os::unix::fs::FileTypeExt,
    path::Path,
    sync::{Arc, atomic::AtomicBool},
};

use anyhow::Context;
use machine::{Monitor, MonitorSays};
use probe::{Qemu, TargetError};

use crate::{commands::trace::target::misuse, failure::Misuse};

pub(super) struct SelectedMachine {
    pub(super) qemu: Qemu,
    pub(super) monitor: Option<MonitorSays>,
}

pub(super) fn find(named: &str, stop: &Arc<AtomicBool>) -> anyhow::Result<SelectedMachine> {
    if is_path(named) {
        return of_monitor(Path::new(named), stop);
    }
    let qemu = probe::qemu(named).map_err(|error| not_found(named, error))?;
    Ok(SelectedMachine { qemu, monitor: None })
}

fn is_path(named: &str) -> bool {
    named.contains('/') || fs::metadata(named).is_ok_and(|found| found.file_type().is_socket())
}

fn of_monitor(at: &Path, stop: &Arc<AtomicBool>) -> anyhow::Result<SelectedMachine> {
    let mut monitor = Monitor::open(at, stop).context(
        "the monitor is only needed to show the features negotiated by the guest driver; to measure without \
            them, select the machine by PID",
    )?;
    let answers = monitor.ask()?;
    let listener = monitor.listener();
    // Disconnect, because a monitor accepts only one client.
    drop(monitor);
    let by_process = listener.and_then(|pid| probe::qemu(&pid.to_string()).ok());
    let by_name = || answers.guest.as_deref().and_then(|guest| probe::qemu(guest).ok());
    let qemu = by_process.or_else(by_name).ok_or_else(|| {
        let message = format!("no local QEMU process owns the monitor {}", at.display());
        Misuse::new(message)
            .hint("it may be in another container or owned by another user; select the machine by PID")
    })?;
    Ok(SelectedMachine { qemu, monitor: Some(answers) })
}

/// If the argument is the PID of another program, the error says so.
fn not_found(named: &str, error: TargetError) -> Misuse {
    match named.parse().map(probe::process) {
        Ok(Ok(process)) if matches!(error, TargetError::NoQemu { .. }) => {
            let message = format!("process {} ({}) is not QEMU", process.pid, process.name);
            Misuse::new(message).hint("`plumb trace --pid` works with any process")
        }
        Ok(Err(gone)) if matches!(error, TargetError::NoQemu { .. }) => misuse(gone),
        _ => misuse(error),
    }
}
