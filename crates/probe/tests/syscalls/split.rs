//! Running and waiting, against the clocks of the program that runs and waits.

use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use libtest_mimic::Failed;
use samples::{Observed, SyscallCount};
use units::Nanos;

use crate::roles::{CALLS, GUEST, SPLIT};
use crate::watched::{finish, observe, pids, probe_or_skip, seen, waiting};

/// What the program's clocks said of calls of a kind: from outside of the call, so a little more.
struct Told {
    wall: u64,
    cpu: u64,
}

pub(crate) fn split() -> Result<(), Failed> {
    let Some(mut probe) = probe_or_skip("the split") else { return Ok(()) };
    let child = waiting(SPLIT, &[]);
    let pid = child.id();
    probe.start(&pids(&[pid])).expect("it could be loaded");
    let said = finish(child);
    let seen = seen(&mut *probe);
    let call = |kind: &str, names: &[&str]| {
        let told = told(&said, kind);
        check(kind, &told, &longest(&seen, pid, names));
    };
    call("sleep", &["nanosleep", "clock_nanosleep"]);
    call("futex", &["futex"]);
    // Reads of the device and of the pipe are of one kind; so are their clocks.
    let (random, pipe) = (told(&said, "random"), told(&said, "pipe"));
    let both = Told { wall: random.wall + pipe.wall, cpu: random.cpu + pipe.cpu };
    check("read", &both, &longest(&seen, pid, &["read"]));
    Ok(())
}

/// A process that has slept since after the start, and one that waits since before it.
pub(crate) fn under_way() -> Result<(), Failed> {
    let Some(mut probe) = probe_or_skip("calls under way") else { return Ok(()) };
    let mut sleeper = Command::new("sh");
    let mut sleeper =
        sleeper.args(["-c", "read x; exec sleep 30"]).stdin(Stdio::piped()).spawn().expect("a shell");
    let before = waiting(CALLS, &["1"]);
    std::thread::sleep(Duration::from_millis(100));
    probe.start(&pids(&[sleeper.id(), before.id()])).expect("it could be loaded");
    drop(sleeper.stdin.take());
    let until = Instant::now() + Duration::from_secs(20);
    let asleep = loop {
        let seen = seen(&mut *probe);
        assert!(!seen.syscalls.iter().any(|count| count.call.ends_with("nanosleep")), "{seen:#?}");
        let counts = seen.syscalls.iter().chain(&seen.under_way);
        assert!({ counts }.all(|count| count.pid != Some(before.id())), "{seen:#?}");
        let asleep = seen.under_way.into_iter().find(|count| count.call.ends_with("nanosleep"));
        match asleep {
            Some(asleep) if asleep.total > Some(Nanos::from_millis(50)) => break asleep,
            _ => assert!(Instant::now() < until, "sleep sleeps"),
        }
    };
    assert_eq!((asleep.calls, asleep.process.as_deref()), (0, Some("sleep")), "{asleep:?}");
    assert!(asleep.waiting > Some(Nanos::from_millis(45)), "{asleep:?}");
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
fn longest(seen: &Observed, pid: u32, names: &[&str]) -> SyscallCount {
    let mut counts =
        seen.syscalls.iter().filter(|count| count.tid == Some(pid) && names.contains(&count.call.as_str()));
    counts.next().unwrap_or_else(|| panic!("no {names:?}: {:#?}", seen.syscalls)).clone()
}

/// To within 5 % of the whole, which is what the program does around its calls.
fn check(kind: &str, told: &Told, count: &SyscallCount) {
    let nanos = |part: Option<Nanos>| part.expect("measured").0;
    let (total, running, waiting) = (nanos(count.total), nanos(count.running), nanos(count.waiting));
    println!(
        "{kind}: told {} ns, {} on a CPU; counted {total}, {running} running, {waiting} waiting",
        told.wall, told.cpu
    );
    let near = |a: u64, b: u64| a.abs_diff(b) <= told.wall / 20;
    assert!(near(total, told.wall), "{kind}: total {count:?}");
    assert!(near(running, told.cpu), "{kind}: running {count:?}");
    assert!(near(waiting, told.wall - told.cpu), "{kind}: waiting {count:?}");
}
