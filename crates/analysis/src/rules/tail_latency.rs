//! `tail-latency`: a few messages take far longer than usual.

use findings::{Distribution, LatencySummary};
use samples::Trial;
use stats::ratio;
use units::Nanos;
use workload::{LatencyHistogram, PingPongData, ReportedValue};

use super::{
    prelude::*,
    significance::{self, Above},
};
use crate::{commands::Commands, compare::CONFIDENCE, kind::ping_pong::ping_pong, words::number};

pub(crate) const RULE: Rule = Rule::symptom("tail-latency", look);

/// Beyond this multiple of the median, the tail is always a problem.
const FAR: f64 = 5.0;
/// Minimum growth of the tail relative to the median's growth, both compared with the baseline.
const WORSE: f64 = 1.5;
/// A tail below this multiple of the median does not matter, even if the baseline's is shorter.
const RELEVANT: f64 = 2.0;
/// With fewer messages, the slowest thousandth contains fewer than ten.
const FEWEST: u64 = 10_000;
const TAIL: f64 = 0.999;
/// One hour in nanoseconds. Larger values in tables are not latencies.
const LONGEST: f64 = 3600e9;

struct Tail<'a> {
    result: &'a ResultSummary,
    median: Nanos,
    tail: Nanos,
    times: f64,
    sure: bool,
    against: Option<Growth>,
}

struct Growth {
    tail: stats::Interval,
    median: f64,
}

fn look(context: &Context<'_>) -> Vec<Claim> {
    let mut found: Vec<Tail<'_>> = context
        .results()
        .filter_map(|(result, measured)| recorded(result, measured, context).or_else(|| reported(result)))
        .collect();
    found.sort_by(|one, other| other.sure.cmp(&one.sure).then(other.times.total_cmp(&one.times)));
    found.first().map(|worst| finding(worst, &found, &context.commands())).into_iter().collect()
}

fn recorded<'a>(
    result: &'a ResultSummary,
    measured: &Observations<'_>,
    context: &Context<'_>,
) -> Option<Tail<'a>> {
    let trials: Vec<&LatencyHistogram> = measured.trials().filter_map(times).collect();
    if trials.iter().map(|times| times.count()).sum::<u64>() < FEWEST {
        return None;
    }
    let latency = LatencySummary::of(result)?;
    let all = merged(latency);
    let (median, tail) = (all.at(0.5)?, all.at(TAIL)?);
    let times = tail.0 as f64 / median.0.max(1) as f64;
    let far: Vec<f64> = trials
        .iter()
        .filter_map(|trial| share(trial, TAIL).zip(share(trial, 0.5)))
        .map(|(t, m)| t / m)
        .collect();
    let above: Option<Above> = significance::above(&far, FAR);
    let against = growth(measured, context).filter(|_| times >= RELEVANT);
    (above.is_some() || against.is_some()).then(|| Tail {
        result,
        median,
        tail,
        times,
        sure: above.is_some_and(|above| above.sure) || against.is_some(),
        against,
    })
}

fn merged(latency: &LatencySummary) -> &Distribution {
    latency.open_loop.as_ref().map_or(&latency.round_trips, |open| &open.since_intended)
}

/// In an open loop, a time starts when the message was due, so that a stall counts for every message that it delays.
fn times(trial: &Trial) -> Option<&LatencyHistogram> {
    ping_pong(trial).map(PingPongData::judged)
}

fn share(times: &LatencyHistogram, share: f64) -> Option<f64> {
    times.quantile(share).map(|time| time.0 as f64).filter(|time| *time > 0.0)
}

/// Returns how much more the tail grew than the median, compared within blocks. Returns `None` for the baseline itself,
/// or if the growth is not significant.
fn growth(measured: &Observations<'_>, context: &Context<'_>) -> Option<Growth> {
    let record = measured.record;
    let baseline = context
        .measured
        .iter()
        .find(|result| result.record.baseline && result.record.workload == record.workload)?;
    if record.baseline {
        return None;
    }
    let of = |at: f64| -> Option<stats::Estimate> {
        let both =
            measured.points.iter().filter_map(|(block, point)| Some((baseline.points.get(block)?, point)));
        let pairs = both.filter_map(|(there, here)| {
            Some((share(times(there.trial)?, at)?, share(times(here.trial)?, at)?))
        });
        ratio::paired_ratio(&pairs.collect::<Vec<_>>(), CONFIDENCE)
    };
    let (median, tail) = (of(0.5)?.value, of(TAIL)?.interval?);
    (stats::verdict::is_sure(tail.confidence) && tail.low > WORSE * median.max(1.0))
        .then_some(Growth { tail, median })
}

/// The number of messages is unknown.
fn reported(result: &ResultSummary) -> Option<Tail<'_>> {
    let of = |wanted: f64| {
        let is_it = |value: &&ReportedValue| value.percentile().is_some_and(|at| (at - wanted).abs() < 1e-6);
        result
            .reported
            .iter()
            .find(is_it)
            .map(|value| value.value)
            .filter(|time| (1.0..LONGEST).contains(time))
    };
    let (median, tail) = (of(50.0)?, of(99.9)?);
    let nanos = |value: f64| Nanos(value.round() as u64);
    (tail >= FAR * median).then(|| Tail {
        result,
        median: nanos(median),
        tail: nanos(tail),
        times: tail / median,
        sure: false,
        against: None,
    })
}

fn finding(worst: &Tail<'_>, found: &[Tail<'_>], commands: &Commands<'_>) -> Claim {
    let times = |ratio: f64, word: &str| number(ratio, 3, Unit::Ratio, word);
    let grown = worst.against.as_ref().map(|growth| {
        phrase![
            "Compared with the baseline, the tail is ",
            times(growth.tail.low, ""),
            " to ",
            times(growth.tail.high, " times"),
            " as long, the median only ",
            times(growth.median, " times"),
            ".",
        ]
    });
    Claim::new(
        Severity::warning_if(worst.sure),
        phrase![
            "The p99.9 of ",
            worst.result,
            " is ",
            worst.tail,
            ", ",
            times(worst.times, "x"),
            " the median of ",
            worst.median,
        ],
    )
    .further(grown.unwrap_or_default())
    .about(found, |tail| tail.result)
    .affected()
    .with_evidence(found.iter().map(evidence))
    .with_limits(limitations(worst))
    .with_remedy(remedy(commands))
}

fn evidence(tail: &Tail<'_>) -> Evidence {
    let most = Evidence::new(format!("99.9 % of the messages of {}", tail.result.label))
        .text("within ")
        .time(tail.tail)
        .text(", half of them within ")
        .time(tail.median);
    match LatencySummary::of(tail.result) {
        Some(latency) => most.text(", the longest ").time(merged(latency).max),
        None => most,
    }
}

fn limitations(worst: &Tail<'_>) -> Vec<String> {
    let closed = "In a closed loop, a stall delays only one message, although it would delay all messages \
                  of an application; an \
         open loop shows the full effect.";
    let bare = "The percentiles were reported without the number of messages.";
    let bare = (!worst.sure && LatencySummary::of(worst.result).is_none()).then_some(bare);
    [closed].into_iter().chain(bare).map(str::to_owned).collect()
}

fn remedy(commands: &Commands<'_>) -> Remedy {
    let mut look = commands.probed("");
    look.extend([
        "perf sched record -- sleep 10 && perf sched timehist".into(),
        "cat /proc/interrupts".into(),
    ]);
    Remedy::manual("Find out what stalls the path for that long", look).explained(
        "Possible causes: a queue filled by a concurrent stream (compare without it), a \
             CPU in a deep idle state, interrupts or other work on the CPUs of the ends, \
             retransmission timers.",
    )
}

#[cfg(test)]
pub(super) mod tests {
    use findings::Severity;

    use crate::rules::tests::{Case, made};

    pub(in crate::rules) const CASE: Case = Case {
        triggers: || made::tailed(8),
        spares: || made::tailed(3),
        severity: Severity::Warning,
        says: &["is 320 µs", "x the median of 41.0 µs", "open loop"],
        change: None,
    };
}
