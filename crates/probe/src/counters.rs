//! What the backlog queues of the machine's CPUs counted, as the difference of two readings of /proc/net/softnet_stat
//! (`softnet_seq_show` in net/core/net-procfs.c): one line a CPU, columns in hexadecimal. The queues belong to the CPUs,
//! so that every namespace shows the same numbers.

use std::fs;

use samples::SoftnetCounters;

const FILE: &str = "/proc/net/softnet_stat";

/// A reading of the backlog queues.
#[derive(Debug, Clone, Copy)]
pub struct SoftnetReading {
    /// The sum over all CPUs, of which only the low 32 bits mean anything: the kernel counts in 32 bits for each.
    sum: SoftnetCounters,
    cpus: usize,
}

impl SoftnetReading {
    /// Reads them now; `None` where the kernel does not show them.
    #[must_use]
    pub fn now() -> Option<Self> {
        fs::read_to_string(FILE).ok().and_then(|text| read(&text))
    }

    /// What was counted since an earlier reading. Right up to 2^32, however often the counters of CPUs wrapped around;
    /// where CPUs came or went in between, their part is missing.
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

/// The sum over all CPUs; `None` when a line is none.
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
    fn the_columns_of_all_cpus_are_added_up() {
        let read = read(TWO_CPUS).expect("readable");
        assert_eq!(read.cpus, 2);
        assert_eq!(read.sum, SoftnetCounters { processed: 0x1_0000, dropped: 3, squeezed: 17 });
    }

    #[test]
    fn what_is_no_such_file_is_no_reading() {
        for text in ["0000ffff 00000002", "lunch 1 2", "0000ffff zz 00000010"] {
            assert!(read(text).is_none(), "{text}");
        }
    }

    #[test]
    fn counters_that_wrap_around_or_go_away_make_no_wrong_number() {
        let reading = |processed, cpus| {
            let sum = SoftnetCounters { processed, ..SoftnetCounters::default() };
            SoftnetReading { sum, cpus }
        };
        assert_eq!(reading(9, 2).since(&reading(4, 2)).processed, 5);
        let wrapped = reading(3, 2).since(&reading((1 << 32) - 4, 2));
        assert_eq!(wrapped.processed, 7, "one of them wrapped around");
        assert_eq!(reading(1, 1).since(&reading(4, 2)).processed, 0, "a CPU went away");
        assert!(SoftnetReading::now().is_some(), "every Linux has it");
    }
}
