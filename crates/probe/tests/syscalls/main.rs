//! Compares the system call probe with strace, perf and programs that make known calls. The test program runs itself
//! in the roles of roles.rs.
#![expect(clippy::disallowed_methods, clippy::disallowed_macros, reason = "tests wait, read and print")]

mod cost;
mod crowd;
mod faults;
mod known;
mod place;
mod roles;
mod split;
mod stopped;
mod tracers;
mod watched;

use std::process::ExitCode;

use libtest_mimic::{Arguments, Trial};

fn main() -> ExitCode {
    let mut arguments = std::env::args().skip(1);
    if let Some(role) = arguments.next().as_deref().and_then(roles::role) {
        role(&arguments.collect::<Vec<_>>());
        return ExitCode::SUCCESS;
    }
    libtest_mimic::run(&Arguments::from_args(), trials()).exit_code()
}

fn trials() -> Vec<Trial> {
    vec![
        Trial::test("calls_of_threads_and_children_are_counted_exactly", known::counts),
        Trial::test("threads_and_processes_have_their_names", known::names),
        Trial::test("a_second_start_forgets_what_was_seen_before", known::starts_again),
        Trial::test("calls_before_the_start_and_after_the_stop_are_not_counted", known::only_between),
        Trial::test("processes_that_are_not_watched_are_not_counted", known::only_watched),
        Trial::test("waiting_and_running_are_told_apart", split::split),
        Trial::test("a_call_that_is_under_way_shows_its_time_so_far", split::under_way),
        Trial::test("strace_counts_the_same_calls", tracers::strace),
        Trial::test("perf_trace_counts_the_same_calls_of_every_thread", tracers::perf),
        Trial::test("ten_thousand_threads_are_counted_or_told", crowd::ten_thousand_threads),
        Trial::test("threads_that_come_and_go_are_counted_exactly", crowd::come_and_go),
        Trial::test("a_process_that_calls_all_the_time_is_counted_exactly", crowd::busy),
        Trial::test("a_process_that_ended_or_never_was_is_no_error", faults::no_such_process),
        Trial::test("two_probes_at_once_see_the_same", faults::two_at_once),
        Trial::test("a_killed_tracer_leaves_no_program", faults::killed),
        Trial::test("processes_are_found_by_their_network_namespace", place::namespace),
        Trial::test("processes_are_found_by_their_control_group", place::control_group),
        Trial::test("time_in_a_guest_is_told_apart", split::guest),
        Trial::test("a_process_that_is_stopped_at_each_call_is_counted_exactly", stopped::counts),
        Trial::test("strace_counts_what_is_counted_by_stopping", stopped::strace),
        Trial::test("threads_that_come_and_go_are_followed_by_stopping", stopped::come_and_go),
        Trial::test("a_process_that_was_stopped_at_calls_is_let_go_and_knows_nothing_of_it", stopped::let_go),
        Trial::test("signals_reach_a_process_that_is_stopped_at_calls", stopped::signals),
        Trial::test("a_process_that_ended_cannot_be_stopped_and_is_no_error", stopped::no_such_process),
        Trial::test("what_a_call_costs", cost::per_call).with_ignored_flag(true),
    ]
}
