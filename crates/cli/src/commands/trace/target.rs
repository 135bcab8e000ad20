//! Resolves the flags to processes on this machine.

use std::process;

use probe::{Qemu, TargetError, Watch};
use protocol::Subject;
use samples::{CpuConsumer, TargetKind, TraceTarget, TracedProcess};

use super::{flags::Target, launch::Launch};
use crate::failure::Misuse;

pub(super) struct Resolved {
    pub(super) target: TraceTarget,
    subjects: Vec<Subject>,
    pub(super) namespace: Option<u64>,
}

impl Resolved {
    pub(super) fn watch(&self) -> Watch {
        let own = Subject { pids: vec![process::id()], ..subject(CpuConsumer::Plumb, false) };
        Watch { subjects: self.subjects.iter().cloned().chain([own]).collect(), latency_breakdown: None }
    }
}

pub(super) fn find(what: &Target, launch: Option<&Launch>) -> anyhow::Result<Resolved> {
    let found = match (what, launch) {
        (_, Some(launch)) => Ok(of_command(launch)),
        (Target { netns: Some(named), .. }, _) => namespace(named),
        (Target { cgroup: Some(named), .. }, _) => control_group(named),
        (Target { qemu: Some(named), .. }, _) => qemu(named),
        (Target { pid, .. }, _) if !pid.is_empty() => processes(pid),
        _ => {
            let hint = "use --pid PID, --netns NAME, --cgroup PATH, --qemu NAME, or a command after `--`";
            return Err(Misuse::new("no trace target given").hint(hint).into());
        }
    };
    Ok(found.map_err(misuse)?)
}

fn of_command(launch: &Launch) -> Resolved {
    let processes = vec![TracedProcess { pid: launch.pid(), name: launch.name().to_owned() }];
    resolved(TargetKind::Command, launch.line().to_owned(), processes)
}

fn processes(pids: &[u32]) -> Result<Resolved, TargetError> {
    let mut found = Vec::new();
    for pid in pids {
        let process = probe::process(*pid)?;
        if !found.contains(&process) {
            found.push(process);
        }
    }
    let named = pids.iter().map(u32::to_string).collect::<Vec<_>>().join(", ");
    Ok(resolved(TargetKind::Processes, named, found))
}

fn namespace(named: &str) -> Result<Resolved, TargetError> {
    let inode = probe::namespace(named)?;
    let target = target(TargetKind::Namespace, named.to_owned(), probe::in_namespace(inode));
    let subjects = vec![Subject { namespaces: vec![inode], ..subject(CpuConsumer::Client, true) }];
    Ok(Resolved { target, subjects, namespace: Some(inode) })
}

fn control_group(named: &str) -> Result<Resolved, TargetError> {
    let (inode, folder) = probe::control_group(named)?;
    let target = target(TargetKind::ControlGroup, named.to_owned(), probe::in_control_group(&folder));
    let subjects = vec![Subject { cgroups: vec![inode], ..subject(CpuConsumer::Client, true) }];
    Ok(Resolved { namespace: shared_namespace(&target.processes), target, subjects })
}

fn qemu(named: &str) -> Result<Resolved, TargetError> {
    probe::qemu(named).map(|qemu| of_qemu(qemu, named))
}

pub(super) fn of_qemu(qemu: Qemu, named: &str) -> Resolved {
    let guest = qemu.guest.unwrap_or_else(|| named.to_owned());
    let process = TracedProcess { pid: qemu.pid, name: qemu.process };
    let monitor = Subject { pids: vec![qemu.pid], ..subject(CpuConsumer::ClientVm, true) };
    let found = resolved(TargetKind::Qemu, guest, vec![process]);
    Resolved { subjects: probe::machine(&monitor), ..found }
}

fn resolved(kind: TargetKind, named: String, processes: Vec<TracedProcess>) -> Resolved {
    let pids = processes.iter().map(|process| process.pid).collect();
    let subjects = vec![Subject { pids, ..subject(CpuConsumer::Client, true) }];
    Resolved { namespace: shared_namespace(&processes), target: target(kind, named, processes), subjects }
}

fn shared_namespace(processes: &[TracedProcess]) -> Option<u64> {
    let mut all = processes.iter().map(|process| probe::namespace_of(process.pid));
    let first = all.next()??;
    all.all(|other| other == Some(first)).then_some(first)
}

fn target(kind: TargetKind, named: String, processes: Vec<TracedProcess>) -> TraceTarget {
    TraceTarget { kind, name: named, processes }
}

const fn subject(consumer: CpuConsumer, syscalls: bool) -> Subject {
    Subject::of(consumer, Vec::new(), syscalls)
}

pub(crate) fn misuse(error: TargetError) -> Misuse {
    let usage_error = Misuse::new(error.to_string());
    match error {
        TargetError::NoProcess(_) => usage_error.hint("`ps -e` lists running processes"),
        TargetError::NoNamespace { .. } => {
            usage_error.hint("`ip netns` lists names; for others, use a path, e.g. /proc/PID/ns/net")
        }
        TargetError::NoControlGroup { .. } => {
            usage_error.hint("/proc/PID/cgroup shows the cgroup of a process")
        }
        TargetError::NoQemu { running, .. } if running.is_empty() => {
            usage_error.hint("no QEMU is running here")
        }
        TargetError::NoQemu { running, .. } => {
            usage_error.hint(format!("running machines: {}", running.join(", ")))
        }
        TargetError::SeveralQemus { pids, .. } => {
            let pids = pids.iter().map(u32::to_string).collect::<Vec<_>>().join(", ");
            usage_error.hint(format!("select one by PID: {pids}"))
        }
    }
}
