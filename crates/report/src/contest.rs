//! The answer of `plumb vs`: one sentence for each workload.

use findings::{Comparison, Difference, Findings, Metric};
use units::significant;

/// Compares the results of `b` with their baselines, `a`.
#[must_use]
pub fn contest(findings: &Findings, [a, b]: [&str; 2]) -> Vec<String> {
    let compared = findings.results.iter().filter_map(|result| {
        let sentence = sentence(result.metric, result.against_baseline.as_ref()?, [a, b])?;
        Some((&result.workload, sentence))
    });
    let compared: Vec<_> = compared.collect();
    match compared.as_slice() {
        [] => vec![format!("{a} and {b} cannot be compared: they have no result in common.")],
        [(_, sentence)] => vec![sentence.clone()],
        all => all.iter().map(|(workload, sentence)| format!("{workload}: {sentence}")).collect(),
    }
}

fn sentence(metric: Metric, change: &Comparison, [a, b]: [&str; 2]) -> Option<String> {
    let b_is_faster = (change.ratio >= 1.0) == metric.more_is_better()?;
    let (faster, slower) = if b_is_faster { (b, a) } else { (a, b) };
    let (ratio, interval) = change.times();
    let times = |ratio| significant(ratio, 3);
    let range = interval.map(|it| format!(" ({} to {})", times(it.low), times(it.high))).unwrap_or_default();
    let claim = format!("{faster} is {} times{range} faster than {slower}", times(ratio));
    Some(match change.verdict {
        Difference::Lower | Difference::Higher => format!("{claim}."),
        Difference::None => {
            format!("{a} and {b} are equally fast within the noise: {}{range}.", times(ratio))
        }
        Difference::Unclear => format!("It is undecided whether {claim}."),
    })
}

#[cfg(test)]
mod tests {
    use findings::{Basis, Interval};

    use super::*;

    #[test]
    fn names_the_faster_side_first() {
        let check = |metric, ratio: f64, verdict, expected: &str| {
            let interval = Interval { low: ratio * 0.96, high: ratio * 1.04, confidence: 0.95 };
            let change = Comparison {
                ratio,
                ratio_interval: Some(interval),
                difference: 0.0,
                difference_interval: None,
                verdict,
                basis: Basis::Trials,
            };
            assert_eq!(sentence(metric, &change, ["A", "B"]).as_deref(), Some(expected));
        };
        use Difference::{Higher, Lower, Unclear};
        check(Metric::Throughput, 1.42, Higher, "B is 1.42 times (1.36 to 1.48) faster than A.");
        check(Metric::Throughput, 0.5, Lower, "A is 2.00 times (1.92 to 2.08) faster than B.");
        check(Metric::RoundTrip, 0.5, Lower, "B is 2.00 times (1.92 to 2.08) faster than A.");
        check(Metric::RoundTrip, 1.42, Higher, "A is 1.42 times (1.36 to 1.48) faster than B.");
        check(
            Metric::Throughput,
            1.02,
            Unclear,
            "It is undecided whether B is 1.02 times (0.979 to 1.06) faster than A.",
        );
        check(
            Metric::Throughput,
            1.0,
            Difference::None,
            "A and B are equally fast within the noise: 1.00 (0.960 to 1.04).",
        );
    }
}
