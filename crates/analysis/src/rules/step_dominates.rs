//! `step-dominates`: one step of a message's path takes more than a third of the round trip.

use findings::{LatencyBreakdown, Leg, StepKind, StepSummary};

use super::{
    ethtool::typed_at,
    prelude::*,
    significance::{self, Above},
};

pub(crate) const RULE: Rule = Rule::cause("step-dominates", look);

const MUCH: f64 = 1.0 / 3.0;

struct DominantStep<'a> {
    result: &'a ResultSummary,
    latency_breakdown: &'a LatencyBreakdown,
    step: &'a StepSummary,
    /// Whether the interval of the share is above [`MUCH`].
    sure: bool,
}

/// Makes one finding per dominant step, about the result in which the step takes longest. The wake-ups at both ends
/// count as one step.
fn look(context: &Context<'_>) -> Vec<Claim> {
    let mut found: Vec<DominantStep<'_>> = context.findings.results.iter().flat_map(dominated).collect();
    sort_descending(&mut found, |one| one.step.share);
    let mut named: Vec<&str> = Vec::new();
    let mut claims = Vec::new();
    for worst in &found {
        if named.contains(&subject(worst.step)) {
            continue;
        }
        named.push(subject(worst.step));
        let alike: Vec<&DominantStep<'_>> =
            found.iter().filter(|other| subject(other.step) == subject(worst.step)).collect();
        claims.push(finding(worst, &alike));
    }
    claims
}

fn subject(step: &StepSummary) -> &str {
    if step.kind == StepKind::Wakeup { "wake-up" } else { &step.label }
}

fn dominated(result: &ResultSummary) -> Vec<DominantStep<'_>> {
    let Some(latency_breakdown) =
        result.latency_breakdown().filter(|latency_breakdown| latency_breakdown.steps.len() > 2)
    else {
        return Vec::new();
    };
    let large = latency_breakdown.steps.iter().filter(|step| step.share > MUCH);
    let found = large.filter_map(|step| {
        let Above { sure, .. } = significance::above(&step.by_trial, MUCH)?;
        Some(DominantStep { result, latency_breakdown, step, sure })
    });
    found.collect()
}

fn finding(worst: &DominantStep<'_>, alike: &[&DominantStep<'_>]) -> Claim {
    let DominantStep { result, step, sure, .. } = worst;
    let alternatives: Vec<String> = alike
        .iter()
        .filter(|other| other.result.id == result.id && other.step.start.total_cmp(&step.start).is_ne())
        .map(|other| format!("Next: {}, {}.", other.step.label, percent(other.step.share)))
        .collect();
    // Wake-ups are caused by idle CPUs, not by the path.
    let is_fault = step.kind != StepKind::Wakeup;
    Claim::new(
        Severity::warning_if(*sure && is_fault),
        phrase!["One step takes ", percent(step.share), " of the round trip of ", *result],
    )
    .detail(phrase![format!("{} (", step.label), place(step), ")"])
    .further(meaning(step))
    .further(alternatives.join(" "))
    .about(alike, |alike| alike.result)
    .affected()
    .with_evidence(alike.iter().map(|dominated| evidence(dominated)))
    .with_limits([
        "Only messages followed by a probe are counted, in trials slowed down by the probe: see the \
             cost of the probes.",
        "Median step times are compared with the median round trip; a step that is slow only occasionally \
         shows only in its 99th percentile.",
    ])
    .with_remedy(remedy(step))
}

/// `from app:eth0 to node1:veth-app`, if the devices are known.
fn place(step: &StepSummary) -> Phrase {
    let latency_breakdown = match step.leg {
        Leg::There => "request",
        Leg::Server => "at the server",
        Leg::Back => "reply",
    };
    let place = match (&step.from.device, &step.to.device) {
        (Some(from), Some(to)) if from == to => phrase!["at ", Phrase::device(from)],
        (Some(from), Some(to)) => phrase!["from ", Phrase::device(from), " to ", Phrase::device(to)],
        (Some(from), None) => phrase!["from ", Phrase::device(from)],
        (None, Some(to)) => phrase!["down to ", Phrase::device(to)],
        (None, None) => return latency_breakdown.into(),
    };
    phrase![place, ", ", latency_breakdown]
}

const fn meaning(step: &StepSummary) -> &'static str {
    match step.kind {
        StepKind::Wakeup => {
            "The socket has the packet, but the waiting thread has yet to run: its CPU is waking from idle or busy \
             with other work."
        }
        StepKind::Queue => "A queueing discipline delays the packet: it is shaping, or its queue is full.",
        StepKind::Crossing => {
            "A softirq takes the packet from one device to the next, after waiting for the CPU or for other packets."
        }
        StepKind::Encapsulation | StepKind::Decapsulation => {
            "The tunnel processes each packet in software: headers, checksums, a second route lookup."
        }
        StepKind::Bridge => "The bridge does its lookup, and calls netfilter if br_netfilter is enabled.",
        StepKind::Forwarding => "The host routes the packet through netfilter rules and connection tracking.",
        StepKind::Send => "Socket and protocol processing at the sender, before the packet reaches a device.",
        StepKind::Program => "This is the responding program, not the network.",
        StepKind::Other => "This step is not classified: see the points between which it occurs.",
    }
}

fn evidence(dominated: &DominantStep<'_>) -> Evidence {
    let DominantStep { result, latency_breakdown, step, .. } = dominated;
    Evidence::new(format!("{} in {}", step.label, result.label))
        .text("median ")
        .time(step.p50)
        .text(", p99 ")
        .time(step.p99)
        .text(", ")
        .share(step.share)
        .text(" of the round trip; ")
        .text(count(latency_breakdown.followed, "round trip"))
        .text(" followed")
}

fn remedy(step: &StepSummary) -> Remedy {
    let device = step.to.device.as_deref().or(step.from.device.as_deref()).unwrap_or("DEVICE");
    let at = |command: fn(&str) -> String| typed_at(device, command);
    let (action, explanation, commands): (&str, &str, Vec<String>) = match step.kind {
        StepKind::Wakeup => (
            "Prevent the waiting thread's CPU from sleeping: poll the socket (busy_poll) or disable deep idle \
             states",
            "Or place both threads on CPUs that are busy anyway.",
            vec![
                "sysctl -w net.core.busy_poll=50 net.core.busy_read=50".into(),
                "cpupower idle-set --disable-by-latency 10".into(),
            ],
        ),
        StepKind::Queue => (
            "Check the queueing discipline's backlog, and replace an unwanted shaper or long queue",
            "",
            vec![at(|device| format!("tc -s qdisc show dev {device}"))],
        ),
        StepKind::Crossing => (
            "Find out which CPU processes the packets and whether it is busy; steer them to an idle one",
            "",
            vec![
                "cat /proc/softirqs".into(),
                at(|device| format!("cat /sys/class/net/{device}/queues/rx-0/rps_cpus")),
            ],
        ),
        StepKind::Encapsulation | StepKind::Decapsulation => (
            "Check the tunnel's checksums and offloads",
            "A NIC with tunnel offload relieves the CPU.",
            vec![
                at(|device| format!("ethtool -k {device}")),
                at(|device| format!("ip -d link show {device}")),
            ],
        ),
        StepKind::Bridge => (
            "Bypass netfilter for bridged packets unless a rule needs it",
            "",
            vec![
                "sysctl net.bridge.bridge-nf-call-iptables".into(),
                at(|device| format!("bridge -d link show dev {device}")),
            ],
        ),
        StepKind::Forwarding => (
            "Shorten the rule path: match established connections first, or use a flow table",
            "Disable connection tracking if it is not needed.",
            vec!["nft list ruleset".into(), "conntrack -S".into()],
        ),
        StepKind::Send => (
            "Check the sender's system call: protocol, socket options and output rules",
            "",
            vec!["perf trace -s -p PID".into()],
        ),
        StepKind::Program => ("Profile the responding program", "", vec!["perf record -g -p PID".into()]),
        StepKind::Other => (
            "Check the path between the two points: tc or XDP programs, other devices, other namespaces",
            "",
            vec![at(|device| format!("tc filter show dev {device} ingress")), "bpftool net".into()],
        ),
    };
    Remedy::manual(action, commands).explained(explanation)
}

#[cfg(test)]
pub(super) mod tests {
    use findings::Severity;

    use crate::rules::tests::{Case, watched};

    pub(in crate::rules) const CASE: Case = Case {
        triggers: || watched::tunnelled(8),
        spares: || watched::tunnelled(6),
        severity: Severity::Warning,
        says: &[
            "VXLAN encapsulation (from a:vxlan to a:eth0, request)",
            "600 round trips",
            "ethtool -k eth0",
        ],
        change: None,
    };
}
