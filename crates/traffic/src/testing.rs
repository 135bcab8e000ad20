//! What the tests of this room share: a private loopback.

use std::{
    net::{IpAddr, Ipv4Addr},
    panic::{AssertUnwindSafe, catch_unwind},
};

use sys::netns::{NetNs, bring_loopback_up};

pub(crate) const HERE: IpAddr = IpAddr::V4(Ipv4Addr::LOCALHOST);
/// What a machine with other work may add to a time, in ns.
pub(crate) const BUSY: u64 = 200_000_000;
pub(crate) const TOKEN: u64 = 0xFEED_0000_0000_0042;

/// Runs a test of times again, should other work have disturbed it: it has to pass once in three times.
pub(crate) fn in_one_of_three(test: impl Fn()) {
    for _ in 0..2 {
        if catch_unwind(AssertUnwindSafe(&test)).is_ok() {
            return;
        }
    }
    test();
}

/// Runs `work` in a namespace of its own with nothing but a loopback; `None`, with the reason printed,
/// where this process may not make one.
///
/// # Panics
/// Instead, where the environment has `CI`: what is to prove something may not pass without doing it.
#[expect(clippy::disallowed_macros, reason = "a test says why it tests nothing")]
pub(crate) fn on_loopback<T: Send>(work: impl FnOnce() -> T + Send) -> Option<T> {
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
