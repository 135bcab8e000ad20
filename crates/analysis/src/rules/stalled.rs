//! `stalled`: soon after the start, a connection carried no more data and only retransmitted, e.g. because the path
//! drops full-size packets.

use findings::{Evidence, Remedy, ResultSummary, Severity};
use units::Nanos;
use workload::{Flow, Interval};

use super::{Claim, Context, Rule};
use crate::{
    kind::stream::flows,
    observations::Observations,
    words::{count, list},
};

pub(crate) const RULE: Rule =
    Rule::cause("stalled", look).over(&["retransmits", "datagram-loss", "below-expected"]);

/// Fewer intervals without data may just be the end of a test.
const FEWEST: usize = 3;
/// Fraction of the trial within which data must have stopped.
const SOON: f64 = 0.3;

#[derive(Clone, Copy)]
struct Stall {
    carried: Nanos,
    /// Time without data at the end.
    still: Nanos,
    retransmits: u64,
}

fn look(context: &Context<'_>) -> Vec<Claim> {
    let found: Vec<(&ResultSummary, &Observations<'_>, Stall)> = context
        .results()
        .filter_map(|(result, measured)| {
            Some((result, measured, measured.trials().find_map(|trial| stall(flows(trial)))?))
        })
        .collect();
    found.first().map(|first| finding(first, &found, context)).into_iter().collect()
}

fn stall(flows: &[Flow]) -> Option<Stall> {
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
    let others = if others.is_empty() { String::new() } else { format!(" So did {}.", list(&others)) };
    let path = context.header.paths.iter().find(|path| path.name == measured.record.path);
    // The name may come from an imported log, and the commands are copied into a shell.
    let is_safe = |byte: u8| byte.is_ascii_alphanumeric() || b".:-_%".contains(&byte);
    let is_address = |to: &&str| to.contains(['.', ':']) && !to.starts_with('-') && to.bytes().all(is_safe);
    let server = path.map(|path| path.to.as_str()).filter(is_address).unwrap_or("SERVER");
    let evidence = |(result, _, stall): &(&ResultSummary, &Observations<'_>, Stall)| {
        let retransmits = count(stall.retransmits as usize, "retransmit");
        Evidence::new(&result.label)
            .text(format!("data for {}, then none for {} with {retransmits}", stall.carried, stall.still))
    };
    Claim {
        results: found.iter().map(|(result, ..)| result.id.clone()).collect(),
        evidence: found.iter().map(evidence).collect(),
        limitations: vec!["A receiver that stopped reading or a path that failed looks the same.".into()],
        remedy: Some(
            Remedy::manual(
                "Find the MTU of the path",
                vec![format!("tracepath -n {server}"), format!("ping -M do -s 1472 {server}")],
            )
            .explained(
                "If replies stop above a size, lower the MTU of the devices or let ICMP \
             \"fragmentation needed\" pass.",
            ),
        ),
        ..Claim::new(Severity::Serious, format!("{} stopped after {}", result.label, stall.carried))
            .detail(format!("no data in the remaining {}, only retransmits", stall.still))
            .further(format!(
                "The path probably loses full-size packets: its MTU is smaller than the \
             sender assumes.{others}"
            ))
    }
}
