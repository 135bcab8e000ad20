//! `step-dominates`: one step of a message's way takes more than a third of the round trip.

use findings::{
    CellSummary, Evidence, Finding, LatencyBreakdown, Leg, Remedy, Severity, StepKind, StepSummary,
};

use super::{
    Context, Rule,
    ethtool::typed_at,
    significance::{self, Above},
};
use crate::words::{count, percent, so_in};

pub(crate) const RULE: Rule = Rule { id: "step-dominates", look };

/// From this share of the round trip on.
const MUCH: f64 = 1.0 / 3.0;

struct DominantStep<'a> {
    cell: &'a CellSummary,
    way: &'a LatencyBreakdown,
    step: &'a StepSummary,
    share: Above,
}

/// One claim for each step that dominates, the cell where it takes most named; wake-ups of either end are one.
fn look(context: &Context<'_>) -> Vec<Finding> {
    let mut found: Vec<DominantStep<'_>> = context.findings.cells.iter().flat_map(dominated).collect();
    found.sort_by(|one, other| other.share.median.total_cmp(&one.share.median));
    let mut told: Vec<&str> = Vec::new();
    let mut claims = Vec::new();
    for worst in &found {
        if told.contains(&subject(worst.step)) {
            continue;
        }
        told.push(subject(worst.step));
        let alike: Vec<&DominantStep<'_>> =
            found.iter().filter(|other| subject(other.step) == subject(worst.step)).collect();
        claims.push(finding(worst, &alike));
    }
    claims
}

/// What a claim is about.
fn subject(step: &StepSummary) -> &str {
    if step.kind == StepKind::Wakeup { "wake-up" } else { &step.what }
}

fn dominated(cell: &CellSummary) -> Vec<DominantStep<'_>> {
    let Some(way) = cell.way().filter(|way| way.steps.len() > 2) else { return Vec::new() };
    let found = way.steps.iter().filter_map(|step| {
        let share = significance::above(&step.by_trial, MUCH)?;
        Some(DominantStep { cell, way, step, share })
    });
    found.collect()
}

fn finding(worst: &DominantStep<'_>, alike: &[&DominantStep<'_>]) -> Finding {
    let DominantStep { cell, step, share, .. } = worst;
    let beside: Vec<String> = alike
        .iter()
        .filter(|other| other.cell.id == cell.id && other.step.begins.total_cmp(&step.begins).is_ne())
        .map(|other| format!(" Beside it {} takes {}.", other.step.what, percent(other.share.median)))
        .collect();
    let mut cells: Vec<String> = Vec::new();
    for other in alike {
        if !cells.contains(&other.cell.id) {
            cells.push(other.cell.id.clone());
        }
    }
    let others = so_in(cells.len());
    // A wake-up is the machine's way of idling, and no fault of the path.
    let is_fault = step.kind != StepKind::Wakeup;
    Finding {
        id: String::new(),
        severity: if share.sure && is_fault { Severity::Warning } else { Severity::Note },
        claim: format!(
            "One step takes {} of a round trip of {}: {} ({}). {}{}{others}",
            percent(share.median),
            cell.id,
            step.what,
            place(step),
            meaning(step),
            beside.concat()
        ),
        cells,
        evidence: alike.iter().map(|dominated| evidence(dominated)).collect(),
        caveats: vec![
            "It is of messages that a probe followed, in trials that it made slower: see what the probes cost.".into(),
            "Medians of steps are compared with the median round trip; a step that is short in most messages and long in \
             some shows at its 99 % alone."
                .into(),
        ],
        remedy: Some(remedy(step)),
    }
}

/// `from app:eth0 to node1:veth-app`, as far as there are devices.
fn place(step: &StepSummary) -> String {
    let way = match step.leg {
        Leg::There => "on the way there",
        Leg::Server => "at the server",
        Leg::Back => "on the way back",
    };
    match (&step.from.device, &step.to.device) {
        (Some(from), Some(to)) if from == to => format!("at {from}, {way}"),
        (Some(from), Some(to)) => format!("from {from} to {to}, {way}"),
        (Some(from), None) => format!("from {from}, {way}"),
        (None, Some(to)) => format!("down to {to}, {way}"),
        (None, None) => way.to_owned(),
    }
}

const fn meaning(step: &StepSummary) -> &'static str {
    match step.kind {
        StepKind::Wakeup => {
            "The socket has the packet, and the thread that waits for it has yet to run: an idle CPU wakes, or a busy one is \
             shared."
        }
        StepKind::Queue => "A queueing discipline holds the packet back: it shapes, or its queue is full.",
        StepKind::Crossing => {
            "From one device to the next a soft interrupt takes the packet over: it waits for its CPU, or behind others."
        }
        StepKind::Encapsulation | StepKind::Decapsulation => {
            "The tunnel handles each packet in software: headers, checksums, a second route."
        }
        StepKind::Bridge => "The bridge looks up its table, and calls netfilter where br_netfilter is on.",
        StepKind::Forwarding => {
            "The host routes the packet through its netfilter rules and connection tracking."
        }
        StepKind::Send => "The sender's own socket and protocol work, before any device has the packet.",
        StepKind::Program => "It is the program that answers, and not the network.",
        StepKind::Other => "What happens in it has no name here: see between which points it lies.",
    }
}

fn evidence(dominated: &DominantStep<'_>) -> Evidence {
    let DominantStep { cell, way, step, share } = dominated;
    Evidence::new(format!("{} in {}", step.what, cell.id))
        .text("median ")
        .time(step.p50)
        .text(", p99 ")
        .time(step.p99)
        .text(", ")
        .share(share.median)
        .text(" of the round trip; ")
        .text(count(usize::try_from(way.followed).unwrap_or(usize::MAX), "round trip"))
        .text(" followed")
}

fn remedy(step: &StepSummary) -> Remedy {
    let device = step.to.device.as_deref().or(step.from.device.as_deref()).unwrap_or("DEVICE");
    let at = |command: fn(&str) -> String| typed_at(device, command);
    let (action, commands): (&str, Vec<String>) = match step.kind {
        StepKind::Wakeup => (
            "Keep the waiting thread's CPU awake: poll the socket (busy_poll), or forbid deep idle states. Or put both \
             ends' threads where a CPU is awake anyway.",
            vec![
                "sysctl -w net.core.busy_poll=50 net.core.busy_read=50".into(),
                "cpupower idle-set --disable-by-latency 10".into(),
            ],
        ),
        StepKind::Queue => (
            "See what the queueing discipline holds, and replace a shaper or a long queue that is not wanted.",
            vec![at(|device| format!("tc -s qdisc show dev {device}"))],
        ),
        StepKind::Crossing => (
            "See which CPU takes the packets over, and whether it is busy: steer them to one that is not.",
            vec![
                "cat /proc/softirqs".into(),
                at(|device| format!("cat /sys/class/net/{device}/queues/rx-0/rps_cpus")),
            ],
        ),
        StepKind::Encapsulation | StepKind::Decapsulation => (
            "Check the tunnel's checksums and offloads. A network card that offloads the tunnel takes the work off the \
             CPU.",
            vec![
                at(|device| format!("ethtool -k {device}")),
                at(|device| format!("ip -d link show {device}")),
            ],
        ),
        StepKind::Bridge => (
            "Keep bridged packets out of netfilter where no rule needs them.",
            vec![
                "sysctl net.bridge.bridge-nf-call-iptables".into(),
                at(|device| format!("bridge -d link show dev {device}")),
            ],
        ),
        StepKind::Forwarding => (
            "Shorten what each packet goes through: rules for established connections first, or a flow table. Leave \
             out connection tracking where nothing needs it.",
            vec!["nft list ruleset".into(), "conntrack -S".into()],
        ),
        StepKind::Send => (
            "Look at the sender's system call: its protocol, socket options, and rules on the way out.",
            vec!["perf trace -s -p PID".into()],
        ),
        StepKind::Program => ("Look at the program that answers.", vec!["perf record -g -p PID".into()]),
        StepKind::Other => (
            "See what stands between the two points: programs of tc or XDP, other devices, other namespaces.",
            vec![at(|device| format!("tc filter show dev {device} ingress")), "bpftool net".into()],
        ),
    };
    Remedy::manual(action.into(), commands)
}
