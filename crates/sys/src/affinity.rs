//! CPU affinity of threads.

use rustix::{
    process::Pid,
    thread::{CpuSet, sched_getaffinity, sched_setaffinity},
};

use crate::error::{Context, Error, Result};

#[must_use]
pub fn available() -> Vec<u32> {
    sched_getaffinity(None).map(|set| list(&set)).unwrap_or_default()
}

#[must_use]
pub fn current_cpu() -> u32 {
    u32::try_from(rustix::thread::sched_getcpu()).unwrap_or(0)
}

/// Pins the calling thread and any threads it starts later. On failure, nothing changes.
pub fn pin_thread(cpus: &[u32]) -> Result<()> {
    bind(None, cpus)
}

pub fn pin(thread: u32, cpus: &[u32]) -> Result<()> {
    let known = i32::try_from(thread).ok().and_then(Pid::from_raw);
    let known = known.ok_or_else(|| Error::new(PIN, format!("CPUs {cpus:?}"), libc::ESRCH))?;
    bind(Some(known), cpus)
}

fn bind(thread: Option<Pid>, cpus: &[u32]) -> Result<()> {
    let object = || format!("CPUs {cpus:?}");
    let wanted = set_of(cpus).ok_or_else(|| Error::new(PIN, object(), libc::EINVAL))?;
    let before = sched_getaffinity(thread).named(PIN, object)?;
    sched_setaffinity(thread, &wanted).named(PIN, object)?;
    // The kernel silently ignores nonexistent CPUs. Treat them as an error.
    if sched_getaffinity(thread) != Ok(wanted) {
        sched_setaffinity(thread, &before).named("restore CPUs of", || "the thread")?;
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

    fn check(work: impl FnOnce() + Send) {
        std::thread::scope(|scope| scope.spawn(work).join().expect("no panic"));
    }

    #[test]
    fn pinned_thread_runs_only_on_its_cpus() {
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
    fn pins_another_thread_by_id() {
        let (to_us, number) = std::sync::mpsc::channel();
        let (release, released) = std::sync::mpsc::channel::<()>();
        let other = std::thread::spawn(move || {
            to_us.send(rustix::thread::gettid().as_raw_nonzero().get().cast_unsigned()).expect("awaited");
            let _ = released.recv();
            available()
        });
        let last = *available().last().expect("at least one");
        pin(number.recv().expect("the thread id"), &[last]).expect("an available CPU");
        drop(release);
        assert_eq!(other.join().expect("no panic"), [last]);
        assert_eq!(pin(0, &[last]).expect_err("no thread").errno(), libc::ESRCH);
        assert_eq!(pin(u32::MAX, &[last]).expect_err("no thread").errno(), libc::ESRCH);
    }

    #[test]
    fn rejects_missing_cpu_without_changes() {
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
