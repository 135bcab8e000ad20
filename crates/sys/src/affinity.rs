//! Which CPUs a thread may run on.
//!
//! It must not know why a placement is wanted. See sched_setaffinity(2).

use rustix::thread::CpuSet;

use crate::error::{Context, Error, Result};

/// The CPUs that the calling thread may run on, ascending; empty only if the kernel would not tell.
#[must_use]
pub fn available() -> Vec<u32> {
    rustix::thread::sched_getaffinity(None).map(|set| list(&set)).unwrap_or_default()
}

/// The CPU that the calling thread runs on at this moment: getcpu(2), which is no system call where the
/// kernel maps it into the process.
#[must_use]
pub fn current_cpu() -> u32 {
    u32::try_from(rustix::thread::sched_getcpu()).unwrap_or(0)
}

/// Binds the calling thread, and threads that it starts later, to exactly `cpus`; on an error nothing has
/// changed.
pub fn pin_thread(cpus: &[u32]) -> Result<()> {
    let object = || format!("CPUs {cpus:?}");
    let wanted = set_of(cpus).ok_or_else(|| Error::new(PIN, object(), libc::EINVAL))?;
    let before = rustix::thread::sched_getaffinity(None).named(PIN, object)?;
    rustix::thread::sched_setaffinity(None, &wanted).named(PIN, object)?;
    // The kernel drops CPUs that it does not have without a word; a placement must not shrink silently.
    if rustix::thread::sched_getaffinity(None) != Ok(wanted) {
        rustix::thread::sched_setaffinity(None, &before).named("restore CPUs of", || "the thread")?;
        let hint = format!("the thread may run on {:?}", list(&before));
        return Err(Error::new(PIN, object(), libc::EINVAL).with_hint(hint));
    }
    Ok(())
}

const PIN: &str = "pin thread to";

fn set_of(cpus: &[u32]) -> Option<CpuSet> {
    let mut set = CpuSet::new();
    for cpu in cpus {
        set.set(usize::try_from(*cpu).ok().filter(|cpu| *cpu < CpuSet::MAX_CPU)?);
    }
    Some(set)
}

fn list(set: &CpuSet) -> Vec<u32> {
    (0..CpuSet::MAX_CPU).filter(|cpu| set.is_set(*cpu)).filter_map(|cpu| u32::try_from(cpu).ok()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// On a thread of its own, because the harness may use this one again.
    fn check(work: impl FnOnce() + Send) {
        std::thread::scope(|scope| scope.spawn(work).join().expect("no panic"));
    }

    #[test]
    fn a_pinned_thread_runs_only_where_it_was_pinned() {
        check(|| {
            for cpu in available() {
                let pinned_from_all = std::thread::scope(|scope| {
                    let thread = scope.spawn(move || {
                        pin_thread(&[cpu]).expect("an available CPU");
                        (available(), current_cpu())
                    });
                    thread.join().expect("no panic")
                });
                assert_eq!(pinned_from_all, (vec![cpu], cpu));
            }
        });
    }

    #[test]
    fn a_cpu_that_does_not_exist_is_refused_and_changes_nothing() {
        check(|| {
            let before = available();
            for wrong in [vec![before[0], 1023], vec![1023], vec![before[0], 4_000_000], vec![]] {
                let error = pin_thread(&wrong).expect_err("not available");
                assert_eq!(error.errno(), libc::EINVAL, "{wrong:?}");
                assert_eq!(available(), before, "{wrong:?}");
            }
        });
    }
}
