//! `warm-up-too-short`: the rate settled only after the warm-up, so the value includes a part of the ramp-up.

use stats::{describe, stationarity};
use units::Nanos;
use workload::WorkloadSettings;

use super::prelude::*;
use crate::series;

pub(crate) const RULE: Rule = Rule::measurement("warm-up-too-short", look);

const LEAST: f64 = 0.01;
/// Minimum effect for a warning.
const MUCH: f64 = 0.05;
/// Minimum fraction of trials that settle late. A smaller fraction may be due to chance, or another finding covers it.
const MOST_TRIALS: f64 = 0.5;

struct Late {
    after: Nanos,
    /// Mean rate after that time, relative to the overall mean.
    ratio: f64,
}

struct Slow<'a> {
    result: &'a ResultSummary,
    load: Option<&'a WorkloadSettings>,
    trials: usize,
    late: usize,
    after: Nanos,
    /// The value without the ramp-up, divided by the actual value.
    ratio: f64,
}

fn look(context: &Context<'_>) -> Vec<Claim> {
    let found: Vec<Slow<'_>> =
        context.results().filter_map(|(result, measured)| slow(result, measured)).collect();
    strongest(found, |it| it.ratio.ln().abs(), finding)
}

fn slow<'a>(result: &'a ResultSummary, measured: &Observations<'a>) -> Option<Slow<'a>> {
    let trials: Vec<Option<Late>> = measured
        .trials()
        .map(|trial| {
            let series = series::of_trial(measured, trial);
            late(&series.rates, series.length)
        })
        .collect();
    let late: Vec<&Late> = trials.iter().flatten().collect();
    let ratios: Vec<f64> = trials.iter().map(|late| late.as_ref().map_or(1.0, |late| late.ratio)).collect();
    let ratio = describe::median(&ratios)?;
    let many = late.len() as f64 > MOST_TRIALS * trials.len() as f64;
    (many && (ratio - 1.0).abs() >= LEAST).then_some(())?;
    Some(Slow {
        result,
        load: measured.record.sent.load(),
        trials: trials.len(),
        late: late.len(),
        after: late.iter().map(|late| late.after).max()?,
        ratio,
    })
}

fn late(rates: &[f64], length: Nanos) -> Option<Late> {
    let first = stationarity::settled(rates);
    let (all, rest) = (describe::mean(rates)?, describe::mean(rates.get(first..)?)?);
    (first > 0 && all > 0.0 && rest > 0.0)
        .then(|| Late { after: Nanos(length.0 * first as u64), ratio: rest / all })
}

fn finding(worst: &Slow<'_>, found: &[Slow<'_>]) -> Claim {
    let much = (worst.ratio - 1.0).abs() >= MUCH;
    Claim::new(
        Severity::warning_if(much),
        phrase![
            format!("In {} of ", of_trials(worst)),
            worst.result,
            " the rate settled up to ",
            worst.after,
            " after ",
            if cut(worst).is_some() { "the warm-up" } else { "the start, with no warm-up" },
        ],
    )
    .detail(phrase![
        value(worst.result.metric, worst.result.value.estimate),
        " including that phase, ",
        value(worst.result.metric, worst.result.value.estimate * worst.ratio),
        " without it",
    ])
    .about(found, |slow| slow.result)
    .affected()
    .with_evidence(found.iter().map(evidence))
    .with_limits([
        "An early drop, e.g. when burst credit is used up, looks the same; short transfers \
             then get the initial rate.",
        "A start that takes most of the trial is reported as `trend` or `unsteady`.",
    ])
    .with_remedy(remedy(found))
}

fn of_trials(slow: &Slow<'_>) -> String {
    match (slow.late, slow.trials) {
        (1, 1) => "the only trial".into(),
        (late, all) if late == all => format!("each of {}", count(all, "trial")),
        (late, all) => format!("{late} of {}", count(all, "trial")),
    }
}

fn evidence(slow: &Slow<'_>) -> Evidence {
    let change = slow.ratio - 1.0;
    let more = if change < 0.0 { "less" } else { "more" };
    Evidence::new(&slow.result.label)
        .text("settles after ")
        .time(slow.after)
        .text(format!(" in {}; without it ", of_trials(slow)))
        .share(change.abs())
        .text(format!(" {more}"))
}

/// Returns the configured warm-up, or `None` if there is none, as in other tools' logs.
fn cut(slow: &Slow<'_>) -> Option<Nanos> {
    let warmup = slow.load?.kind().warmup();
    (warmup.0 > 0).then_some(warmup)
}

fn remedy(found: &[Slow<'_>]) -> Remedy {
    let needed = |slow: &Slow<'_>| Nanos(slow.after.0 + cut(slow).map_or(0, |cut| cut.0));
    let most = found.iter().map(needed).max().unwrap_or_default();
    let seconds = most.seconds().ceil();
    if found.iter().all(|slow| slow.load.is_none()) {
        return Remedy::manual(
            format!("Omit at least {most} at the start and measure again"),
            vec![format!("iperf3 --client HOST --omit {seconds}")],
        );
    }
    Remedy::manual(
        format!("Set the workload's `warmup` to {most} or more and measure again"),
        vec![format!("warmup = \"{}ms\"", most.0.div_ceil(1_000_000))],
    )
}

#[cfg(test)]
pub(super) mod tests {
    use findings::Severity;

    use crate::rules::tests::{Case, made};

    pub(in crate::rules) const CASE: Case = Case {
        triggers: || made::beginning(&[1e9, 3e9, 6e9]),
        spares: || made::beginning(&[8.5e9, 8.6e9, 8.7e9]),
        severity: Severity::Warning,
        says: &[
            "each of 6 trials of plain",
            "up to 750 ms after the warm-up",
            "8.15 Gbit/s including that phase, 9.00 Gbit/s without it",
            "warmup = ",
            "1000ms",
        ],
        change: None,
    };
}
