//! Tests the Firecracker driver with a simulated Firecracker, which is this program under another name.
#![expect(clippy::disallowed_methods, reason = "tests read files, and the stand-in reads its arguments")]
#![expect(
    clippy::disallowed_macros,
    reason = "skipped tests print the reason, and the stand-in writes to its console"
)]

mod cases;
mod description;
mod shapes;
mod stand_in;
mod validator;

use std::process::ExitCode;

use libtest_mimic::{Arguments, Failed, Trial};

#[derive(Debug, Clone, Copy)]
enum Need {
    Nothing,
    Start,
    Firecracker,
}

const CASES: &[(&str, Need, fn())] = &[
    ("requests_of_the_described_shape_are_taken", Need::Nothing, shapes::right_ones_are_taken),
    (
        "a_request_without_a_part_or_with_another_kind_of_part_is_refused",
        Need::Nothing,
        shapes::broken_ones_are_refused,
    ),
    ("what_is_put_in_the_wrong_order_is_refused", Need::Nothing, shapes::order_matters),
    ("a_guest_is_booted_as_described_and_its_channel_carries_both_ways", Need::Start, cases::guest_boots),
    ("the_tap_device_is_looked_for_in_its_own_namespace", Need::Start, cases::tap_is_found),
    ("what_firecracker_refuses_is_shown_whole", Need::Start, cases::refusal_is_shown),
    ("one_that_ends_at_once_is_quoted", Need::Start, cases::end_is_quoted),
    ("a_guest_that_panics_ends_the_channel_and_is_quoted", Need::Start, cases::panic_is_quoted),
    ("one_that_is_stopped_leaves_no_process_and_ends_the_channel", Need::Start, cases::stopping_ends_it),
    ("one_that_is_not_there_is_named_with_where_to_get_it", Need::Start, cases::absence_is_named),
    ("the_real_one_takes_every_request_up_to_the_start", Need::Firecracker, cases::real_one_takes_all),
];

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().collect();
    if arguments.iter().any(|argument| argument == "--api-sock") {
        return stand_in::run(&arguments);
    }
    let trials = CASES.iter().map(|(name, need, test)| {
        let unmet = unmet(*need);
        if let Some(reason) = &unmet {
            println!("skipped: {name}: {reason}");
        }
        Trial::test(*name, move || std::panic::catch_unwind(test).map_err(|_| Failed::without_message()))
            .with_ignored_flag(unmet.is_some())
    });
    libtest_mimic::run(&Arguments::from_args(), trials.collect()).exit_code()
}

fn unmet(need: Need) -> Option<String> {
    let start = || sys::MemoryFolder::create("test").err().map(|error| error.to_string());
    let real = || machine::Firecracker::version(None).err().map(|error| error.to_string());
    match need {
        Need::Nothing => None,
        Need::Start => start(),
        Need::Firecracker => start().or_else(real),
    }
}
