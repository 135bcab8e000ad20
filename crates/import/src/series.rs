//! A series of intervals with a bounded length.

use units::Nanos;
use workload::Interval;

/// Maximum number of intervals at one end: 4.5 hours at one sample per second, about 80 MB for both ends.
pub(crate) const MOST: usize = 16_384;

/// Tolerated gap between consecutive intervals. Logs round times to 10 ms.
const ROUNDED: Nanos = Nanos(11_000_000);

/// The intervals at one end of a connection. Each is the sum of `stride` logged intervals.
#[derive(Debug, Clone)]
pub(crate) struct Series {
    kept: Vec<Interval>,
    pending: Option<(Interval, u32)>,
    stride: u32,
}

impl Default for Series {
    fn default() -> Self {
        Self { kept: Vec::new(), pending: None, stride: 1 }
    }
}

impl Series {
    pub(crate) const fn of(intervals: Vec<Interval>) -> Self {
        Self { kept: intervals, pending: None, stride: 1 }
    }

    /// Merges intervals until at most `most` are left or no two are adjacent.
    pub(crate) fn into_at_most(mut self, most: usize) -> Vec<Interval> {
        let mut before = usize::MAX;
        while self.len() > most && self.len() < before {
            before = self.len();
            self.merge(before.div_ceil(most) as u32);
        }
        self.kept.extend(self.pending.take().map(|(interval, _)| interval));
        self.kept.shrink_to_fit();
        self.kept
    }

    pub(crate) fn len(&self) -> usize {
        self.kept.len() + usize::from(self.pending.is_some())
    }

    pub(crate) fn take_only(&mut self) -> Option<Interval> {
        (self.len() == 1).then(|| std::mem::take(self).into_intervals().pop()).flatten()
    }

    pub(crate) fn intervals(&self) -> impl Iterator<Item = &Interval> {
        self.kept.iter().chain(self.pending.iter().map(|(interval, _)| interval))
    }

    pub(crate) fn measured(&self) -> impl Iterator<Item = &Interval> {
        self.intervals().filter(|interval| !interval.warmup)
    }

    pub(crate) fn bytes(&self) -> f64 {
        self.measured().map(|interval| interval.bytes.0 as f64).sum()
    }

    pub(crate) fn end(&self) -> Option<Nanos> {
        self.last().map(|interval| interval.end)
    }

    pub(crate) fn last_length(&self) -> Nanos {
        self.last().map(|interval| interval.end - interval.start).unwrap_or_default()
    }

    pub(crate) const fn stride(&self) -> u32 {
        self.stride
    }

    pub(crate) fn push(&mut self, interval: Interval) {
        self.add(interval, 1);
    }

    pub(crate) fn halve(&mut self) {
        self.merge(2);
    }

    fn merge(&mut self, each: u32) {
        let Self { kept, pending, stride } = std::mem::take(self);
        self.stride = stride.saturating_mul(each);
        self.kept.reserve(kept.len() / each as usize + 1);
        kept.into_iter().for_each(|interval| self.add(interval, stride));
        pending.into_iter().for_each(|(interval, count)| self.add(interval, count));
    }

    fn add(&mut self, interval: Interval, count: u32) {
        let pending = match self.pending.take() {
            Some((before, sum)) if follows(&before, &interval) => (before.and(&interval), sum + count),
            before => {
                self.kept.extend(before.map(|(interval, _)| interval));
                (interval, count)
            }
        };
        if pending.1 >= self.stride { self.kept.push(pending.0) } else { self.pending = Some(pending) }
    }

    pub(crate) fn ends_in_warmup(&self) -> bool {
        self.last().is_some_and(|interval| interval.warmup)
    }

    pub(crate) fn trim(&mut self, latest: Nanos) {
        self.pending = self.pending.filter(|(interval, _)| interval.end <= latest);
        while self.kept.last().is_some_and(|interval| interval.end > latest) {
            self.kept.pop();
        }
    }

    pub(crate) fn into_intervals(mut self) -> Vec<Interval> {
        self.kept.extend(self.pending.map(|(interval, _)| interval));
        self.kept
    }

    fn last(&self) -> Option<&Interval> {
        self.pending.as_ref().map(|(interval, _)| interval).or(self.kept.last())
    }
}

fn follows(first: &Interval, second: &Interval) -> bool {
    first.warmup == second.warmup
        && second.start - first.end <= ROUNDED
        && first.end - second.start <= ROUNDED
}

#[cfg(test)]
mod tests {
    use units::Bytes;

    use super::*;

    fn second(start: u64) -> Interval {
        Interval {
            start: Nanos::from_secs(start),
            end: Nanos::from_secs(start + 1),
            bytes: Bytes(10),
            warmup: start < 3,
            tcp: None,
            datagrams: None,
        }
    }

    fn spans(series: Series) -> Vec<(u64, u64, u64)> {
        let span = |it: &Interval| (it.start.0 / 1_000_000_000, it.end.0 / 1_000_000_000, it.bytes.0);
        series.into_intervals().iter().map(span).collect()
    }

    #[test]
    fn halving_preserves_time_bytes_and_warmup() {
        let mut series = Series::default();
        (0..8).for_each(|start| series.push(second(start)));
        series.halve();
        (8..12).for_each(|start| series.push(second(start)));
        assert_eq!(
            spans(series),
            [(0, 2, 20), (2, 3, 10), (3, 5, 20), (5, 7, 20), (7, 9, 20), (9, 11, 20), (11, 12, 10)]
        );
    }

    #[test]
    fn limits_intervals_without_losing_time() {
        let all: Vec<Interval> = (3..63).map(second).collect();
        let few = Series::of(all).into_at_most(16);
        assert_eq!((few.len(), few[0].start, few[14].end), (15, Nanos::from_secs(3), Nanos::from_secs(63)));
        assert_eq!(few.iter().map(|it| it.bytes.0).sum::<u64>(), 600);
        let apart: Vec<Interval> = (0..60).map(|at| second(3 + 3 * at)).collect();
        assert_eq!(Series::of(apart).into_at_most(16).len(), 60);
    }

    #[test]
    fn does_not_merge_across_gaps() {
        let mut series = Series::default();
        [3, 4, 7, 8].into_iter().for_each(|start| series.push(second(start)));
        series.halve();
        assert_eq!(spans(series), [(3, 5, 20), (7, 9, 20)]);
    }
}
