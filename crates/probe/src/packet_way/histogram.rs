//! Converts the kernel's histogram of times, with 16 buckets per power of two.

use units::Nanos;
use workload::LatencyHistogram;

/// The number of buckets per power of two. Below 16 ns, there is one per nanosecond.
const STEPS: u64 = 16;
/// Covers up to 2^32 ns. Must match `BUCKETS` in trail.h.
pub(super) const BUCKETS: usize = 464;

/// Places every value at the middle of its bucket, which is accurate to 3 %.
pub(super) fn open(buckets: &[u32; BUCKETS]) -> LatencyHistogram {
    let mut histogram = LatencyHistogram::new();
    for (bucket, &count) in (0..).zip(buckets).filter(|(_, count)| **count > 0) {
        histogram.record_many(Nanos(middle_of(bucket)), u64::from(count));
    }
    histogram
}

fn middle_of(bucket: u64) -> u64 {
    if bucket < STEPS {
        return bucket;
    }
    let width = 1 << (bucket / STEPS - 1);
    (STEPS + bucket % STEPS) * width + width / 2
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bucket_of(time: u64) -> u64 {
        if time < STEPS {
            return time;
        }
        let power = u64::from(time.ilog2());
        ((power - 4) << 4) + (time >> (power - 4))
    }

    #[test]
    fn bucket_middle_is_exact_to_3_percent() {
        let times = (0..40).chain((5..32).flat_map(|power| {
            let first = 1_u64 << power;
            (0..64).map(move |part| first + first * part / 64).chain([2 * first - 1])
        }));
        for time in times {
            let bucket = bucket_of(time);
            assert!(bucket < BUCKETS as u64, "{time}");
            let middle = middle_of(bucket);
            assert!(middle.abs_diff(time) as f64 <= 0.032 * time as f64, "{time} is counted as {middle}");
        }
    }

    #[test]
    fn conversion_preserves_counts() {
        let mut buckets = [0; BUCKETS];
        buckets[bucket_of(11_200) as usize] = 5;
        buckets[0] = 2;
        let histogram = open(&buckets);
        assert_eq!(histogram.count(), 7);
        let median = histogram.quantile(0.5).expect("not empty").0;
        assert!(median.abs_diff(11_200) < 340, "{median}");
    }
}
