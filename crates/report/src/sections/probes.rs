//! The cost of the probes, the events that they lost, and probes that could not run.

use findings::{FailedProbe, Interval, ProbeCost, ResultSummary};
use samples::ProbeKind;
use units::Confidence;

use super::Source;
use crate::{page::*, phrases, quantity::Scale};

const WHY: &str = "Probed trials are separate: they provide probe data, never results.";

pub(super) fn build(source: &Source<'_>) -> Option<Section> {
    let findings = source.findings;
    let probes = &findings.probes;
    let mut items: Vec<Text> = probes.costs.iter().map(cost).collect();
    items.extend(findings.results.iter().flat_map(overflowed));
    items.extend(probes.missing.iter().map(|missing| {
        Text::doubtful(format!("{} did not run", in_words(missing.probe)))
            .and_plain(format!(": {}", missing.reason))
    }));
    items.extend(probes.failed.iter().map(failed));
    if items.is_empty() {
        return None;
    }
    let mut blocks = Vec::new();
    if !probes.used.is_empty() {
        let ran: Vec<&str> = probes.used.iter().map(|probe| in_words(*probe)).collect();
        blocks.push(Block::Paragraph(format!("Ran together: {}. {WHY}", ran.join(", ")).into()));
    }
    blocks.push(Block::List(items));
    Some(section("Probe cost", blocks))
}

fn failed(failed: &FailedProbe) -> Text {
    // Trials are numbered from one in all output.
    let first = failed.first_trial.saturating_add(1);
    let lacking = match (failed.trials, failed.later_trials) {
        (trials, 0) => phrases::count(trials, "probed trial") + ", from that one on,",
        (trials, _) => phrases::count(trials, "probed trial"),
    };
    let lack = if failed.trials == 1 { "lacks" } else { "lack" };
    Text::doubtful(format!("{} failed in trial {first}", in_words(failed.probe)))
        .and_plain(format!(": {}; {lacking} {lack} it", failed.reason))
}

fn cost(cost: &ProbeCost) -> Text {
    let of = cost.metric.share();
    let pairs = phrases::count_of(cost.pairs, "pair of trials", "pairs of trials");
    let cpu = cost.cpu.map(|cpu| format!("; {} CPU time for the same work", more(cpu.cost, cpu.interval)));
    let is_noise = cost.interval.is_none_or(|interval| interval.low <= 0.0 && interval.high >= 0.0);
    let none = if is_noise { ", possibly none" } else { "" };
    Text::from(format!("{}: ", cost.workload))
        .and_strong(format!("probe cost {}", share(cost.cost, cost.interval)))
        .and_plain(format!(" {of}{none}; {pairs}{}", cpu.unwrap_or_default()))
}

fn share(value: f64, interval: Option<Interval>) -> String {
    let scale = Scale::percent(value);
    let range = interval.map_or_else(
        || "(no interval)".to_owned(),
        |interval| format!("({}, {})", scale.range(&interval), Confidence(interval.confidence)),
    );
    glued(&format!("{} {range}", scale.quantity(value)))
}

fn more(value: f64, interval: Option<Interval>) -> String {
    if value < 0.0 {
        let turned = interval.map(|it| Interval { low: -it.high, high: -it.low, ..it });
        format!("{} less", share(-value, turned))
    } else {
        format!("{} more", share(value, interval))
    }
}

fn overflowed(result: &ResultSummary) -> Vec<Text> {
    let overflowed = result.probed.iter().flat_map(|probed| &probed.overflowed);
    let phrase = overflowed.filter(|overflow| overflow.events > 0).map(|overflow| {
        let events = phrases::count(overflow.events, "event");
        Text::doubtful(format!("{}: ", result.label)).and_plain(format!(
            "{} ran out of space for {events}, which are missing from its tables",
            in_words(overflow.probe)
        ))
    });
    phrase.collect()
}

const fn in_words(probe: ProbeKind) -> &'static str {
    match probe {
        ProbeKind::Cpu => "CPU attribution",
        ProbeKind::Syscalls => "system calls",
        ProbeKind::PacketWay => "packet path",
    }
}
