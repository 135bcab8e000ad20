//! Other tools' logs from the file to the report, as a user does it; needs no rights.
#![expect(clippy::disallowed_methods, reason = "tests read files")]

mod bad;
mod compared;
mod long;
mod vhost;

use std::process::ExitCode;

use plumb_tests::{Case, Sandbox, run};

fn main() -> ExitCode {
    run(CASES)
}

const CASES: &[Case] = &[
    Case { name: "eight_pairs_of_logs_give_the_speed_up_by_path", needs: &[], test: vhost::speed_up_by_path },
    Case { name: "what_jumped_and_which_way_is_slow_is_found", needs: &[], test: vhost::jumps_and_asymmetry },
    Case { name: "an_import_is_a_run_like_any_other", needs: &[], test: vhost::a_run_like_any_other },
    Case { name: "a_log_comes_from_standard_input_too", needs: &[], test: vhost::from_standard_input },
    Case { name: "what_is_no_log_is_refused_by_name", needs: &[], test: bad::no_logs },
    Case { name: "nothing_is_kept_when_one_file_cannot_be_read", needs: &[], test: bad::nothing_half_stored },
    Case {
        name: "all_files_that_cannot_be_read_are_named_and_can_be_left_out",
        needs: &[],
        test: bad::all_bad_files_are_named,
    },
    Case { name: "a_part_that_is_cut_off_is_told_with_its_lines", needs: &[], test: bad::cut_off },
    Case { name: "columns_and_names_that_mean_nothing_are_refused", needs: &[], test: bad::wrong_words },
    Case {
        name: "more_trials_tell_more_of_two_imported_runs",
        needs: &[],
        test: compared::more_trials_tell_more,
    },
    Case {
        name: "a_long_log_of_both_ends_takes_less_than_100_mb",
        needs: &[],
        test: long::memory_is_bounded,
    },
];

fn sandbox() -> Sandbox {
    Sandbox::new(env!("CARGO_BIN_EXE_plumb"))
}

/// A file of the test data of the crate that reads them.
fn data(name: &str) -> String {
    format!("{}/../import/tests/data/{name}", env!("CARGO_MANIFEST_DIR"))
}
