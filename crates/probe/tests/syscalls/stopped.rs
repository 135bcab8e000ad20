//! Compares the ptrace probe with programs' own counts and with strace.

use std::{
    io::{Read, Write},
    process::{Child, Command, Stdio},
    thread,
    time::Duration,
};

use libtest_mimic::Failed;
use probe::{Probe, ProbeError, Slices, ptrace_counter};

use crate::{
    roles::{CALLS, COME_AND_GO, KNOWN, KNOWN_CALLS},
    tracers::{Table, begin, end, of_strace, ours, reads_its_input, status, stop, table, until},
    watched::{calls, go, pids, seen, sum, waiting},
};

type Done = Result<(), Failed>;

/// The number of these calls depends on timing, because of lock contention and the reuse of freed memory.
const BY_CHANCE: [&str; 6] = ["futex", "read", "restart_syscall", "sched_yield", "mmap", "munmap"];

fn whole() -> Box<dyn Probe> {
    ptrace_counter(None)
}

fn finish(mut child: Child) {
    go(&mut child);
    let mut output = Vec::new();
    child.stdout.take().expect("piped").read_to_end(&mut output).expect("readable");
    assert!(until(|| status(child.id(), "State").is_none_or(|it| it.starts_with('Z'))), "it ends");
    let _ = child.wait();
}

fn started(probe: &mut dyn Probe, pid: u32) -> bool {
    match probe.start(&pids(&[pid])) {
        Ok(()) => true,
        Err(ProbeError::Unavailable { reason, .. }) => {
            println!("skipped: {reason}");
            false
        }
        Err(error) => panic!("{error}"),
    }
}

pub(crate) fn counts() -> Done {
    let (mut probe, child) = (whole(), waiting(KNOWN, &[]));
    if !started(&mut *probe, child.id()) {
        finish(child);
        return Ok(());
    }
    finish(child);
    let seen = seen(&mut *probe);
    let [first, thread, own] = KNOWN_CALLS;
    assert_eq!(calls(&seen, "getppid"), first + 4 * thread + 3 * own, "follows threads and children");
    assert_eq!(sum(&seen, "write", |count| count.bytes.map_or(0, |bytes| bytes.0)), 50_000);
    let failed = |call| sum(&seen, call, |count| count.errors.unwrap_or(0));
    assert_eq!(failed("open") + failed("openat"), 50);
    let callers = seen.syscalls.iter().filter(|count| count.call == "getppid");
    assert_eq!(callers.clone().count(), 8, "five threads and three children");
    let names: Vec<_> = callers.filter_map(|count| count.thread.as_deref()).collect();
    assert!((0..4).all(|n| names.contains(&format!("caller {n}").as_str())), "{names:?}");
    for count in &seen.syscalls {
        assert_eq!((count.running, count.waiting), (None, None), "not visible from outside");
        assert_eq!(count.times.0.iter().sum::<u64>(), count.calls, "{count:?}");
    }
    let ptrace = seen.ptrace.expect("reports its overhead");
    assert!(ptrace.counted.0 > 0 && ptrace.stopped.0 > 0 && ptrace.slices.is_empty(), "{ptrace:?}");
    Ok(())
}

fn at_its_gate() -> Child {
    let child = waiting(KNOWN, &[]);
    assert!(until(|| reads_its_input(child.id())), "waits for input");
    child
}

pub(crate) fn strace() -> Done {
    let (mut probe, child) = (whole(), at_its_gate());
    let mut strace = Command::new("strace");
    strace.args(["-c", "-f", "-U", "name,calls,errors", "-p", &child.id().to_string()]);
    let Some(tracer) = begin(strace, "strace") else {
        finish(child);
        return Ok(());
    };
    if !until(|| status(child.id(), "TracerPid").is_some_and(|tracer| tracer != "0")) {
        println!("skipped: strace: it may not trace here");
        stop(tracer);
        finish(child);
        return Ok(());
    }
    let error = probe.start(&pids(&[child.id()])).expect_err("a process has only one tracer").to_string();
    assert!(error.contains("is already tracing it"), "{error}");
    finish(child);
    let ptrace = by_design(table(&end(tracer), of_strace));
    let child = at_its_gate();
    assert!(started(&mut *probe, child.id()), "strace could");
    finish(child);
    assert!(ptrace.len() > 5, "{ptrace:?}");
    assert_eq!(ptrace, by_design(ours(&mut *probe, |_| true)));
    Ok(())
}

fn by_design(mut table: Table) -> Table {
    table.retain(|call, _| !BY_CHANCE.contains(&call.as_str()));
    table
}

pub(crate) fn come_and_go() -> Done {
    let (mut probe, child) = (whole(), waiting(COME_AND_GO, &["200"]));
    if started(&mut *probe, child.id()) {
        finish(child);
        let seen = seen(&mut *probe);
        let count = calls(&seen, "getppid");
        assert!(count == 2000, "each thread makes ten: {count}");
    } else {
        finish(child);
    }
    Ok(())
}

fn copier() -> Child {
    let mut command = Command::new("cat");
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("coreutils")
}

pub(crate) fn let_go() -> Done {
    let mut probe = ptrace_counter(Some(Slices {
        counting: Duration::from_millis(60),
        resting: Duration::from_millis(60),
    }));
    let mut child = copier();
    if !started(&mut *probe, child.id()) {
        let _ = child.kill();
        let _ = child.wait();
        return Ok(());
    }
    let (mut to, mut from) = (child.stdin.take().expect("piped"), child.stdout.take().expect("piped"));
    let mut echo = |times: usize| {
        for _ in 0..times {
            to.write_all(b"x").expect("it reads");
            from.read_exact(&mut [0]).expect("it writes");
            thread::sleep(Duration::from_millis(1));
        }
    };
    let watcher = status(child.id(), "TracerPid");
    assert!(watcher.is_some_and(|tracer| tracer != "0"), "traced");
    echo(600);
    probe.stop();
    assert_eq!(status(child.id(), "TracerPid").as_deref(), Some("0"), "no longer traced");
    echo(10);
    let seen = seen(&mut *probe);
    let ptrace = seen.ptrace.clone().expect("reports its overhead");
    assert!(ptrace.slices.windows(2).all(|two| two[0].counting != two[1].counting), "{ptrace:?}");
    assert!(ptrace.slices.len() >= 4 && ptrace.slices.iter().any(|slice| slice.io_calls > 10), "{ptrace:?}");
    let counted = calls(&seen, "write");
    assert!((20..600).contains(&counted), "calls of slices but not of pauses: {counted}");
    drop(to);
    assert!(child.wait()?.success(), "exits as if untraced");
    Ok(())
}

pub(crate) fn signals() -> Done {
    let (mut probe, mut child) = (whole(), copier());
    if started(&mut *probe, child.id()) {
        let kill = |name: &str| {
            let done = Command::new("kill").args(["-s", name, &child.id().to_string()]).status();
            assert!(done.is_ok_and(|status| status.success()));
        };
        let state =
            |wanted: &str| until(|| status(child.id(), "State").is_some_and(|it| it.starts_with(wanted)));
        kill("STOP");
        // The program is stopped while it is being traced, and stays stopped afterwards.
        assert!(state("t") || state("T"), "{:?}", status(child.id(), "State"));
        probe.stop();
        assert!(state("T"), "{:?}", status(child.id(), "State"));
        kill("CONT");
        assert!(state("S"), "{:?}", status(child.id(), "State"));
        assert!(started(&mut *probe, child.id()));
        kill("TERM");
    } else {
        child.kill()?;
    }
    assert!(until(|| status(child.id(), "State").is_none_or(|it| it.starts_with('Z'))), "delivered");
    let _ = child.wait();
    Ok(())
}

pub(crate) fn no_such_process() -> Done {
    let mut child = waiting(CALLS, &["1"]);
    go(&mut child);
    let pid = child.id();
    child.wait()?;
    let mut probe = whole();
    assert!(started(&mut *probe, pid), "an exited process makes no calls");
    assert_eq!(calls(&seen(&mut *probe), "getppid"), 0);
    probe.stop();
    Ok(())
}
