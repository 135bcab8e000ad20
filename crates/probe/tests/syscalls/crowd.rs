//! Tests with many threads and many calls.

use libtest_mimic::Failed;
use samples::ProbeKind;

use crate::roles::{CALLS, COME_AND_GO, CROWD};
use crate::watched::{calls, observe, probe_or_skip};

pub(crate) fn ten_thousand_threads() -> Result<(), Failed> {
    let Some(mut probe) = probe_or_skip("10,000 threads") else { return Ok(()) };
    let seen = observe(&mut *probe, CROWD, &["10000"]);
    let counted = calls(&seen, "getppid");
    let missing: u64 = seen.overflowed.iter().map(|overflow| overflow.events).sum();
    println!(
        "{counted} calls counted, {missing} of all kinds reported as missing, {} rows",
        seen.syscalls.len()
    );
    assert!(counted <= 100_000 && counted + missing >= 100_000, "{counted} and {missing}");
    assert!(seen.overflowed.iter().all(|overflow| overflow.probe == ProbeKind::Syscalls));
    Ok(())
}

pub(crate) fn come_and_go() -> Result<(), Failed> {
    let Some(mut probe) = probe_or_skip("threads that come and go") else { return Ok(()) };
    let seen = observe(&mut *probe, COME_AND_GO, &["1000"]);
    assert_eq!(calls(&seen, "getppid"), 10_000);
    assert!(seen.overflowed.is_empty(), "{:?}", seen.overflowed);
    Ok(())
}

pub(crate) fn busy() -> Result<(), Failed> {
    let Some(mut probe) = probe_or_skip("a busy process") else { return Ok(()) };
    let seen = observe(&mut *probe, CALLS, &["2000000"]);
    assert_eq!(calls(&seen, "getppid"), 2_000_000);
    assert!(seen.overflowed.is_empty(), "{:?}", seen.overflowed);
    Ok(())
}
