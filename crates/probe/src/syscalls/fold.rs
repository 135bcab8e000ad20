//! Merges the counts of threads that have equal names within a process. Performs no I/O.

use std::collections::HashMap;

use samples::{CallTimes, SyscallCount};
use units::{Bytes, Nanos};

/// Returns the counts unchanged if there are few. Otherwise merges all threads of a process by call and name,
/// and sorts by total time, longest first.
pub(super) fn fold(counts: Vec<SyscallCount>, most: usize) -> Vec<SyscallCount> {
    if counts.len() <= most {
        return counts;
    }
    let mut folded: Vec<SyscallCount> = Vec::new();
    let mut places = HashMap::new();
    for count in counts {
        let key = (count.pid, count.thread.clone(), count.call.clone(), count.end.clone());
        match places.get(&key) {
            Some(place) => add(&mut folded[*place], &count),
            None => {
                places.insert(key, folded.len());
                folded.push(count);
            }
        }
    }
    folded.sort_by(|a, b| b.total.cmp(&a.total).then_with(|| (a.pid, &a.call).cmp(&(b.pid, &b.call))));
    folded
}

fn add(sum: &mut SyscallCount, one: &SyscallCount) {
    sum.tid = None;
    sum.calls += one.calls;
    sum.errors = either(sum.errors, one.errors, |a, b| a + b);
    for (sum, one) in [
        (&mut sum.total, one.total),
        (&mut sum.running, one.running),
        (&mut sum.waiting, one.waiting),
        (&mut sum.guest, one.guest),
    ] {
        *sum = either(*sum, one, |a: Nanos, b: Nanos| a + b);
    }
    sum.bytes = either(sum.bytes, one.bytes, |a, b| Bytes(a.0 + b.0));
    add_times(&mut sum.times, &one.times);
}

fn either<T>(a: Option<T>, b: Option<T>, add: impl Fn(T, T) -> T) -> Option<T> {
    match (a, b) {
        (Some(a), Some(b)) => Some(add(a, b)),
        (a, b) => a.or(b),
    }
}

fn add_times(sum: &mut CallTimes, one: &CallTimes) {
    if sum.0.len() < one.0.len() {
        sum.0.resize(one.0.len(), 0);
    }
    for (sum, one) in sum.0.iter_mut().zip(&one.0) {
        *sum += one;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn count(tid: u32, thread: &str, total: u64) -> SyscallCount {
        SyscallCount {
            pid: Some(7),
            tid: Some(tid),
            thread: Some(thread.to_owned()),
            call: "read".to_owned(),
            calls: 2,
            errors: Some(1),
            total: Some(Nanos(total)),
            bytes: Some(Bytes(10)),
            times: CallTimes(vec![0; tid as usize]),
            ..SyscallCount::default()
        }
    }

    #[test]
    fn merges_equal_names_without_losses() {
        let all = vec![count(1, "a", 50), count(2, "b", 40), count(3, "b", 30), count(4, "b", 20)];
        assert_eq!(fold(all.clone(), 4), all);
        let folded = fold(all, 3);
        let index: Vec<_> =
            folded.iter().map(|one| (one.thread.as_deref(), one.tid, one.calls, one.total)).collect();
        assert_eq!(index, [(Some("b"), None, 6, Some(Nanos(90))), (Some("a"), Some(1), 2, Some(Nanos(50)))]);
        assert_eq!((folded[0].errors, folded[0].bytes), (Some(3), Some(Bytes(30))));
        assert_eq!((folded[0].guest, folded[0].times.0.len()), (None, 4));
    }
}
