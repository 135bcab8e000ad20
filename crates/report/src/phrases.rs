//! Phrases for estimates and comparisons, including their intervals and confidence.

mod change;
mod gain;
mod traffic;
mod warning;

use findings::{
    Basis, Comparison, Difference, Estimate, Interval, ResultSummary, RunSummary, SEVERAL, WorkCost,
};
use samples::{RunState, UnixMillis};
use workload::Metric;

pub(crate) use self::{
    change::change,
    gain::{gain, gain_alone},
    traffic::{lost, lost_messages, middle_and_tail, retransmits, window},
    warning::{HALVES, warning},
};
use crate::{
    quantity::Scale,
    text::{Text, Tone, glued},
};

/// Below this floor, the hidden increase and decrease agree to two digits.
const ALIKE: f64 = 0.05;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Confidence {
    Inline,
    InHead,
    Nowhere,
}

pub(crate) const WITHIN: &str = "*";

/// Maximum number of findings in the short view, or of hints plus warnings.
pub(crate) const MOST_ADVICE: usize = 2;

pub(crate) fn estimate(metric: Metric, estimate: &Estimate) -> String {
    estimate_with(metric, estimate, Confidence::Inline)
}

pub(crate) fn estimate_with(metric: Metric, estimate: &Estimate, confidence: Confidence) -> String {
    let scale = Scale::of(metric, estimate.estimate);
    let value = glued(&scale.quantity(estimate.estimate));
    match &estimate.interval {
        Some(interval) => {
            let range = scale.range(interval);
            format!("{value} {}", bracket(&range, interval, estimate.basis, confidence))
        }
        None if confidence == Confidence::Nowhere => value,
        None => {
            let trials = count(estimate.trials, "trial");
            format!("{value} {}", glued(&format!("({trials}, no interval)")))
        }
    }
}

pub(crate) fn value(metric: Metric, value: f64) -> String {
    glued(&Scale::of(metric, value).quantity(value))
}

/// Formats a value with its unit, for text that is not wrapped.
#[must_use]
pub fn plain_value(metric: Metric, value: f64) -> String {
    Scale::of(metric, value).quantity(value)
}

/// Formats a ratio as a percentage such as `94.2 % (93.0 to 95.1)`, or as `4.20x` if it is large.
pub(crate) fn share(comparison: &Comparison, confidence: Confidence) -> String {
    let ratio = comparison.ratio;
    let scale = if ratio < SEVERAL { Scale::percent(ratio) } else { Scale::times(ratio) };
    ratio_in(scale, comparison, confidence)
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ratios {
    Percent,
    Times,
}

impl Ratios {
    pub(crate) fn of<'a>(mut comparisons: impl Iterator<Item = &'a Comparison>) -> Self {
        if comparisons.any(|comparison| comparison.ratio >= SEVERAL) { Self::Times } else { Self::Percent }
    }

    pub(crate) fn phrase(self, comparison: &Comparison, confidence: Confidence) -> String {
        match self {
            Self::Percent => ratio_in(Scale::percent(comparison.ratio), comparison, confidence),
            Self::Times => times(comparison, confidence),
        }
    }
}

pub(crate) fn times(comparison: &Comparison, confidence: Confidence) -> String {
    ratio_in(Scale::times(comparison.ratio), comparison, confidence)
}

pub(crate) fn difference(
    metric: Metric,
    value: f64,
    comparison: &Comparison,
    confidence: Confidence,
) -> String {
    let change = difference_alone(metric, value, comparison);
    match &comparison.difference_interval {
        Some(interval) => {
            let range = scale_of_difference(metric, value, comparison).signed_range(interval);
            format!("{change} {}", bracket(&range, interval, comparison.basis, confidence))
        }
        None if confidence == Confidence::Nowhere => change,
        None => format!("{change} {}", glued("(no interval)")),
    }
}

pub(crate) fn difference_alone(metric: Metric, value: f64, comparison: &Comparison) -> String {
    let scale = scale_of_difference(metric, value, comparison);
    glued(&scale.with_unit(&scale.signed(comparison.difference)))
}

/// Returns the scale of the less precise value, because that value limits the digits of the difference.
fn scale_of_difference(metric: Metric, value: f64, comparison: &Comparison) -> Scale {
    let scales = [value, value - comparison.difference].map(|value| Scale::of(metric, value));
    let [one, other] = scales;
    if one.last_digit() > other.last_digit() { one } else { other }
}

pub(crate) fn percent(share: f64) -> String {
    glued(&format!("{} %", (share * 1e8).round() / 1e6))
}

/// Formats an approximate fraction, e.g. `22 %` or `0.51 %`.
pub(crate) fn rough(share: f64) -> String {
    glued(&format!("{} %", units::significant(share * 100.0, 2)))
}

/// Formats the increase and the decrease that a floor hides. A floor of 36 % hides an increase of 36 % or a
/// decrease of 27 %. A floor of 1.5 hides any ratio up to `2.5x`.
pub(crate) fn either_way(floor: f64) -> String {
    if floor < ALIKE {
        units::Share(floor).to_string()
    } else if floor > 1.0 {
        format!("{}x", units::significant(1.0 + floor, 2))
    } else {
        format!("+{}/−{}", rough(floor), rough(1.0 - (1.0 + floor).recip()))
    }
}

pub(crate) fn what_the_mark_means() -> Text {
    let phrase =
        " after an interval: computed from a single trial, so variation between trials is not included.";
    Text::strong(WITHIN).and_plain(phrase)
}

pub(crate) fn measured_in(metric: Option<Metric>) -> &'static str {
    metric.map_or("nothing", Metric::measured_in)
}

pub(crate) fn machine(run: &RunSummary) -> String {
    run.environment.as_ref().map_or_else(
        || "machine unknown".to_owned(),
        |machine| format!("Linux {}, {} CPUs", machine.kernel, machine.cpus),
    )
}

/// Formats e.g. `45 of 45 trials`, `unfinished: 12 of 45 trials`, `16 trials, imported`.
pub(crate) fn trials(run: &RunSummary) -> String {
    let completed = u64::from(run.completed);
    match run.state {
        _ if run.origin.imported().is_some() => format!("{}, imported", count(completed, "trial")),
        RunState::Complete => format!("{completed} of {} trials", run.planned),
        RunState::Unfinished => format!("unfinished: {completed} of {} trials", run.planned),
    }
}

pub(crate) fn common(intervals: impl IntoIterator<Item = Interval>) -> Option<String> {
    let mut shown = intervals.into_iter().map(|interval| units::Confidence(interval.confidence).to_string());
    let first = shown.next()?;
    shown.all(|other| other == first).then_some(first)
}

pub(crate) fn judged(comparison: &Comparison, number: Text) -> Text {
    match comparison.verdict {
        Difference::Lower | Difference::Higher => number,
        Difference::None => number.and_faint(not_significant(comparison)),
        Difference::Unclear => number.and_doubtful(", unclear"),
    }
}

pub(crate) fn of_baseline(result: &ResultSummary) -> Text {
    against_baseline(result, |it| (share(it, Confidence::InHead), it.ratio_interval))
}

pub(crate) fn to_baseline(result: &ResultSummary, confidence: Confidence) -> Text {
    against_baseline(result, |it| {
        (difference(result.metric, result.value.estimate, it, confidence), it.difference_interval)
    })
}

fn against_baseline(
    result: &ResultSummary,
    phrase: impl Fn(&Comparison) -> (String, Option<Interval>),
) -> Text {
    let Some(comparison) = &result.against_baseline else {
        return Text::faint(if result.baseline { "baseline" } else { "-" });
    };
    let (phrase, interval) = phrase(comparison);
    let number = Text::of(tone(result.metric, comparison), phrase);
    if interval.is_some() { judged(comparison, number) } else { number }
}

/// Formats CPU time per unit of work, e.g. `0.341 CPU-s/GB`.
pub(crate) fn per_work(cost: WorkCost) -> String {
    let unit = cost.work.for_cpu().1.replace("million", "M");
    format!("{} CPU-s/{unit}", units::significant(cost.seconds, 3))
}

pub(crate) fn tone(metric: Metric, comparison: &Comparison) -> Tone {
    match (comparison.verdict, metric.more_is_better()) {
        (Difference::Lower, Some(true)) | (Difference::Higher, Some(false)) => Tone::Bad,
        (Difference::Higher, Some(true)) | (Difference::Lower, Some(false)) => Tone::Good,
        (Difference::Lower | Difference::Higher, None) => Tone::Plain,
        (Difference::None, _) => Tone::Faint,
        (Difference::Unclear, _) => Tone::Doubtful,
    }
}

pub(crate) fn moment(at: UnixMillis) -> String {
    jiff::Timestamp::from_millisecond(at.0)
        .map_or_else(|_| "unknown time".to_owned(), |time| time.strftime("%Y-%m-%d %H:%M UTC").to_string())
}

pub(crate) fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

pub(crate) fn count(number: impl TryInto<u64>, one: &str) -> String {
    count_of(number, one, &format!("{one}s"))
}

pub(crate) fn count_of(number: impl TryInto<u64>, one: &str, several: &str) -> String {
    let number = number.try_into().unwrap_or(u64::MAX);
    format!("{} {}", grouped(number), if number == 1 { one } else { several })
}

fn not_significant(comparison: &Comparison) -> String {
    let bound =
        comparison.bound().map(|bound| format!(" (smaller than {})", glued(&Scale::CHANGE.quantity(bound))));
    format!(", not significant{}", bound.unwrap_or_default())
}

fn ratio_in(scale: Scale, comparison: &Comparison, confidence: Confidence) -> String {
    let value = glued(&scale.quantity(comparison.ratio));
    match &comparison.ratio_interval {
        Some(interval) => {
            let range = scale.range(interval);
            format!("{value} {}", bracket(&range, interval, comparison.basis, confidence))
        }
        None if confidence == Confidence::Nowhere => value,
        None => format!("{value} {}", glued("(no interval)")),
    }
}

pub(crate) const fn mark(basis: Basis) -> &'static str {
    match basis {
        Basis::Intervals => WITHIN,
        Basis::Trials => "",
    }
}

fn bracket(range: &str, interval: &Interval, basis: Basis, confidence: Confidence) -> String {
    let mark = mark(basis);
    glued(&match confidence {
        Confidence::Inline => {
            format!("({range}, {}){mark}", units::Confidence(interval.confidence))
        }
        Confidence::InHead | Confidence::Nowhere => format!("({range}){mark}"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn interval(low: f64, high: f64) -> Option<Interval> {
        Some(Interval { low, high, confidence: 0.9375 })
    }

    fn plain(text: &str) -> String {
        Text::from(text).characters()
    }

    #[test]
    fn noise_is_shown_in_both_directions_and_as_a_ratio_above_double() {
        let shown = [0.02, 0.36, 1.5].map(|floor| plain(&either_way(floor)));
        assert_eq!(shown, ["2.00 %", "+36 %/−26 %", "2.5x"]);
    }

    #[test]
    fn estimate_shows_its_confidence() {
        let mut received = Estimate {
            estimate: 9.41e9,
            mean: 9.4e9,
            deviation: None,
            interval: interval(9.2e9, 9.6e9),
            trials: 5,
            outages: 0,
            basis: findings::Basis::Trials,
        };
        let show = |estimate_: &Estimate| plain(&estimate(Metric::Throughput, estimate_));
        assert_eq!(show(&received), "9.41 Gbit/s (9.20 to 9.60, 94 %)");
        received.interval = None;
        assert_eq!(show(&received), "9.41 Gbit/s (5 trials, no interval)");
    }

    #[test]
    fn formats_comparison_as_percentage_or_multiple_with_interval() {
        let mut against = Comparison {
            ratio: 0.942,
            ratio_interval: interval(0.93, 0.951),
            difference: -0.58e9,
            difference_interval: interval(-0.66e9, -0.49e9),
            verdict: Difference::Lower,
            basis: findings::Basis::Trials,
        };
        assert_eq!(plain(&share(&against, Confidence::InHead)), "94.2 % (93.0 to 95.1)");
        assert_eq!(plain(&share(&against, Confidence::Inline)), "94.2 % (93.0 to 95.1, 94 %)");
        assert_eq!(
            plain(&difference(Metric::Throughput, 9.41e9, &against, Confidence::Inline)),
            "−0.58 Gbit/s (−0.66 to −0.49, 94 %)"
        );
        (against.ratio, against.ratio_interval) = (4.2, interval(4.0, 4.44));
        assert_eq!(plain(&share(&against, Confidence::InHead)), "4.20x (4.00 to 4.44)");
    }

    #[test]
    fn separates_thousands() {
        for (number, text) in [(0, "0"), (999, "999"), (1000, "1,000"), (1_234_567, "1,234,567")] {
            assert_eq!(grouped(number), text);
        }
    }

    #[test]
    fn formats_time_in_utc() {
        assert_eq!(moment(UnixMillis(1_795_260_615_000)), "2026-11-21 11:30 UTC");
        assert_eq!(moment(UnixMillis(i64::MAX)), "unknown time");
    }
}
