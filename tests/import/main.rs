//! Tests other tools' logs, from the file to the report, without privileges.
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
    Case { name: "finds_level_shifts_and_the_slow_direction", needs: &[], test: vhost::jumps_and_asymmetry },
    Case { name: "imported_run_behaves_like_any_other", needs: &[], test: vhost::run_like_any_other },
    Case { name: "reads_a_log_from_standard_input", needs: &[], test: vhost::from_standard_input },
    Case { name: "names_the_file_that_is_not_a_log", needs: &[], test: bad::no_logs },
    Case { name: "stores_nothing_if_one_file_cannot_be_read", needs: &[], test: bad::nothing_half_stored },
    Case { name: "names_all_unreadable_files_and_can_skip_them", needs: &[], test: bad::names_all_bad_files },
    Case { name: "reports_the_lines_of_a_truncated_part", needs: &[], test: bad::cut_off },
    Case { name: "lists_sources_and_notes_on_request", needs: &[], test: bad::sources_on_request },
    Case { name: "refuses_unknown_columns_and_names", needs: &[], test: bad::wrong_words },
    Case {
        name: "more_trials_find_more_between_two_imported_runs",
        needs: &[],
        test: compared::more_trials_find_more,
    },
    Case {
        name: "imports_a_long_log_of_both_ends_in_less_than_100_mb",
        needs: &[],
        test: long::memory_is_bounded,
    },
];

fn sandbox() -> Sandbox {
    Sandbox::new(env!("CARGO_BIN_EXE_plumb"))
}

fn data(name: &str) -> String {
    format!("{}/../import/tests/data/{name}", env!("CARGO_MANIFEST_DIR"))
}
