//! Compares running and waiting time with the observed program's clocks.

use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use libtest_mimic::Failed;
use probe::Probe;
use samples::{ProbeResults, SyscallCount};
use units::Nanos;

use crate::roles::{CALLS, GUEST, SPLIT};
use crate::tracers::{reads_its_input, until};
use crate::watched::{finish, observe, pids, probe_or_skip, seen, waiting};

struct Reported {
    wall: u64,
    cpu: u64,
}

/// No thread clock includes the time taken by interrupts or the hypervisor, so tests are repeated.
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

fn split_once(probe: &mut dyn Probe) -> Vec<String> {
    let child = waiting(SPLIT, &[]);
    let pid = child.id();
    probe.start(&pids(&[pid])).expect("loaded");
    let output = finish(child);
    let seen = seen(probe);
    [
        check("sleep", &reported(&output, "sleep"), &longest(&seen, pid, &["nanosleep", "clock_nanosleep"])),
        check("futex", &reported(&output, "futex"), &longest(&seen, pid, &["futex"])),
        check("random", &reported(&output, "random"), &longest(&seen, pid, &["getrandom"])),
        check("pipe", &reported(&output, "pipe"), &longest(&seen, pid, &["read"])),
    ]
    .concat()
}

pub(crate) fn under_way() -> Result<(), Failed> {
    let Some(mut probe) = probe_or_skip("calls under way") else { return Ok(()) };
    let mut sleeper = Command::new("sh");
    let mut sleeper =
        sleeper.args(["-c", "read x; exec sleep 30"]).stdin(Stdio::piped()).spawn().expect("a shell");
    let before = waiting(CALLS, &["1"]);
    assert!([sleeper.id(), before.id()].iter().all(|pid| until(|| reads_its_input(*pid))), "both wait");
    probe.start(&pids(&[sleeper.id(), before.id()])).expect("loaded");
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
    assert_eq!(ended.map(|count| count.calls), Some(1), "ended by the signal");
    finish(before);
    Ok(())
}

pub(crate) fn guest() -> Result<(), Failed> {
    let Some(mut probe) = probe_or_skip("guest time") else { return Ok(()) };
    let seen = observe(&mut *probe, GUEST, &[]);
    let Some(run) = seen.syscalls.iter().find(|count| count.call == "ioctl" && count.guest.is_some()) else {
        println!("skipped: guest time: no guest ran here");
        return Ok(());
    };
    assert!(run.guest > Some(Nanos(0)) && run.guest < run.total, "{run:?}");
    assert_eq!(run.thread.as_deref(), Some("kvm-probe"));
    Ok(())
}

fn reported(output: &str, kind: &str) -> Reported {
    let line = output.lines().find(|line| line.starts_with(kind)).expect("prints every kind");
    let number = |place| line.split(' ').nth(place).and_then(|text| text.parse().ok()).expect("a number");
    Reported { wall: number(1), cpu: number(2) }
}

fn longest(seen: &ProbeResults, pid: u32, names: &[&str]) -> SyscallCount {
    let mut counts =
        seen.syscalls.iter().filter(|count| count.tid == Some(pid) && names.contains(&count.call.as_str()));
    counts.next().unwrap_or_else(|| panic!("no {names:?}: {:#?}", seen.syscalls)).clone()
}

/// Reports differences of more than 5 % of the total. The program's own work around its calls causes smaller ones.
fn check(kind: &str, reported: &Reported, count: &SyscallCount) -> Vec<String> {
    let nanos = |part: Option<Nanos>| part.expect("measured").0;
    let (total, running, waiting) = (nanos(count.total), nanos(count.running), nanos(count.waiting));
    println!(
        "{kind}: reported {} ns, {} on a CPU; counted {total}, {running} running, {waiting} waiting",
        reported.wall, reported.cpu
    );
    let off = |part: &str, is: u64, was: u64| {
        let off = is.abs_diff(was) > reported.wall / 20;
        off.then(|| format!("{kind}: {part} is {is} ns instead of {was}"))
    };
    let waited = reported.wall.saturating_sub(reported.cpu);
    let parts = [
        off("total", total, reported.wall),
        off("running", running, reported.cpu),
        off("waiting", waiting, waited),
    ];
    parts.into_iter().flatten().collect()
}
