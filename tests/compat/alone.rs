//! Runs every test and every row in a private network, a limited number at a time.

use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    process::ExitCode,
    sync::{Condvar, Mutex, PoisonError},
    thread,
};

use libtest_mimic::{Arguments, Trial};
use plumb_tests::{Case, bring_loopback_up};
use sys::{netns::NetNs, userns};

const AT_ONCE: usize = 14;

pub(crate) fn run<'a>(cases: impl IntoIterator<Item = &'a Case>) -> ExitCode {
    let mut arguments = Arguments::from_args();
    // Check requirements before a user namespace makes the process look like root.
    let trials: Vec<Trial> = cases.into_iter().map(|case| trial(case, arguments.list)).collect();
    if !userns::has_net_admin() && !arguments.list {
        userns::enter_as_root().unwrap_or_else(|error| panic!("a private network for each test: {error}"));
    }
    // [`Place`] limits parallel work. The cases themselves only wait.
    arguments.test_threads = Some(arguments.test_threads.unwrap_or(trials.len()).max(1));
    libtest_mimic::run(&arguments, trials).exit_code()
}

#[expect(clippy::disallowed_macros, reason = "the reason for a skip is printed")]
fn trial(case: &Case, only_list: bool) -> Trial {
    let unmet = case.needs.iter().find_map(|need| need.unmet());
    if let (Some(reason), false) = (&unmet, only_list) {
        println!("skipped: {}: {reason}", case.name);
    }
    let test = case.test;
    Trial::test(case.name, move || {
        test();
        Ok(())
    })
    .with_ignored_flag(unmet.is_some())
}

pub(crate) fn alone(work: impl FnOnce() + Send) {
    let _place = Place::take();
    let inside = || {
        bring_loopback_up();
        work();
    };
    NetNs::create("a test").and_then(|namespace| namespace.run_in(inside)).expect("a private network");
}

/// Runs each item in its own private network. Repeats a failed item alone, because a stalled machine drops datagrams.
pub(crate) fn each<T: Sync>(cases: &[T], name: impl Fn(&T) -> String, check: impl Fn(&T) + Sync) {
    let check = &check;
    let tried = |case| catch_unwind(AssertUnwindSafe(|| alone(|| check(case))));
    let failed: Vec<&T> = thread::scope(|scope| {
        let running: Vec<_> = cases.iter().map(|case| (case, scope.spawn(move || tried(case)))).collect();
        let ended =
            running.into_iter().map(|(case, thread)| (case, thread.join().is_ok_and(|tried| tried.is_ok())));
        ended.filter(|(_, passed)| !passed).map(|(case, _)| case).collect()
    });
    let failed: Vec<String> = failed.into_iter().filter(|case| tried(case).is_err()).map(name).collect();
    assert!(failed.is_empty(), "{} of {} failed: {failed:#?}", failed.len(), cases.len());
}

struct Place;

static TAKEN: Mutex<usize> = Mutex::new(0);
static GIVEN_BACK: Condvar = Condvar::new();

impl Place {
    fn take() -> Self {
        let taken = TAKEN.lock().unwrap_or_else(PoisonError::into_inner);
        let free = GIVEN_BACK.wait_while(taken, |taken| *taken >= AT_ONCE);
        *free.unwrap_or_else(PoisonError::into_inner) += 1;
        Self
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        *TAKEN.lock().unwrap_or_else(PoisonError::into_inner) -= 1;
        GIVEN_BACK.notify_one();
    }
}
