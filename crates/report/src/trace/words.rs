//! Terms for a trace's target, how the trace ended, and owners of CPU time.

use findings::{TraceSummary, TracedPace};
use samples::{CpuConsumer, TargetKind, TraceEnd, TraceTarget, TracedProcess};
use units::{Share, significant};

use crate::phrases;

const NAMED: usize = 4;

pub(super) fn target(target: &TraceTarget) -> String {
    let named = &target.name;
    match target.kind {
        TargetKind::Processes => match &target.processes[..] {
            [one] => format!("{} (process {})", one.name, one.pid),
            several => format!("processes {named}: {}", names(several)),
        },
        TargetKind::Namespace => format!("network namespace {named}: {}", counted(&target.processes)),
        TargetKind::ControlGroup => format!("control group {named}: {}", counted(&target.processes)),
        TargetKind::Qemu => {
            let pid = target.processes.first().map_or(0, |process| process.pid);
            format!("virtual machine {named} (QEMU, process {pid})")
        }
        TargetKind::Command => format!("`{named}`"),
    }
}

pub(super) fn length(trace: &TraceSummary) -> String {
    let cpus = phrases::count(trace.cpus, "CPU");
    format!("{} s, {cpus}, {}", significant(trace.elapsed.seconds(), 3), phrases::moment(trace.started))
}

pub(super) fn end(trace: &TraceSummary) -> Option<String> {
    match trace.ended.as_ref()? {
        TraceEnd::TimeOver => None,
        TraceEnd::Interrupted { requested: Some(requested) } => {
            Some(format!("Interrupted before the end of {} s.", significant(requested.seconds(), 3)))
        }
        TraceEnd::Interrupted { requested: None } => Some("Interrupted.".to_owned()),
        TraceEnd::TargetEnded { status: Some(status) } => Some(format!("It ended with {status}.")),
        TraceEnd::TargetEnded { status: None } => {
            Some("It exited during the trace; the data ends there.".to_owned())
        }
    }
}

/// Names an owner in terms of the target. If QEMU's threads have no names, QEMU is a single owner.
pub(super) const fn consumer(consumer: CpuConsumer, kind: TargetKind) -> &'static str {
    match (consumer, kind) {
        (CpuConsumer::Client | CpuConsumer::Server, TargetKind::Qemu) => "QEMU",
        (CpuConsumer::Client | CpuConsumer::Server, _) => "traced",
        (CpuConsumer::ClientVm | CpuConsumer::ServerVm, _) => "vCPUs",
        (CpuConsumer::Vmm, _) => "QEMU, other threads",
        (CpuConsumer::Vhost, _) => "vhost",
        (CpuConsumer::Softirq, _) => "soft interrupts",
        (CpuConsumer::Ksoftirqd, _) => "ksoftirqd",
        (CpuConsumer::Irq, _) => "interrupts",
        (CpuConsumer::Kernel, _) => "kernel threads",
        (CpuConsumer::Plumb, _) => "this plumb",
        (CpuConsumer::Other, _) => "other processes",
    }
}

pub(super) fn per_second(rate: f64) -> String {
    let (value, unit) = match rate {
        rate if rate >= 999_500.0 => (rate / 1e6, " M"),
        rate if rate >= 9_995.0 => (rate / 1e3, " k"),
        rate => (rate, ""),
    };
    let decimals = match value {
        value if value < 9.995 => 2,
        value if value < 99.95 => 1,
        _ => 0,
    };
    format!("{value:.decimals$}{unit}")
}

pub(super) fn left(pace: &TracedPace) -> String {
    let interval = pace.interval.map(|it| {
        format!(" ({} to {}, {} %)", Share(it.low), Share(it.high), significant(it.confidence * 100.0, 3))
    });
    format!("{}{}", Share(pace.ratio), interval.unwrap_or_default())
}

fn counted(processes: &[TracedProcess]) -> String {
    match processes {
        [] => "no process at the start".to_owned(),
        _ => {
            let count = phrases::count_of(processes.len(), "process", "processes");
            format!("{count} ({})", names(processes))
        }
    }
}

fn names(processes: &[TracedProcess]) -> String {
    let mut names: Vec<&str> = processes.iter().map(|process| process.name.as_str()).collect();
    names.sort_unstable();
    names.dedup();
    let more = names.len().saturating_sub(NAMED);
    let mut phrase = names.into_iter().take(NAMED).collect::<Vec<_>>().join(", ");
    if more > 0 {
        phrase += &format!(" and {more} more");
    }
    phrase
}
