//! A process among hostile peers. It must not panic, must stay within a memory limit, and must exit on Ctrl-C.

use std::{
    cell::{Cell, RefCell},
    collections::BTreeMap,
    fs,
    process::Command,
    time::{Duration, Instant},
};

use crate::{ProcessGuard, Sandbox, processes, signal, wait_until};

const PATIENCE: Duration = Duration::from_secs(60);

#[derive(Debug, Clone, Copy)]
pub struct Limits {
    pub memory_kib: u64,
    /// The maximum time from Ctrl-C to the exit, not counting the time spent waiting for a CPU.
    pub end: Duration,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Taken {
    pub memory_kib: u64,
    pub end: Duration,
}

/// Interrupts the process when `is_enough` is true or the time is up. Panics if the process exceeds a limit,
/// panics, or leaves another process behind.
#[track_caller]
pub fn stays_bounded(
    sandbox: &Sandbox,
    mut command: Command,
    limits: Limits,
    lasts: Duration,
    is_enough: impl Fn() -> bool,
) -> Result<Taken, String> {
    let log = sandbox.home().join("log");
    let file = fs::File::create(&log).expect("own file");
    command.stdout(file.try_clone().expect("a copy")).stderr(file);
    let process = RefCell::new(ProcessGuard(command.spawn().expect("plumb was built")));
    let pid = process.borrow().0.id();
    let has_ended = || process.borrow_mut().0.try_wait().expect("it was started").is_some();
    let memory = Cell::new(0);
    let look = || {
        let peaks = processes(sandbox).into_iter().map(peak);
        memory.set(peaks.chain([memory.get()]).max().unwrap_or(0));
    };
    let _ = wait_until(lasts, || {
        look();
        memory.get() > limits.memory_kib || is_enough() || has_ended()
    });
    let mut end = Duration::ZERO;
    if !has_ended() {
        let (begun, before) = (Instant::now(), cpu_waits(pid));
        let waited = Cell::new(Duration::ZERO);
        signal(pid, "INT");
        let ended = wait_until(PATIENCE, || {
            look();
            for (thread, wait) in cpu_waits(pid) {
                let more = wait.saturating_sub(before.get(&thread).copied().unwrap_or_default());
                waited.set(waited.get().max(more));
            }
            has_ended()
        });
        end = begun.elapsed().saturating_sub(waited.get());
        if !ended || end > limits.end {
            return Err(format!("Ctrl-C takes {end:?}{}", if ended { "" } else { " and more" }));
        }
    }
    let text = String::from_utf8_lossy(&fs::read(&log).unwrap_or_default()).into_owned();
    let memory_kib = memory.get();
    if memory_kib > limits.memory_kib {
        return Err(format!("{memory_kib} KiB of memory, more than {}", limits.memory_kib));
    }
    // A member reconnects forever, so its log must stay short.
    if text.contains("panicked") || text.contains('\x1b') || text.lines().count() > 500 {
        return Err(format!("{} lines: {text:.3000}", text.lines().count()));
    }
    match wait_until(PATIENCE, || processes(sandbox).is_empty()) {
        true => Ok(Taken { memory_kib, end }),
        false => Err(format!("left behind: {:?}", processes(sandbox))),
    }
}

fn peak(pid: u32) -> u64 {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    line.and_then(|line| line.trim().trim_end_matches(" kB").parse().ok()).unwrap_or(0)
}

/// Returns how long each thread was runnable without a CPU (Documentation/scheduler/sched-stats.rst).
fn cpu_waits(pid: u32) -> BTreeMap<String, Duration> {
    let tasks = fs::read_dir(format!("/proc/{pid}/task")).into_iter().flatten().filter_map(Result::ok);
    let wait = |task: fs::DirEntry| {
        let text = fs::read_to_string(task.path().join("schedstat")).ok()?;
        let nanos = text.split_whitespace().nth(1)?.parse().ok()?;
        Some((task.file_name().to_string_lossy().into_owned(), Duration::from_nanos(nanos)))
    };
    tasks.filter_map(wait).collect()
}
