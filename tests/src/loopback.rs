//! A private loopback for tests, and allowances for a busy machine.

use std::{
    fs,
    os::fd::{AsFd, AsRawFd},
    panic::{AssertUnwindSafe, catch_unwind},
    process::Command,
};

use sys::netns::NetNs;

/// Returns a path to the namespace, usable by processes that may trace this one.
#[must_use]
pub fn path_of(namespace: &NetNs) -> String {
    format!("/proc/{}/fd/{}", std::process::id(), namespace.as_fd().as_raw_fd())
}

/// Passes if one of five attempts passes, because other work may disturb a timing test.
pub fn in_one_of_five(test: impl Fn()) {
    for _ in 0..4 {
        if catch_unwind(AssertUnwindSafe(&test)).is_ok() {
            return;
        }
    }
    test();
}

/// Counts datagrams lost to a full buffer (udp(7), `InErrors`) and loopback backlog drops in this thread's namespace.
/// A loopback loses packets in no other way.
pub fn dropped() -> u64 {
    let read = |of: &str| fs::read_to_string(format!("/proc/thread-self/net/{of}")).expect("procfs");
    let snmp = read("snmp");
    let mut udp = snmp.lines().filter_map(|line| line.strip_prefix("Udp: ")).map(str::split_whitespace);
    let (names, counts) = (udp.next().expect("names"), udp.next().expect("counts"));
    let errors = names.zip(counts).find(|(name, _)| *name == "InErrors").expect("a counter of any kernel").1;
    let devices = read("dev");
    let loopback =
        devices.lines().find_map(|line| line.trim_start().strip_prefix("lo:")).expect("a loopback");
    // The fields are bytes, packets, errors and drops.
    let backlog = loopback.split_whitespace().nth(3).expect("a counter of any device");
    [errors, backlog].map(|count| count.parse::<u64>().expect("a number")).iter().sum()
}

pub fn bring_loopback_up() {
    let up = Command::new("ip").args(["link", "set", "lo", "up"]).status();
    assert!(up.is_ok_and(|status| status.success()), "ip link set lo up");
}

/// Runs `work` in a new namespace. If this process may not create one, returns `None`, or panics if the variable `CI`
/// is set.
pub fn on_loopback<T: Send>(work: impl FnOnce() -> T + Send) -> Option<T> {
    let ns = match NetNs::create("the test") {
        Ok(ns) => ns,
        Err(error) => {
            assert!(std::env::var_os("CI").is_none(), "the tests must be able to create namespaces: {error}");
            eprintln!("returns early: {error}");
            return None;
        }
    };
    let inside = || {
        bring_loopback_up();
        work()
    };
    Some(ns.run_in(inside).expect("enters its own namespace"))
}
