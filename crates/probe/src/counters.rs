//! Counters of the CPUs' backlog queues from /proc/net/softnet_stat (`softnet_seq_show` in
//! net/core/net-procfs.c). They are the same in all network namespaces.

use std::fs;

use samples::SoftnetCounters;

const FILE: &str = "/proc/net/softnet_stat";

#[derive(Debug, Clone, Copy)]
pub struct SoftnetReading {
    /// Only the low 32 bits are valid, as in the kernel's counters.
    sum: SoftnetCounters,
    cpus: usize,
}

impl SoftnetReading {
    #[must_use]
    pub fn now() -> Option<Self> {
        fs::read_to_string(FILE).ok().and_then(|text| read(&text))
    }

    /// Returns the difference between two readings. Differences of up to 2^32 per counter are correct, even if
    /// the counter wrapped around. Ignores CPUs that went online or offline in between.
    #[must_use]
    pub fn since(&self, earlier: &Self) -> SoftnetCounters {
        let same = self.cpus == earlier.cpus;
        let passed = |now: u64, then: u64| match same {
            true => u64::from((now as u32).wrapping_sub(then as u32)),
            false => now.saturating_sub(then),
        };
        SoftnetCounters {
            processed: passed(self.sum.processed, earlier.sum.processed),
            dropped: passed(self.sum.dropped, earlier.sum.dropped),
            squeezed: passed(self.sum.squeezed, earlier.sum.squeezed),
        }
    }
}

fn read(text: &str) -> Option<SoftnetReading> {
    let mut sum = SoftnetCounters::default();
    for line in text.lines() {
        let mut columns = line.split_whitespace().map(|column| u64::from_str_radix(column, 16).ok());
        let mut next = || columns.next().flatten();
        sum.processed += next()?;
        sum.dropped += next()?;
        sum.squeezed += next()?;
    }
    Some(SoftnetReading { sum, cpus: text.lines().count() })
}

#[cfg(test)]
mod tests {
    use super::*;

    const TWO_CPUS: &str = "\
0000ffff 00000002 00000010 00000000 00000000 00000000 00000000 00000000 00000000 00000000 00000000 00000000 00000000 00000000 00000000
00000001 00000001 00000001 00000000 00000000 00000000 00000000 00000000 00000000 00000000 00000000 00000000 00000001 00000000 00000000
";

    #[test]
    fn sums_columns_of_all_cpus() {
        let read = read(TWO_CPUS).expect("readable");
        assert_eq!(read.cpus, 2);
        assert_eq!(read.sum, SoftnetCounters { processed: 0x1_0000, dropped: 3, squeezed: 17 });
    }

    #[test]
    fn rejects_other_files() {
        for text in ["0000ffff 00000002", "lunch 1 2", "0000ffff zz 00000010"] {
            assert!(read(text).is_none(), "{text}");
        }
    }

    #[test]
    fn handles_wrapped_and_missing_counters() {
        let reading = |processed, cpus| {
            let sum = SoftnetCounters { processed, ..SoftnetCounters::default() };
            SoftnetReading { sum, cpus }
        };
        assert_eq!(reading(9, 2).since(&reading(4, 2)).processed, 5);
        let wrapped = reading(3, 2).since(&reading((1 << 32) - 4, 2));
        assert_eq!(wrapped.processed, 7, "one counter wrapped around");
        assert_eq!(reading(1, 1).since(&reading(4, 2)).processed, 0, "a CPU went offline");
        assert!(SoftnetReading::now().is_some(), "available on every Linux");
    }
}
