//! Converts histograms to percentiles and buckets. Percentiles come from the merged histogram and are never averaged.

use findings::{Basis, Bucket, Distribution, Percentile};
use stats::cluster;
use units::Nanos;
use workload::LatencyHistogram;

use crate::compare::CONFIDENCE;

const SHARES: [f64; 6] = [0.25, 0.5, 0.75, 0.9, 0.99, 0.999];
const MOST_BUCKETS: usize = 20;
/// Fraction of samples in the regular buckets. The last bucket holds the rest, which may be a thousand times as long.
const BULK: f64 = 0.999;
/// Buckets per decade, finest first (preferred numbers, ISO 3).
const STEPS: [u32; 6] = [40, 20, 10, 5, 3, 1];

pub(crate) fn of_trials(trials: &[&LatencyHistogram]) -> Option<Distribution> {
    let histogram = merged(trials.iter().copied());
    let several = trials.iter().filter(|trial| trial.count() > 0).count() > 1;
    Some(Distribution {
        min: histogram.min()?,
        percentiles: percentiles(&histogram, trials, &SHARES),
        basis: if several { Basis::Trials } else { Basis::Intervals },
        max: histogram.max()?,
        mean: histogram.mean()?,
        deviation: histogram.standard_deviation()?,
        count: histogram.count(),
        buckets: buckets(&histogram.counts(), histogram.quantile(BULK)?),
    })
}

/// Treats each trial as a cluster, because its messages are not independent.
pub(crate) fn percentiles(
    merged: &LatencyHistogram,
    trials: &[&LatencyHistogram],
    shares: &[f64],
) -> Vec<Percentile> {
    let times: Vec<Nanos> = merged.counts().into_iter().map(|(time, _)| time).collect();
    let counts: Vec<(Vec<u64>, f64)> =
        trials.iter().map(|trial| (trial.counts_up_to(&times), trial.count() as f64)).collect();
    let clusters = |at: usize| counts.iter().map(|(up_to, all)| (up_to[at] as f64, *all)).collect();
    let percentile = |share: &f64| {
        let (low, high) = cluster::percentile(*share, times.len(), clusters, CONFIDENCE);
        let time = merged.quantile(*share)?;
        Some(Percentile { share: *share, time, low: low.map(|at| times[at]), high: high.map(|at| times[at]) })
    };
    shares.iter().filter_map(percentile).collect()
}

pub(crate) fn merged<'a>(histograms: impl Iterator<Item = &'a LatencyHistogram>) -> LatencyHistogram {
    let mut all = LatencyHistogram::new();
    histograms.for_each(|histogram| all.merge(histogram));
    all
}

/// Groups sorted times and their counts into geometric buckets up to `bulk`, as fine as [`MOST_BUCKETS`] allows. The
/// last bucket holds all longer times.
fn buckets(counts: &[(Nanos, u64)], bulk: Nanos) -> Vec<Bucket> {
    let (Some((low, _)), Some((longest, _))) = (counts.first(), counts.last()) else { return Vec::new() };
    let spans = |steps: &&u32| place(bulk, **steps) - place(*low, **steps) < MOST_BUCKETS as i32;
    let steps = STEPS.iter().find(spans).copied().unwrap_or(1);
    let edge = |place: i32| Nanos(10f64.powf(f64::from(place) / f64::from(steps)).round() as u64);
    let bucket = |place: i32| Bucket { from: edge(place), to: edge(place + 1), count: 0, share: 0.0 };
    let mut buckets: Vec<Bucket> = (place(*low, steps)..=place(bulk, steps)).map(bucket).collect();
    let end = buckets.last().map_or(*low, |last| last.to);
    if end <= *longest {
        buckets.push(Bucket { from: end, to: Nanos(longest.0 + 1), count: 0, share: 0.0 });
    }
    for (time, count) in counts {
        let index = buckets.partition_point(|bucket| bucket.to <= *time).min(buckets.len() - 1);
        buckets[index].count += count;
    }
    let all: u64 = counts.iter().map(|(_, count)| count).sum();
    buckets.iter_mut().for_each(|bucket| bucket.share = bucket.count as f64 / all as f64);
    buckets
}

fn place(time: Nanos, steps: u32) -> i32 {
    ((time.0.max(1) as f64).log10() * f64::from(steps)).floor() as i32
}

#[cfg(test)]
mod tests {
    use super::*;

    fn times(nanos: &[u64]) -> LatencyHistogram {
        let mut histogram = LatencyHistogram::new();
        nanos.iter().for_each(|&time| histogram.record(Nanos(time)));
        histogram
    }

    #[test]
    fn buckets_are_adjacent_and_contain_all_times() {
        for nanos in
            [&[1u64][..], &[40_000, 41_000, 44_000], &[9, 10, 11, 99, 100, 59_000_000_000], &[0, 1, 2]]
        {
            let shape = of_trials(&[&times(nanos)]).expect("not empty").buckets;
            assert_eq!(shape.iter().map(|bucket| bucket.count).sum::<u64>(), nanos.len() as u64, "{shape:?}");
            assert!(shape.len() <= MOST_BUCKETS + 1, "{shape:?}");
            assert!(shape.windows(2).all(|two| two[0].to == two[1].from), "{shape:?}");
        }
    }

    #[test]
    fn narrow_distribution_has_narrow_buckets() {
        let narrow =
            of_trials(&[&times(&(40_000..50_000).step_by(10).collect::<Vec<_>>())]).expect("not empty");
        let edges: Vec<(u64, u64)> = narrow.buckets.iter().map(|b| (b.from.0, b.to.0)).collect();
        assert_eq!(edges, [(39_811, 42_170), (42_170, 44_668), (44_668, 47_315), (47_315, 50_119)]);
    }

    #[test]
    fn long_tail_fits_one_bucket() {
        let mut nanos = vec![5_000; 5000];
        nanos.extend([7_000; 4000]);
        nanos.extend([165_000_000; 3]);
        let shape = of_trials(&[&times(&nanos)]).expect("not empty").buckets;
        let last = shape.last().expect("not empty");
        assert_eq!((last.count, shape[0].count), (3, 5000), "{shape:?}");
        assert!(last.to.0 > 164_000_000 && shape.len() > 5, "{shape:?}");
    }

    #[test]
    fn merged_trials_have_percentiles_of_all_times() {
        let (fast, slow) = (times(&[10_000; 99]), times(&[1_000_000]));
        let all = of_trials(&[&fast, &slow]).expect("not empty");
        assert_eq!((all.count, all.at(0.99)), (100, Some(Nanos(10_007))));
        assert!(all.max.0 >= 999_000 && all.at(0.42).is_none(), "{all:?}");
    }

    #[test]
    fn empty_histogram_has_no_distribution() {
        assert_eq!(of_trials(&[&times(&[])]), None);
    }

    #[test]
    fn percentile_of_unequal_trials_has_a_wider_interval_than_of_equal_ones() {
        let trial = |micros: u64| times(&(0..500).map(|at| (micros * 1000) + at * 40).collect::<Vec<_>>());
        let of = |micros: [u64; 6]| {
            let trials = micros.map(trial);
            let all = of_trials(&trials.iter().collect::<Vec<_>>()).expect("not empty");
            let tail = *all.percentile(0.9).expect("always included");
            (tail.low.expect("3000 times").0, tail.time.0, tail.high.map(|time| time.0))
        };
        let (equal, unequal) = (of([50; 6]), of([40, 60, 45, 55, 42, 58]));
        assert!(equal.0 > 66_000 && equal.2.is_some_and(|high| high < 70_000), "{equal:?}");
        assert!(unequal.0 < equal.1 + 1000 && unequal.2.is_none_or(|high| high > 74_000), "{unequal:?}");
    }

    #[test]
    fn few_messages_leave_a_high_percentile_without_an_upper_end() {
        let few =
            of_trials(&[&times(&(1..=250).map(|at| at * 1000).collect::<Vec<_>>())]).expect("not empty");
        let tail = few.percentile(0.999).expect("always included");
        assert!(tail.high.is_none() && tail.low.is_some() && few.basis == Basis::Intervals, "{tail:?}");
    }
}
