//! Estimates and comparisons in words: always with the interval and the confidence that they really have.
//! Must not know which section they stand in.

use findings::{
    Comparison, DatagramSummary, Difference, Distribution, Estimate, Findings, Interval, Metric, TcpSummary,
};
use samples::{Doubt, UnixMillis};
use units::{Bytes, Share};

use crate::{
    quantity::{self, Scale},
    text::{Text, Tone, glued},
};

/// Whether a confidence stands with its interval or, being the same for all, in the head of their column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Confidence {
    Inline,
    InHead,
}

/// `9.41 Gbit/s (9.20 to 9.60, 94 %)`.
pub(crate) fn estimate(metric: Metric, estimate: &Estimate) -> String {
    estimate_with(metric, estimate, Confidence::Inline)
}

/// As [`estimate`], the confidence where it is wanted.
pub(crate) fn estimate_with(metric: Metric, estimate: &Estimate, confidence: Confidence) -> String {
    let scale = Scale::of(metric, estimate.median);
    let value = glued(&scale.quantity(estimate.median));
    match &estimate.interval {
        Some(interval) => format!("{value} {}", bracket(&scale.range(interval), interval, confidence)),
        None => {
            let trials = count(u64::from(estimate.trials), "trial", "trials");
            format!("{value} {}", glued(&format!("({trials}, no interval)")))
        }
    }
}

/// `9.41 Gbit/s`.
pub(crate) fn value(metric: Metric, value: f64) -> String {
    glued(&Scale::of(metric, value).quantity(value))
}

/// A ratio as a share of what it is held against: `94.2 % (93.0 to 95.1)`, or `4.20x` when it is several times.
pub(crate) fn share(comparison: &Comparison, confidence: Confidence) -> String {
    let ratio = comparison.ratio;
    let scale = if ratio < 2.0 { Scale::percent(ratio) } else { Scale::times(ratio) };
    let value = glued(&scale.quantity(ratio));
    match &comparison.ratio_interval {
        Some(interval) => format!("{value} {}", bracket(&scale.range(interval), interval, confidence)),
        None => format!("{value} {}", glued("(no interval)")),
    }
}

/// `−6.90 Gbit/s (−7.80 to −6.10, 94 %)`.
pub(crate) fn difference(metric: Metric, comparison: &Comparison, confidence: Confidence) -> String {
    let scale = Scale::of(metric, comparison.difference);
    let value = glued(&scale.with_unit(&scale.signed(comparison.difference)));
    match &comparison.difference_interval {
        Some(interval) => format!("{value} {}", bracket(&scale.signed_range(interval), interval, confidence)),
        None => format!("{value} {}", glued("(no interval)")),
    }
}

/// The confidence that all of some intervals have, to the digits that are shown; `None` when they differ.
pub(crate) fn common(intervals: impl IntoIterator<Item = Interval>) -> Option<String> {
    let mut shown = intervals.into_iter().map(|interval| quantity::confidence(interval.confidence));
    let first = shown.next()?;
    shown.all(|other| other == first).then_some(first)
}

/// What a comparison comes to when it is not an established difference; `None` when it is one.
pub(crate) fn no_difference(findings: &Findings, workload: &str, comparison: &Comparison) -> Option<Text> {
    match comparison.verdict {
        Difference::Lower | Difference::Higher => None,
        Difference::None => Some(Text::of(Tone::Faint, none(findings, workload))),
        Difference::Unclear => Some(Text::of(Tone::Doubtful, "unclear")),
    }
}

/// Whether a comparison is good news, bad news or none.
pub(crate) fn tone(metric: Metric, comparison: &Comparison) -> Tone {
    match (comparison.verdict, metric.more_is_better()) {
        (Difference::Lower, Some(true)) | (Difference::Higher, Some(false)) => Tone::Bad,
        (Difference::Higher, Some(true)) | (Difference::Lower, Some(false)) => Tone::Good,
        (Difference::Lower | Difference::Higher, None) => Tone::Plain,
        (Difference::None, _) => Tone::Faint,
        (Difference::Unclear, _) => Tone::Doubtful,
    }
}

/// `321K → 388K`: as the field writes congestion windows.
pub(crate) fn window(range: (Bytes, Bytes)) -> String {
    format!("{} → {}", kilobytes(range.0), kilobytes(range.1))
}

/// `12`, `12 (reordering seen 3 times, 40 segments out of order)`.
pub(crate) fn retransmits(tcp: &TcpSummary) -> String {
    let reordered =
        (tcp.reorderings > 0).then(|| format!("reordering seen {}", count(tcp.reorderings, "time", "times")));
    let out_of_order = (tcp.out_of_order > 0)
        .then(|| format!("{} out of order", count(tcp.out_of_order, "segment", "segments")));
    let beside: Vec<String> = reordered.into_iter().chain(out_of_order).collect();
    let retransmits = tcp.retransmits.to_string();
    if beside.is_empty() { retransmits } else { format!("{retransmits} ({})", beside.join(", ")) }
}

/// `12 (0.030 %)`.
pub(crate) fn lost(datagrams: &DatagramSummary) -> String {
    match datagrams.lost {
        0 => "0".to_owned(),
        lost => format!("{lost} ({})", glued(&Share(datagrams.loss).to_string())),
    }
}

/// `13.0 µs in the middle, 24.1 µs at 99 %`.
pub(crate) fn middle_and_tail(times: &Distribution) -> String {
    let at =
        |share: f64| times.at(share).map_or_else(|| "unknown".to_owned(), |time| glued(&time.to_string()));
    format!("{} in the middle, {} at {}", at(0.5), at(0.99), glued("99 %"))
}

/// `2026-11-21 11:30 UTC`.
pub(crate) fn moment(at: UnixMillis) -> String {
    jiff::Timestamp::from_millisecond(at.0)
        .map_or_else(|_| "an unknown time".to_owned(), |time| time.strftime("%Y-%m-%d %H:%M UTC").to_string())
}

/// `1 trial`, `5 trials`.
pub(crate) fn count(number: u64, one: &str, several: &str) -> String {
    format!("{number} {}", if number == 1 { one } else { several })
}

/// A reason to distrust a number, as a clause.
pub(crate) fn doubt(doubt: &Doubt) -> String {
    match doubt {
        Doubt::GeneratorLimited { end, busy } => {
            format!("the {end}'s sending thread was {} busy: it may be the limit, not the path", Share(*busy))
        }
        Doubt::ReceiverLimited { end, busy } => {
            format!(
                "the {end}'s receiving thread was {} busy: it may be the limit, not the path",
                Share(*busy)
            )
        }
        Doubt::Stolen { share } => format!("the hypervisor took {} of the CPU time away", Share(*share)),
        Doubt::OtherDuration { asked, measured } => {
            format!("{measured} were measured where {asked} were asked for")
        }
        Doubt::EndsDisagree { sent, received } => {
            format!("the ends disagree: {sent} sent, {received} received")
        }
        Doubt::RateNotKept { asked, got } => {
            format!("a sender was asked for {asked} and sent {got}: it or the path had no room for more")
        }
        Doubt::LateGenerator { lateness, period, tail } => format!(
            "one message in a hundred left {lateness} late (one was due every {period}): of the {tail} that it took \
             since its intended time, much is the generator's own"
        ),
    }
}

fn none(findings: &Findings, workload: &str) -> String {
    match findings.noise.iter().find(|noise| noise.workload == workload) {
        Some(noise) => {
            format!("none above the noise floor of {}", glued(&Share(noise.floor).to_string()))
        }
        None => "none".to_owned(),
    }
}

fn bracket(range: &str, interval: &Interval, confidence: Confidence) -> String {
    glued(&match confidence {
        Confidence::Inline => format!("({range}, {})", quantity::confidence(interval.confidence)),
        Confidence::InHead => format!("({range})"),
    })
}

fn kilobytes(bytes: Bytes) -> String {
    let kib = bytes.0 as f64 / 1024.0;
    if kib < 10_000.0 { format!("{kib:.0}K") } else { format!("{:.1}M", kib / 1024.0) }
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
    fn an_estimate_shows_the_confidence_that_it_has() {
        let mut received = Estimate {
            median: 9.41e9,
            mean: 9.4e9,
            deviation: None,
            interval: interval(9.2e9, 9.6e9),
            trials: 5,
            basis: findings::Basis::Trials,
        };
        let show = |estimate_: &Estimate| plain(&estimate(Metric::Throughput, estimate_));
        assert_eq!(show(&received), "9.41 Gbit/s (9.20 to 9.60, 94 %)");
        received.interval = None;
        assert_eq!(show(&received), "9.41 Gbit/s (5 trials, no interval)");
    }

    #[test]
    fn a_comparison_is_a_share_or_several_times_with_its_interval() {
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
            plain(&difference(Metric::Throughput, &against, Confidence::Inline)),
            "−580 Mbit/s (−660 to −490, 94 %)"
        );
        (against.ratio, against.ratio_interval) = (4.2, interval(4.0, 4.44));
        assert_eq!(plain(&share(&against, Confidence::InHead)), "4.20x (4.00 to 4.44)");
    }

    #[test]
    fn a_window_reads_as_the_field_writes_it() {
        assert_eq!(window((Bytes(321 * 1024), Bytes(388 * 1024))), "321K → 388K");
        assert_eq!(window((Bytes(1448), Bytes(20 << 20))), "1K → 20.0M");
    }

    #[test]
    fn a_time_is_written_in_utc() {
        assert_eq!(moment(UnixMillis(1_795_260_615_000)), "2026-11-21 11:30 UTC");
        assert_eq!(moment(UnixMillis(i64::MAX)), "an unknown time");
    }
}
