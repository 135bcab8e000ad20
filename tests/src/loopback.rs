//! A private loopback, and what a machine with other work does to a test on it.

use std::{
    fs,
    panic::{AssertUnwindSafe, catch_unwind},
};

use sys::netns::{NetNs, bring_loopback_up};

/// Runs a test of times again, should other work have disturbed it: it has to pass once in five times.
pub fn in_one_of_five(test: impl Fn()) {
    for _ in 0..4 {
        if catch_unwind(AssertUnwindSafe(&test)).is_ok() {
            return;
        }
    }
    test();
}

/// Packets that this thread's namespace has dropped until now because nobody took them in time: datagrams that a
/// full buffer had no room for (see udp(7), `InErrors`), and what its loopback had none for. Nothing else gets lost
/// on a loopback.
pub fn dropped() -> u64 {
    let read = |of: &str| fs::read_to_string(format!("/proc/thread-self/net/{of}")).expect("procfs");
    let snmp = read("snmp");
    let mut udp = snmp.lines().filter_map(|line| line.strip_prefix("Udp: ")).map(str::split_whitespace);
    let (names, counts) = (udp.next().expect("names"), udp.next().expect("counts"));
    let errors = names.zip(counts).find(|(name, _)| *name == "InErrors").expect("a counter of any kernel").1;
    let devices = read("dev");
    let loopback =
        devices.lines().find_map(|line| line.trim_start().strip_prefix("lo:")).expect("a loopback");
    // Bytes, packets, errors, drops.
    let backlog = loopback.split_whitespace().nth(3).expect("a counter of any device");
    [errors, backlog].map(|count| count.parse::<u64>().expect("a number")).iter().sum()
}

/// Runs `work` in a namespace of its own with nothing but a loopback; `None`, with the reason printed,
/// where this process may not make one.
///
/// # Panics
/// Instead, where the environment has `CI`: what is to prove something may not pass without doing it.
pub fn on_loopback<T: Send>(work: impl FnOnce() -> T + Send) -> Option<T> {
    let ns = match NetNs::create("the test") {
        Ok(ns) => ns,
        Err(error) => {
            assert!(std::env::var_os("CI").is_none(), "a test has to be able to make namespaces: {error}");
            eprintln!("returns early: {error}");
            return None;
        }
    };
    let inside = || {
        bring_loopback_up().expect("root of its namespace");
        work()
    };
    Some(ns.run_in(inside).expect("enters its own namespace"))
}
