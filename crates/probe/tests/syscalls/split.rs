//! Running and waiting, against the clocks of the program that runs and waits.

use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use libtest_mimic::Failed;
use probe::Probe;
use samples::{ProbeResults, SyscallCount};
use units::Nanos;

use crate::roles::{CALLS, GUEST, SPLIT};
use crate::tracers::{reads_its_input, until};
use crate::watched::{finish, observe, pids, probe_or_skip, seen, waiting};

/// What the program's clocks said of calls of a kind: from outside of the call, so a little more.
struct Told {
    wall: u64,
    cpu: u64,
}

/// Interrupts and a hypervisor take time from a thread that no clock of its own counts, more of it on a busy machine:
/// one of these attempts is not disturbed.
const ATTEMPTS: usize = 5;

pub(crate) fn split() -> Result<(), Failed> {
    let Some(mut probe) = probe_or_skip("the split") else { return Ok(()) };
    let mut off = Vec::new();
    for _ in 0..ATTEMPTS {
        off = split_once(&mut *probe);
        if off.is_empty() {
            return Ok(());
        }
    }
    Err(format!("{ATTEMPTS} times in a row: {off:#?}").into())
}

/// What was told apart wrongly.
fn split_once(probe: &mut dyn Probe) -> Vec<String> {
    let child = waiting(SPLIT, &[]);
    let pid = child.id();
    probe.start(&pids(&[pid])).expect("it could be loaded");
    let said = finish(child);
    let seen = seen(probe);
    [
        check("sleep", &told(&said, "sleep"), &longest(&seen, pid, &["nanosleep", "clock_nanosleep"])),
        check("futex", &told(&said, "futex"), &longest(&seen, pid, &["futex"])),
        check("random", &told(&said, "random"), &longest(&seen, pid, &["getrandom"])),
        check("pipe", &told(&said, "pipe"), &longest(&seen, pid, &["read"])),
    ]
    .concat()
}

/// A process that has slept since after the start, and one that waits since before it.
pub(crate) fn under_way() -> Result<(), Failed> {
    let Some(mut probe) = probe_or_skip("calls under way") else { return Ok(()) };
    let mut sleeper = Command::new("sh");
    let mut sleeper =
        sleeper.args(["-c", "read x; exec sleep 30"]).stdin(Stdio::piped()).spawn().expect("a shell");
    let before = waiting(CALLS, &["1"]);
    assert!([sleeper.id(), before.id()].iter().all(|pid| until(|| reads_its_input(*pid))), "both wait");
    probe.start(&pids(&[sleeper.id(), before.id()])).expect("it could be loaded");
    drop(sleeper.stdin.take());
    let deadline = Instant::now() + Duration::from_secs(20);
    let asleep = loop {
        let seen = seen(&mut *probe);
        assert!(!seen.syscalls.iter().any(|count| count.call.ends_with("nanosleep")), "{seen:#?}");
        let counts = seen.syscalls.iter().chain(&seen.under_way);
        assert!({ counts }.all(|count| count.pid != Some(before.id())), "{seen:#?}");
        let asleep = seen.under_way.into_iter().find(|count| count.call.ends_with("nanosleep"));
        match asleep {
            Some(asleep) if asleep.total > Some(Nanos::from_millis(200)) => break asleep,
            _ => assert!(Instant::now() < deadline, "sleep sleeps"),
        }
    };
    assert_eq!((asleep.calls, asleep.process.as_deref()), (0, Some("sleep")), "{asleep:?}");
    assert!(asleep.waiting > Some(Nanos::from_millis(150)), "{asleep:?}");
    sleeper.kill().expect("own child");
    sleeper.wait().expect("own child");
    let ended = seen(&mut *probe).syscalls.into_iter().find(|count| count.call.ends_with("nanosleep"));
    assert_eq!(ended.map(|count| count.calls), Some(1), "the signal has ended it");
    finish(before);
    Ok(())
}

/// Little guests, where the kernel runs any and has tracepoints for it.
pub(crate) fn guest() -> Result<(), Failed> {
    let Some(mut probe) = probe_or_skip("guest time") else { return Ok(()) };
    let seen = observe(&mut *probe, GUEST, &[]);
    let Some(run) = seen.syscalls.iter().find(|count| count.call == "ioctl" && count.guest.is_some()) else {
        println!("skipped: guest time: no guest was seen to run here");
        return Ok(());
    };
    assert!(run.guest > Some(Nanos(0)) && run.guest < run.total, "{run:?}");
    assert_eq!(run.thread.as_deref(), Some("kvm-probe"));
    Ok(())
}

fn told(said: &str, kind: &str) -> Told {
    let line = said.lines().find(|line| line.starts_with(kind)).expect("it tells every kind");
    let number = |place| line.split(' ').nth(place).and_then(|text| text.parse().ok()).expect("a number");
    Told { wall: number(1), cpu: number(2) }
}

/// The count of the first thread.
fn longest(seen: &ProbeResults, pid: u32, names: &[&str]) -> SyscallCount {
    let mut counts =
        seen.syscalls.iter().filter(|count| count.tid == Some(pid) && names.contains(&count.call.as_str()));
    counts.next().unwrap_or_else(|| panic!("no {names:?}: {:#?}", seen.syscalls)).clone()
}

/// What is not within 5 % of the whole, which is what the program does around its calls.
fn check(kind: &str, told: &Told, count: &SyscallCount) -> Vec<String> {
    let nanos = |part: Option<Nanos>| part.expect("measured").0;
    let (total, running, waiting) = (nanos(count.total), nanos(count.running), nanos(count.waiting));
    println!(
        "{kind}: told {} ns, {} on a CPU; counted {total}, {running} running, {waiting} waiting",
        told.wall, told.cpu
    );
    let off = |part: &str, is: u64, was: u64| {
        let off = is.abs_diff(was) > told.wall / 20;
        off.then(|| format!("{kind}: {part} is {is} ns and was {was}"))
    };
    let waited = told.wall.saturating_sub(told.cpu);
    let parts =
        [off("total", total, told.wall), off("running", running, told.cpu), off("waiting", waiting, waited)];
    parts.into_iter().flatten().collect()
}
