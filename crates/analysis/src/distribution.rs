//! A histogram as percentiles and buckets. Percentiles come from the merged histogram and are never averaged.

use findings::{Bucket, Distribution};
use units::Nanos;
use workload::LatencyHistogram;

const SHARES: [f64; 6] = [0.25, 0.5, 0.75, 0.9, 0.99, 0.999];
const MOST_BUCKETS: usize = 20;
/// Fraction covered by the regular buckets. The last bucket holds the remainder, which may be a thousand times as
/// long.
const BULK: f64 = 0.999;
/// Buckets per decade, from the preferred numbers (ISO 3), the finest first.
const STEPS: [u32; 6] = [40, 20, 10, 5, 3, 1];

pub(crate) fn of(histogram: &LatencyHistogram) -> Option<Distribution> {
    Some(Distribution {
        min: histogram.min()?,
        percentiles: SHARES.iter().filter_map(|&share| Some((share, histogram.quantile(share)?))).collect(),
        max: histogram.max()?,
        mean: histogram.mean()?,
        deviation: histogram.standard_deviation()?,
        count: histogram.count(),
        buckets: buckets(&histogram.counts(), histogram.quantile(BULK)?),
    })
}

pub(crate) fn merged<'a>(histograms: impl Iterator<Item = &'a LatencyHistogram>) -> LatencyHistogram {
    let mut all = LatencyHistogram::new();
    histograms.for_each(|histogram| all.merge(histogram));
    all
}

/// Groups sorted times with their counts into the finest geometric buckets that fit up to `bulk`. The last bucket
/// holds the remainder.
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
        // Uses the rounded bounds, as displayed.
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
            let shape = of(&times(nanos)).expect("not empty").buckets;
            assert_eq!(shape.iter().map(|bucket| bucket.count).sum::<u64>(), nanos.len() as u64, "{shape:?}");
            assert!(shape.len() <= MOST_BUCKETS + 1, "{shape:?}");
            assert!(shape.windows(2).all(|two| two[0].to == two[1].from), "{shape:?}");
        }
    }

    #[test]
    fn narrow_distribution_has_narrow_buckets() {
        let narrow = of(&times(&(40_000..50_000).step_by(10).collect::<Vec<_>>())).expect("not empty");
        let edges: Vec<(u64, u64)> = narrow.buckets.iter().map(|b| (b.from.0, b.to.0)).collect();
        assert_eq!(edges, [(39_811, 42_170), (42_170, 44_668), (44_668, 47_315), (47_315, 50_119)]);
    }

    #[test]
    fn long_tail_fits_one_bucket() {
        let mut nanos = vec![5_000; 5000];
        nanos.extend([7_000; 4000]);
        nanos.extend([165_000_000; 3]);
        let shape = of(&times(&nanos)).expect("not empty").buckets;
        let last = shape.last().expect("not empty");
        assert_eq!((last.count, shape[0].count), (3, 5000), "{shape:?}");
        assert!(last.to.0 > 164_000_000 && shape.len() > 5, "{shape:?}");
    }

    #[test]
    fn merged_trials_have_percentiles_of_all_times() {
        let (fast, slow) = (times(&[10_000; 99]), times(&[1_000_000]));
        let all = of(&merged([&fast, &slow].into_iter())).expect("not empty");
        assert_eq!((all.count, all.at(0.99)), (100, Some(Nanos(10_007))));
        assert!(all.max.0 >= 999_000 && all.at(0.42).is_none(), "{all:?}");
    }

    #[test]
    fn empty_histogram_has_no_distribution() {
        assert_eq!(of(&times(&[])), None);
    }
}
