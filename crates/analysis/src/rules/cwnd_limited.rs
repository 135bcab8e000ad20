//! `cwnd-limited`: the congestion window, not the path, limits the rate.

use findings::{StreamSummary, TcpSummary};
use samples::Trial;
use stats::describe;
use units::Nanos;
use workload::{Flow, Interval, TcpSample};

use super::{
    buffer_limited::MUCH,
    prelude::*,
    significance::{self, Above},
};
use crate::{commands::Commands, kind::stream::flows};

pub(crate) const RULE: Rule = Rule::cause("cwnd-limited", look);

/// The window is full if at least this fraction of it is in flight.
const FULL: f64 = 0.8;
/// If the round trip exceeds this multiple of its minimum, a queue on the path is the bottleneck.
const QUEUED: f64 = 2.0;
const MOST_STREAMS: u32 = 128;

struct Full<'a> {
    result: &'a ResultSummary,
    measured: &'a Observations<'a>,
    tcp: TcpSummary,
    fill: Above,
    queued: Option<f64>,
}

fn look(context: &Context<'_>) -> Vec<Claim> {
    let mut found: Vec<Full<'_>> =
        context.results().filter_map(|(result, measured)| full(result, measured)).collect();
    found.sort_by(|one, other| {
        is_sure(other).cmp(&is_sure(one)).then(other.fill.estimate.total_cmp(&one.fill.estimate))
    });
    found.first().map(|worst| finding(worst, &found, &context.commands())).into_iter().collect()
}

fn full<'a>(result: &'a ResultSummary, measured: &'a Observations<'a>) -> Option<Full<'a>> {
    let tcp = StreamSummary::of(result)?.tcp?;
    let paced = measured.asked().is_some_and(|load| load.rate.is_some());
    let is_much = |share: Option<f64>| share.is_some_and(|share| share >= MUCH);
    if paced || is_much(tcp.receive_window_limited) || is_much(tcp.send_buffer_limited) {
        return None;
    }
    let median_of = |of: fn(&Interval, &TcpSample) -> Option<f64>| -> Vec<f64> {
        measured.trials().filter_map(|trial| over_intervals(trial, of)).collect()
    };
    let fill = significance::above(&median_of(under_way), FULL)?;
    let queued = describe::median(&median_of(|_, tcp| Some(tcp.rtt.0 as f64 / known(tcp.least_rtt?)?)));
    let path_is_full = queued.is_some_and(|times| times > QUEUED);
    (!path_is_full).then_some(Full { result, measured, tcp, fill, queued })
}

/// Bytes in flight, by Little's law, as a fraction of the window.
fn under_way(interval: &Interval, tcp: &TcpSample) -> Option<f64> {
    (tcp.cwnd.0 > 0 && tcp.rtt.0 > 0).then(|| interval.rate().0 / 8.0 * tcp.rtt.seconds() / tcp.cwnd.0 as f64)
}

fn known(time: Nanos) -> Option<f64> {
    (time.0 > 0).then_some(time.0 as f64)
}

fn over_intervals(trial: &Trial, of: fn(&Interval, &TcpSample) -> Option<f64>) -> Option<f64> {
    let intervals = flows(trial).iter().flat_map(|flow: &Flow| flow.sender.measured());
    describe::median(&intervals.filter_map(|interval| of(interval, &interval.tcp?)).collect::<Vec<_>>())
}

fn is_sure(full: &Full<'_>) -> bool {
    full.fill.sure && full.queued.is_some()
}

fn finding(worst: &Full<'_>, found: &[Full<'_>], commands: &Commands<'_>) -> Claim {
    let others = match found.len() {
        1 => Phrase::default(),
        results => phrase![" (", count(results, "result"), " in total)"],
    };
    let mut limitations = vec![
        "Data in flight is estimated as rate times smoothed round trip; both are sampled, so a share near the \
         threshold means little.",
    ];
    if worst.queued.is_none() {
        limitations.push(
            "The minimum round trip is unknown. If a full queue on the path causes the long round trip, the path is \
             the bottleneck and the window only follows it.",
        );
    }
    Claim::new(Severity::warning_if(is_sure(worst)), phrase!["The congestion window limits ", worst.result])
        .detail(phrase![
            percent(worst.fill.estimate.min(1.0)),
            " of it is always in flight, and no queue on the path is full",
            others,
        ])
        .about(found, |full| full.result)
        .with_evidence(found.iter().map(evidence))
        .with_limits(limitations)
        .with_remedy(remedy(worst, commands))
}

fn evidence(full: &Full<'_>) -> Evidence {
    let window = full.tcp.cwnd.map_or("unknown".into(), |(least, most)| format!("{least} to {most}"));
    let rtt = full.tcp.rtt.map_or("unknown".into(), |rtt| rtt.to_string());
    let times = full.queued.map_or("minimum unknown".into(), |times| {
        format!("{} times the minimum", units::significant(times, 3))
    });
    Evidence::new(format!("window of {}", full.result.label))
        .text(format!("{window}, "))
        .share(full.fill.estimate)
        .text(format!(" of it in flight; round trip {rtt}, {times}; "))
        .count(full.tcp.retransmits)
        .text(" retransmitted segments")
}

fn remedy(worst: &Full<'_>, commands: &Commands<'_>) -> Remedy {
    if worst.tcp.retransmits > 0 {
        let action = "Find the drops first (`retransmits`): each loss shrinks the window";
        return Remedy {
            change: Some(Change::Congestion { name: "bbr".into() }),
            ..Remedy::manual(action, commands.again("--try-remedies", "-C bbr"))
                .explained("Or use a congestion control that does not treat every loss as congestion.")
        };
    }
    let streams = worst
        .measured
        .asked()
        .map(|load| load.streams.saturating_mul(2))
        .filter(|streams| *streams <= MOST_STREAMS);
    Remedy {
        change: streams.map(|streams| Change::Streams { streams }),
        ..Remedy::manual(
            "Run longer tests, start with a larger window, or use more connections",
            commands.again("--try-remedies", "-P 4"),
        )
        .explained("Nothing was lost, so the window was still growing or is capped.")
    }
}

#[cfg(test)]
pub(super) mod tests {
    use findings::Severity;

    use crate::rules::tests::{Case, made};

    pub(in crate::rules) const CASE: Case = Case {
        triggers: || made::windowed(900, 1_200_000),
        spares: || made::windowed(100, 1_200_000),
        severity: Severity::Warning,
        says: &["93.", "1.11 times the minimum", "no queue on the path is full"],
        change: Some("streams"),
    };
}
