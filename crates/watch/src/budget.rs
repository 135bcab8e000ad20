//! Computes the bytes sent, and decides whether another run fits into the daily budget.

use std::collections::BTreeMap;

use samples::{RunRecord, Trial, WorkloadSource};
use units::Bytes;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Admission {
    Fits,
    /// The size of the run is unknown, but the run may start, because at most half of the daily budget is used.
    Unknown,
    Skipped,
}

/// `used` is the number of bytes sent today.
pub fn admission(budget: Option<Bytes>, used: Bytes, expected: Option<Bytes>) -> Admission {
    match (budget, expected) {
        (None, _) => Admission::Fits,
        (Some(budget), Some(expected)) if used + expected <= budget => Admission::Fits,
        (Some(budget), None) if used.0 <= budget.0 / 2 => Admission::Unknown,
        (Some(_), _) => Admission::Skipped,
    }
}

/// Returns the payload that both ends sent in all trials. Assumes that each discarded attempt sent as much as
/// the stored one.
pub(crate) fn bytes_sent(record: &RunRecord) -> Bytes {
    let results = record.header.results.iter();
    let sources: BTreeMap<&str, &WorkloadSource> =
        results.map(|result| (result.id.as_str(), &result.sent)).collect();
    let of_trial = |trial: &Trial| {
        let source = sources.get(trial.result.as_str());
        let sent = source.map_or(Bytes(0), |source| source.payload(&trial.measurement));
        Bytes(sent.0.saturating_mul(1 + trial.discarded.len() as u64))
    };
    record.trials.iter().map(of_trial).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn admits_unknown_sizes_only_with_enough_budget() {
        let gb = |count: u64| Bytes(count * 1_000_000_000);
        for (budget, used, expected, admitted) in [
            (None, 1000, Some(1000), Admission::Fits),
            (None, 1000, None, Admission::Fits),
            (Some(50), 40, Some(10), Admission::Fits),
            (Some(50), 41, Some(10), Admission::Skipped),
            (Some(50), 0, Some(51), Admission::Skipped),
            (Some(50), 0, None, Admission::Unknown),
            (Some(50), 25, None, Admission::Unknown),
            (Some(50), 26, None, Admission::Skipped),
        ] {
            let case = (budget, used, expected);
            assert_eq!(admission(budget.map(gb), gb(used), expected.map(gb)), admitted, "{case:?}");
        }
    }
}
