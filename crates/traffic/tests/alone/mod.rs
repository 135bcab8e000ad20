//! A private loopback, or the reason why there is none.

use sys::netns::{NetNs, bring_loopback_up};

/// Runs `work` in a namespace of its own with nothing but a loopback. Where this process may not make one, it says
/// so and nothing is tested, unless the environment has `CI`: then it fails.
#[expect(clippy::disallowed_macros, reason = "a test says why it tests nothing")]
pub(crate) fn on_loopback(work: impl FnOnce() + Send) {
    let ns = match NetNs::create("the test") {
        Ok(ns) => ns,
        Err(error) => {
            assert!(std::env::var_os("CI").is_none(), "a test has to be able to make namespaces: {error}");
            return eprintln!("returns early: {error}");
        }
    };
    let inside = || {
        bring_loopback_up().expect("root of its namespace");
        work();
    };
    ns.run_in(inside).expect("enters its own namespace");
}
