//! Which virtual machine is meant: by process, name, number or monitor. Must not know what is measured of it.

use std::{fs, os::unix::fs::FileTypeExt, path::Path};

use anyhow::Context;
use machine::{Monitor, MonitorSays};
use probe::{Qemu, TargetError};

use crate::{commands::trace::target::misuse, failure::Misuse};

/// A machine, and what its monitor said where that was named.
pub(super) struct SelectedMachine {
    pub(super) qemu: Qemu,
    pub(super) monitor: Option<MonitorSays>,
}

/// Finds it.
pub(super) fn find(named: &str) -> anyhow::Result<SelectedMachine> {
    if is_path(named) {
        return of_monitor(Path::new(named));
    }
    let qemu = probe::qemu(named).map_err(|error| not_found(named, error))?;
    Ok(SelectedMachine { qemu, monitor: None })
}

fn is_path(named: &str) -> bool {
    named.contains('/') || fs::metadata(named).is_ok_and(|found| found.file_type().is_socket())
}

fn of_monitor(at: &Path) -> anyhow::Result<SelectedMachine> {
    let mut monitor = Monitor::open(at).context(
        "without its monitor everything is read but what the guest's driver took: name the machine by its process",
    )?;
    let said = monitor.ask()?;
    let listener = monitor.listener();
    // A monitor has one client: it is free again before anything is measured.
    drop(monitor);
    let by_process = listener.and_then(|pid| probe::qemu(&pid.to_string()).ok());
    let by_name = || said.guest.as_deref().and_then(|guest| probe::qemu(guest).ok());
    let qemu = by_process.or_else(by_name).ok_or_else(|| {
        let said = format!("no QEMU here belongs to the monitor {}", at.display());
        Misuse::new(said)
            .hint("it may be in another container or of another user: name the machine by its process")
    })?;
    Ok(SelectedMachine { qemu, monitor: Some(said) })
}

/// A number may be that of a process which is no QEMU.
fn not_found(named: &str, error: TargetError) -> Misuse {
    match named.parse().map(probe::process) {
        Ok(Ok(process)) if matches!(error, TargetError::NoQemu { .. }) => {
            let said = format!("process {} ({}) is no QEMU", process.pid, process.name);
            Misuse::new(said).hint("`plumb trace --pid` looks at any process")
        }
        Ok(Err(gone)) if matches!(error, TargetError::NoQemu { .. }) => misuse(gone),
        _ => misuse(error),
    }
}
