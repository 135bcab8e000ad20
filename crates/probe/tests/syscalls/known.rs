//! Compares counts, names and start times with the observed program's own data.

use libtest_mimic::Failed;

use crate::roles::{CALLS, KNOWN, KNOWN_CALLS};
use crate::watched::{calls, go, observe, pids, probe_or_skip, seen, sum, waiting};

type Done = Result<(), Failed>;

pub(crate) fn counts() -> Done {
    let Some(mut probe) = probe_or_skip("exact counts") else { return Ok(()) };
    let seen = observe(&mut *probe, KNOWN, &[]);
    let [first, thread, child] = KNOWN_CALLS;
    assert_eq!(calls(&seen, "getppid"), first + 4 * thread + 3 * child);
    assert_eq!(sum(&seen, "getppid", |count| count.errors.unwrap_or(1)), 0);
    let (reads, writes) = (300, 500);
    let exactly = |call: &str, times: u64, each: u64| {
        let bytes = sum(&seen, call, |count| count.bytes.map_or(0, |bytes| bytes.0));
        assert!(calls(&seen, call) >= times && bytes >= times * each, "{call}: {:#?}", seen.syscalls);
    };
    exactly("read", reads, 64);
    exactly("write", writes, 100);
    assert_eq!(sum(&seen, "write", |count| count.bytes.map_or(0, |bytes| bytes.0)), 50_000);
    let failed = |call| sum(&seen, call, |count| count.errors.unwrap_or(0));
    assert_eq!(failed("open") + failed("openat"), 50);
    assert!(seen.overflowed.is_empty(), "{:?}", seen.overflowed);
    for count in &seen.syscalls {
        let times: u64 = count.times.0.iter().sum();
        assert_eq!(times, count.calls, "{count:?}");
        let parts = [count.running, count.waiting, count.guest].into_iter().flatten();
        assert!(count.calls == 0 || Some(parts.sum()) == count.total, "{count:?}");
    }
    Ok(())
}

pub(crate) fn names() -> Done {
    let Some(mut probe) = probe_or_skip("names") else { return Ok(()) };
    let seen = observe(&mut *probe, KNOWN, &[]);
    let program = std::env::current_exe().expect("Linux");
    let program: String = program.file_name().expect("a file").to_string_lossy().chars().take(15).collect();
    let of_threads = |name: &str| {
        let mut found = seen
            .syscalls
            .iter()
            .filter(|count| count.call == "getppid" && count.thread.as_deref() == Some(name));
        let count = found.next().unwrap_or_else(|| panic!("no {name}: {:#?}", seen.syscalls));
        assert!(found.next().is_none(), "{name} is one thread");
        count.calls
    };
    for n in 0..4 {
        assert_eq!(of_threads(&format!("caller {n}")), KNOWN_CALLS[1]);
    }
    let processes: Vec<_> = seen.syscalls.iter().filter(|count| count.call == "getppid").collect();
    assert_eq!(processes.len(), 8, "five threads and three children");
    for count in &seen.syscalls {
        assert_eq!(count.process.as_deref(), Some(program.as_str()), "{count:?}");
        assert_eq!(count.end.as_deref(), Some("client"), "{count:?}");
    }
    Ok(())
}

pub(crate) fn starts_again() -> Done {
    let Some(mut probe) = probe_or_skip("a second start") else { return Ok(()) };
    for times in [700, 300] {
        let seen = observe(&mut *probe, CALLS, &[&times.to_string()]);
        assert_eq!(calls(&seen, "getppid"), times);
    }
    Ok(())
}

pub(crate) fn only_between() -> Done {
    let Some(mut probe) = probe_or_skip("start and stop") else { return Ok(()) };
    let own = pids(&[std::process::id()]);
    let call = |times| (0..times).for_each(|_| _ = std::hint::black_box(std::os::unix::process::parent_id()));
    let before = seen(&mut *probe);
    assert!(before.syscalls.is_empty(), "not started yet: {before:?}");
    call(100);
    probe.start(&own).expect("loaded");
    call(30);
    probe.stop();
    call(100);
    assert_eq!(calls(&seen(&mut *probe), "getppid"), 30);
    probe.start(&own).expect("loaded");
    assert_eq!(calls(&seen(&mut *probe), "getppid"), 0, "cleared");
    probe.stop();
    Ok(())
}

pub(crate) fn only_watched() -> Done {
    let Some(mut probe) = probe_or_skip("others") else { return Ok(()) };
    let (mut watched, mut other) = (waiting(CALLS, &["200"]), waiting(CALLS, &["5000"]));
    probe.start(&pids(&[watched.id()])).expect("loaded");
    for child in [&mut watched, &mut other] {
        go(child);
        child.wait().expect("own child");
    }
    let seen = seen(&mut *probe);
    assert_eq!(calls(&seen, "getppid"), 200);
    assert!(seen.syscalls.iter().all(|count| count.pid == Some(watched.id())), "{:#?}", seen.syscalls);
    Ok(())
}
