//! What the backlog queues of the machine's CPUs counted, as the difference of two readings of /proc/net/softnet_stat
//! (`softnet_seq_show` in net/core/net-procfs.c): one line a CPU, columns in hexadecimal. The queues belong to the CPUs,
//! so that every namespace shows the same numbers.

use std::fs;

use samples::SoftnetCounters;

const FILE: &str = "/proc/net/softnet_stat";

/// A reading of the backlog queues.
#[derive(Debug, Clone, Copy)]
pub struct SoftnetReading(SoftnetCounters);

impl SoftnetReading {
    /// Reads them now; `None` where the kernel does not show them.
    #[must_use]
    pub fn now() -> Option<Self> {
        fs::read_to_string(FILE).ok().and_then(|text| read(&text)).map(Self)
    }

    /// What was counted since an earlier reading.
    #[must_use]
    pub fn since(&self, earlier: &Self) -> SoftnetCounters {
        // The kernel counts in 32 bits for each CPU; where one wraps around, less was counted than it seems.
        let passed = |now: u64, then: u64| now.saturating_sub(then);
        SoftnetCounters {
            processed: passed(self.0.processed, earlier.0.processed),
            dropped: passed(self.0.dropped, earlier.0.dropped),
            squeezed: passed(self.0.squeezed, earlier.0.squeezed),
        }
    }
}

/// The sum over all CPUs; `None` when a line is none.
fn read(text: &str) -> Option<SoftnetCounters> {
    let mut sum = SoftnetCounters::default();
    for line in text.lines() {
        let mut columns = line.split_whitespace().map(|column| u64::from_str_radix(column, 16).ok());
        let mut next = || columns.next().flatten();
        sum.processed += next()?;
        sum.dropped += next()?;
        sum.squeezed += next()?;
    }
    Some(sum)
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
        assert_eq!(read, SoftnetCounters { processed: 0x1_0000, dropped: 3, squeezed: 17 });
    }

    #[test]
    fn what_is_no_such_file_is_no_reading() {
        for text in ["0000ffff 00000002", "lunch 1 2", "0000ffff zz 00000010"] {
            assert_eq!(read(text), None, "{text}");
        }
    }

    #[test]
    fn what_passed_is_never_less_than_nothing() {
        let reading = |processed| SoftnetReading(SoftnetCounters { processed, ..SoftnetCounters::default() });
        assert_eq!(reading(9).since(&reading(4)).processed, 5);
        assert_eq!(reading(1).since(&reading(4)).processed, 0, "it wrapped around");
        assert!(SoftnetReading::now().is_some(), "every Linux has it");
    }
}
