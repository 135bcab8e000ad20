//! `stalled`: no data arrived for several intervals. Either the data paused, or soon after its start a connection only
//! retransmitted, e.g. because the path drops full-size packets.

use units::Nanos;
use workload::{Flow, Interval};

use super::prelude::*;
use crate::{
    kind::stream::{flows, is_granular},
    series,
    steadiness::{self, Stationarity},
};

pub(crate) const RULE: Rule =
    Rule::cause("stalled", look).over(&["retransmits", "datagram-loss", "below-expected"]);

/// Fewer intervals without data may be the end of a test.
const FEWEST: usize = 3;
/// Data must have stopped within this initial fraction of the trial.
const SOON: f64 = 0.3;
const MOST_PAUSES: usize = 6;

#[derive(Clone, Copy)]
pub(crate) struct Stall {
    pub(crate) carried: Nanos,
    pub(crate) still: Nanos,
    pub(crate) retransmits: u64,
}

fn look(context: &Context<'_>) -> Vec<Claim> {
    let found: Vec<(&ResultSummary, &Observations<'_>, Stall)> = context
        .results()
        .filter_map(|(result, measured)| {
            Some((result, measured, measured.trials().find_map(|trial| stall(flows(trial)))?))
        })
        .collect();
    let stopped = |result: &ResultSummary| found.iter().any(|(other, ..)| other.id == result.id);
    let mut pauses: Vec<Pause<'_>> = context
        .results()
        .filter(|(result, _)| !stopped(result))
        .flat_map(|(result, measured)| pauses(result, measured))
        .collect();
    pauses.sort_by_key(|pause| std::cmp::Reverse(pause.lasted));
    let stop = found.first().map(|first| finding(first, &found, context));
    stop.into_iter().chain(pauses.first().map(|longest| paused(longest, &pauses))).collect()
}

struct Pause<'a> {
    result: &'a ResultSummary,
    trial: u32,
    /// Time since the end of the warm-up.
    after: Nanos,
    lasted: Nanos,
}

fn pauses<'a>(result: &'a ResultSummary, measured: &Observations<'_>) -> Vec<Pause<'a>> {
    let of_trial = |trial: &samples::Trial| {
        let series = series::of_trial(measured, trial);
        let stalls = match steadiness::stationarity(&series) {
            Stationarity::Stall(stalls) if !is_granular(measured, &series) => stalls,
            _ => Vec::new(),
        };
        let time = |intervals: usize| Nanos(series.length.0 * intervals as u64);
        let pause = |stall: &std::ops::Range<usize>| Pause {
            result,
            trial: trial.index,
            after: time(stall.start),
            lasted: time(stall.len()),
        };
        stalls.iter().map(pause).collect::<Vec<_>>()
    };
    measured.trials().flat_map(of_trial).collect()
}

fn paused(longest: &Pause<'_>, all: &[Pause<'_>]) -> Claim {
    let evidence = |pause: &Pause<'_>| {
        let place = format!("trial {} of {}", pause.trial.saturating_add(1), pause.result.label);
        Evidence::new(place).text(format!("no data for {} after {}", pause.lasted, pause.after))
    };
    let others = match all.len() {
        1 => String::new(),
        several => format!("There were {several} such pauses."),
    };
    let lead = phrase![
        "No data arrived for ",
        longest.lasted,
        format!(" in trial {} of ", longest.trial.saturating_add(1)),
        longest.result,
    ];
    Claim::new(Severity::Warning, lead)
        .detail(phrase!["from ", longest.after, " into the measurement"])
        .further("The average of the trial is lower than the rate at other times.")
        .further(others)
        .about(all, |pause| pause.result)
        .with_evidence(all.iter().take(MOST_PAUSES).map(evidence))
        .with_limits(["A suspended sender or receiver looks the same as a failed path."])
        .with_remedy(
            Remedy::manual(
                "Check what happened at that time",
                ["ip monitor link route neigh", "ss -tinoe", "dmesg --ctime --level warn,err"]
                    .map(str::to_owned)
                    .into(),
            )
            .explained(
                "A link may have gone down, a route or bridge port may have changed, or retransmission timeouts may \
                 have expired.",
            ),
        )
}

pub(crate) fn stall(flows: &[Flow]) -> Option<Stall> {
    let stalls: Vec<Stall> =
        flows.iter().map(|flow| of_series(&flow.sender.intervals)).collect::<Option<_>>()?;
    stalls.into_iter().max_by_key(|stall| stall.still)
}

fn of_series(intervals: &[Interval]) -> Option<Stall> {
    let last = intervals.iter().rposition(|interval| interval.bytes.0 > 0)?;
    let silent = &intervals[last + 1..];
    let (start, stop, end) = (intervals.first()?.start, intervals[last].end, silent.last()?.end);
    let retransmits =
        silent.iter().filter_map(|interval| interval.tcp).map(|tcp| u64::from(tcp.retransmits)).sum();
    let is_soon = (stop - start).seconds() <= SOON * (end - start).seconds();
    (silent.len() >= FEWEST && is_soon && retransmits > 0).then_some(Stall {
        carried: stop - start,
        still: end - stop,
        retransmits,
    })
}

fn finding(
    (result, measured, stall): &(&ResultSummary, &Observations<'_>, Stall),
    found: &[(&ResultSummary, &Observations<'_>, Stall)],
    context: &Context<'_>,
) -> Claim {
    let others: Vec<&str> = found.iter().skip(1).map(|(result, ..)| result.label.as_str()).collect();
    let others = if others.is_empty() { String::new() } else { format!("So did {}.", list(&others)) };
    let path = context.header.paths.iter().find(|path| path.name == measured.record.path);
    // The name may come from an imported log, and users may paste the command into a shell.
    let is_safe = |byte: u8| byte.is_ascii_alphanumeric() || b".:-_%".contains(&byte);
    let is_address = |to: &&str| to.contains(['.', ':']) && !to.starts_with('-') && to.bytes().all(is_safe);
    let server = path.map(|path| path.to.as_str()).filter(is_address).unwrap_or("SERVER");
    let evidence = |(result, _, stall): &(&ResultSummary, &Observations<'_>, Stall)| {
        let retransmits = count(stall.retransmits as usize, "retransmit");
        Evidence::new(&result.label)
            .text(format!("data for {}, then none for {} with {retransmits}", stall.carried, stall.still))
    };
    Claim::new(Severity::Serious, phrase![*result, " stopped after ", stall.carried])
        .detail(phrase!["no data in the remaining ", stall.still, ", only retransmits"])
        .further(
            "The path probably loses full-size packets: its MTU is smaller than the \
             sender assumes.",
        )
        .further(others)
        .about(found, |(result, ..)| result)
        .with_evidence(found.iter().map(evidence))
        .with_limits(["A receiver that stops reading looks the same as a path that fails."])
        .with_remedy(
            Remedy::manual(
                "Find the MTU of the path",
                vec![format!("tracepath -n {server}"), format!("ping -M do -s 1472 {server}")],
            )
            .explained(
                "If replies stop above a size, lower the MTU of the devices or let ICMP \
             \"fragmentation needed\" pass.",
            ),
        )
}

#[cfg(test)]
pub(super) mod tests {
    use findings::Severity;

    use crate::rules::tests::{Case, made};

    pub(in crate::rules) const CASE: Case = Case {
        triggers: || made::stalled(0),
        spares: || made::stalled(3),
        severity: Severity::Serious,
        says: &["vxlan-to-vxlan stopped after", "only retransmits", "ping -M do -s 1472"],
        change: None,
    };
}
