//! Throughput or latency of a host or pair, as a fraction of the usual value.

use findings::{HostPair, PairMatrix, ResultSummary};
use stats::describe;

pub(super) const SLOW: f64 = 0.7;

pub(super) const FEW: &str = "Not significant: with so few trials, this may be due to chance.";

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Way {
    Sending,
    Receiving,
}

impl Way {
    pub(super) const BOTH: [Self; 2] = [Self::Sending, Self::Receiving];

    pub(super) fn word(self) -> &'static str {
        match self {
            Self::Sending => "sending",
            Self::Receiving => "receiving",
        }
    }

    pub(super) fn host(self, pair: &HostPair) -> &str {
        match self {
            Self::Sending => &pair.from,
            Self::Receiving => &pair.to,
        }
    }
}

/// Returns the host's best pair, and the median of the pairs without this host. Returns `None` if there are too few
/// pairs, because a single pair cannot show which of its hosts is slow.
pub(super) fn of_host<'a>(matrix: &'a PairMatrix, host: &str, way: Way) -> Option<(&'a HostPair, f64)> {
    let own: Vec<&HostPair> = matrix.pairs.iter().filter(|pair| way.host(pair) == host).collect();
    let without: Vec<f64> = matrix
        .pairs
        .iter()
        .filter(|pair| pair.from != host && pair.to != host)
        .map(|pair| pair.value)
        .collect();
    let best = best(matrix, own.iter().copied()).filter(|_| own.len() > 1)?;
    Some((best, describe::median(&without)?))
}

pub(super) fn expected(matrix: &PairMatrix, pair: &HostPair) -> Option<f64> {
    let of = |way: Way| {
        let others = matrix.pairs.iter().filter(|other| *other != pair && way.host(other) == way.host(pair));
        best(matrix, others).map(|best| best.value)
    };
    let (sends, receives) = (of(Way::Sending)?, of(Way::Receiving)?);
    let more_is_better = matrix.metric.more_is_better()?;
    Some(if more_is_better { sends.min(receives) } else { sends.max(receives) })
}

/// Returns `value` as a fraction of `usual`. The ratio of durations is inverted, so that a smaller fraction is always
/// worse.
pub(super) fn keeps(matrix: &PairMatrix, value: f64, usual: f64) -> Option<f64> {
    let keeps = if matrix.metric.more_is_better()? { value / usual } else { usual / value };
    keeps.is_finite().then_some(keeps)
}

pub(super) fn is_apart(matrix: &PairMatrix, result: &ResultSummary, usual: f64) -> bool {
    result.value.interval.is_some_and(|interval| match matrix.metric.more_is_better() {
        Some(true) => interval.high < usual,
        Some(false) => interval.low > usual,
        None => false,
    })
}

pub(super) fn between<'a>(matrix: &'a PairMatrix, from: &str, to: &str) -> Option<&'a HostPair> {
    matrix.pairs.iter().find(|pair| pair.from == from && pair.to == to)
}

fn best<'a>(matrix: &PairMatrix, pairs: impl Iterator<Item = &'a HostPair>) -> Option<&'a HostPair> {
    let more_is_better = matrix.metric.more_is_better()?;
    pairs.max_by(|one, other| {
        let rising = one.value.total_cmp(&other.value);
        if more_is_better { rising } else { rising.reverse() }
    })
}
