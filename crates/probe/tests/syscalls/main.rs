//! Compares the system call probe with strace, perf and programs that make known calls.
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
        Trial::test("counts_calls_of_threads_and_children_exactly", known::counts),
        Trial::test("reports_names_of_threads_and_processes", known::names),
        Trial::test("second_start_resets_all_counts", known::starts_again),
        Trial::test("ignores_calls_before_start_and_after_stop", known::only_between),
        Trial::test("ignores_calls_of_other_processes", known::only_watched),
        Trial::test("distinguishes_waiting_from_running", split::split),
        Trial::test("reports_elapsed_time_of_unfinished_call", split::under_way),
        Trial::test("counts_as_many_calls_as_strace", tracers::strace),
        Trial::test("counts_as_many_calls_of_each_thread_as_perf_trace", tracers::perf),
        Trial::test("counts_ten_thousand_threads_or_reports_missing_ones", crowd::ten_thousand_threads),
        Trial::test("counts_calls_of_short_lived_threads_exactly", crowd::come_and_go),
        Trial::test("counts_calls_of_busy_process_exactly", crowd::busy),
        Trial::test("accepts_pid_of_ended_or_missing_process", faults::no_such_process),
        Trial::test("two_simultaneous_probes_count_the_same", faults::two_at_once),
        Trial::test("killed_tracer_leaves_no_program_loaded", faults::killed),
        Trial::test("finds_processes_by_network_namespace", place::namespace),
        Trial::test("finds_processes_by_control_group", place::control_group),
        Trial::test("reports_guest_time_separately", split::guest),
        Trial::test("counts_calls_of_stopped_process_exactly", stopped::counts),
        Trial::test("counts_as_many_calls_by_stopping_as_strace", stopped::strace),
        Trial::test("follows_short_lived_threads_by_stopping", stopped::come_and_go),
        Trial::test("releases_stopped_process_without_visible_effect", stopped::let_go),
        Trial::test("delivers_signals_to_stopped_process", stopped::signals),
        Trial::test("stopping_an_ended_process_is_no_error", stopped::no_such_process),
        Trial::test("measures_cost_per_call", cost::per_call).with_ignored_flag(true),
    ]
}
