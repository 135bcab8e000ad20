//! Tests with exited processes, two tracers, and a killed tracer.

use std::collections::BTreeSet;
use std::io::{BufRead, BufReader};
use std::time::{Duration, Instant};

use aya::programs::loaded_programs;
use libtest_mimic::Failed;

use crate::roles::{CALLS, TRACE};
use crate::watched::{calls, finish, observe, pids, probe_or_skip, seen, waiting};

pub(crate) fn no_such_process() -> Result<(), Failed> {
    let Some(mut probe) = probe_or_skip("a process that ended") else { return Ok(()) };
    let child = waiting(CALLS, &["10"]);
    let gone = child.id();
    finish(child);
    probe.start(&pids(&[gone, 4_000_000_000])).expect("no error");
    assert!(seen(&mut *probe).syscalls.is_empty());
    let ends = waiting(CALLS, &["40"]);
    probe.start(&pids(&[gone, ends.id()])).expect("no error");
    finish(ends);
    assert_eq!(calls(&seen(&mut *probe), "getppid"), 40, "its calls remain after it has exited");
    Ok(())
}

pub(crate) fn two_at_once() -> Result<(), Failed> {
    let (Some(mut first), Some(mut second)) = (probe_or_skip("two probes"), probe_or_skip("two probes"))
    else {
        return Ok(());
    };
    let child = waiting(CALLS, &["3000"]);
    let watch = pids(&[child.id()]);
    first.start(&watch).expect("loaded");
    second.start(&watch).expect("loaded");
    finish(child);
    for probe in [&mut first, &mut second] {
        assert_eq!(calls(&seen(&mut **probe), "getppid"), 3000);
    }
    drop(second);
    assert_eq!(calls(&observe(&mut *first, CALLS, &["50"]), "getppid"), 50, "unaffected by the other");
    Ok(())
}

pub(crate) fn killed() -> Result<(), Failed> {
    if probe_or_skip("a killed tracer").is_none() {
        return Ok(());
    }
    let watched = waiting(CALLS, &["100"]);
    let mut tracer = waiting(TRACE, &[&watched.id().to_string()]);
    let lines = BufReader::new(tracer.stdout.take().expect("piped")).lines();
    let lines = lines.map(|line| line.expect("text")).take_while(|line| line != "ready");
    let own: BTreeSet<u32> = lines.map(|line| line.parse().expect("program id")).collect();
    assert!(own.len() >= 5, "{own:?}");
    assert!(own.is_subset(&programs()), "loaded");
    tracer.kill().expect("own child");
    tracer.wait().expect("own child");
    let until = Instant::now() + Duration::from_secs(20);
    while !own.is_disjoint(&programs()) {
        assert!(Instant::now() < until, "still loaded: {:?}", own.intersection(&programs()));
        std::thread::sleep(Duration::from_millis(20));
    }
    finish(watched);
    Ok(())
}

fn programs() -> BTreeSet<u32> {
    loaded_programs().filter_map(Result::ok).map(|program| program.id()).collect()
}
