//! Measures the progress of processes with standard kernel counters, to compare slices with pauses.

use std::{collections::BTreeSet, fs};

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Progress {
    pub(super) cpu: u64,
    pub(super) moved: u64,
}

impl Progress {
    pub(super) fn of(threads: impl Iterator<Item = (u32, u32)>) -> Self {
        let mut processes = BTreeSet::new();
        let mut sum = Self::default();
        for (tid, pid) in threads {
            processes.insert(pid);
            sum.cpu += cpu(&read(&format!("/proc/{tid}/schedstat")));
        }
        sum.moved = processes.iter().map(|pid| moved(&read(&format!("/proc/{pid}/io")))).sum();
        sum
    }

    /// Ignores threads that ended in between.
    pub(super) fn since(&self, before: &Self) -> (u64, u64) {
        (self.cpu.saturating_sub(before.cpu), self.moved.saturating_sub(before.moved))
    }
}

fn read(path: &str) -> String {
    fs::read_to_string(path).unwrap_or_default()
}

fn cpu(text: &str) -> u64 {
    text.split_whitespace().next().and_then(|word| word.parse().ok()).unwrap_or_default()
}

fn moved(text: &str) -> u64 {
    let of = |name: &str| {
        let value = text.lines().find_map(|line| line.strip_prefix(name))?.trim();
        value.parse::<u64>().ok()
    };
    ["syscr:", "syscw:"].into_iter().filter_map(of).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_and_writes_count_as_progress() {
        assert_eq!(moved("rchar: 9\nwchar: 9\nsyscr: 5\nsyscw: 7\n"), 12);
        assert_eq!((moved(""), cpu(""), cpu("123 4 5\n")), (0, 0, 123));
        let own = || Progress::of([(std::process::id(), std::process::id())].into_iter());
        let before = own();
        for _ in 0..50 {
            let _ = fs::read("/proc/self/comm");
        }
        assert!(own().since(&before).1 >= 50, "{before:?}");
    }
}
