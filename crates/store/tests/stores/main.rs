//! What holds of runs wherever they are kept: each test is done with a file and with a database of a PostgreSQL server, which this
//! program starts. What holds of one of them alone comes after.

mod altered;
mod baselines;
mod imported;
mod kept;
mod patience;
mod place;
#[path = "../record/mod.rs"]
mod record;
mod refused;
mod server;
mod writers;

use std::{process::ExitCode, sync::Arc};

use libtest_mimic::{Arguments, Trial};
use place::Place;
use plumb_tests::{Need, PostgresServer};

type Test<F> = (&'static str, F);

/// Names of tests with their functions.
macro_rules! tests {
    ($($module:ident::$name:ident,)*) => { &[$((stringify!($name), $module::$name)),*] };
}

const OF_BOTH: &[Test<fn(&Place)>] = tests![
    altered::a_run_from_elsewhere_is_kept_whole_and_takes_no_others_name,
    altered::a_trial_that_cannot_be_read_is_left_out_and_named,
    altered::an_altered_header_is_no_header,
    baselines::a_list_tells_what_was_measured_from_what_was_imported,
    baselines::a_name_stands_for_a_run_until_it_is_given_to_another,
    baselines::a_run_that_is_a_baseline_stays,
    baselines::an_unknown_baseline_is_answered_with_the_known_ones,
    imported::an_imported_run_has_its_trials_and_its_last_header,
    imported::nothing_is_kept_of_an_import_that_fails,
    imported::others_write_while_an_import_reads,
    kept::a_removed_run_is_gone_with_its_trials_and_its_space,
    kept::a_run_comes_back_byte_for_byte,
    kept::a_trial_made_again_takes_the_place_of_the_attempt_that_was_kept,
    kept::every_number_comes_back_to_its_last_bit,
    kept::runs_are_listed_newest_first_with_how_far_they_got,
    kept::what_makes_no_sense_is_refused_and_changes_nothing,
    kept::what_runs_are_searched_by_is_taken_as_it_is,
    patience::a_locked_store_is_waited_for_with_one_notice_and_nothing_is_lost,
    patience::what_waiting_cannot_mend_is_not_waited_for,
    patience::whoever_asks_for_the_end_is_not_kept_waiting,
    refused::a_lock_is_waited_for_and_then_named,
    refused::a_new_store_that_several_open_at_once_is_nobody_elses,
    refused::a_newer_store_says_which_plumb_wrote_it,
    refused::a_run_of_a_newer_shape_is_not_misread,
    refused::another_programs_database_is_left_alone,
    writers::a_run_has_one_process_until_that_ends_however_it_ends,
    writers::a_writer_killed_in_the_middle_leaves_finished_trials_whole,
    writers::processes_that_write_different_runs_do_not_disturb_each_other,
    writers::ten_writers_of_the_same_trials_keep_each_once,
];

const OF_A_FILE: &[Test<fn(&Place)>] = tests![
    imported::an_imported_run_is_listed_as_one_also_of_a_file_that_did_not_note_it,
    patience::a_file_that_is_gone_is_made_anew_and_told_of,
];

const OF_A_SERVER: &[Test<fn(&PostgresServer)>] = tests![
    server::a_claim_whose_own_connection_broke_is_made_again_before_anything_is_kept,
    server::a_connection_that_breaks_between_two_trials_is_made_anew_with_its_claim,
    server::a_run_that_another_took_over_meanwhile_is_not_gone_on_with,
    server::whoever_may_only_read_can_read_and_is_told_when_writing,
    server::whom_the_server_does_not_let_in_is_told_what_to_look_at,
];

/// Those with a server of their own.
const OF_OWN_SERVERS: &[Test<fn()>] = tests![
    server::a_password_and_a_certificate_are_checked_and_no_password_is_shown,
    server::a_server_that_is_away_is_waited_for_and_nothing_is_lost,
    server::a_server_that_stands_still_is_given_up_and_asked_again,
];

fn main() -> ExitCode {
    if writers::is_child() {
        return ExitCode::SUCCESS;
    }
    let arguments = Arguments::from_args();
    let unmet =
        [Need::PostgresServer, Need::Program("openssl", "openssl")].iter().find_map(|need| need.unmet());
    // It ends with the thread that starts it.
    let server = (unmet.is_none() && !arguments.list).then(|| Arc::new(PostgresServer::new()));
    let of_a_file = OF_BOTH.iter().chain(OF_A_FILE).map(|&(name, test)| {
        Trial::test(format!("file::{name}"), move || {
            test(&Place::file());
            Ok(())
        })
    });
    let of_a_server = OF_BOTH.iter().map(|&(name, test)| {
        with_server(name, server.as_ref(), move |server| test(&Place::database(server)))
    });
    let of_it_alone = OF_A_SERVER.iter().map(|&(name, test)| with_server(name, server.as_ref(), test));
    let of_own =
        OF_OWN_SERVERS.iter().map(|&(name, test)| with_server(name, server.as_ref(), move |_| test()));
    let of_servers: Vec<_> = of_a_server.chain(of_it_alone).chain(of_own).collect();
    if let (Some(reason), false) = (&unmet, arguments.list) {
        of_servers.iter().for_each(|test| skipped(test.name(), reason));
    }
    libtest_mimic::run(&arguments, of_a_file.chain(of_servers).collect()).exit_code()
}

fn with_server(
    name: &str,
    server: Option<&Arc<PostgresServer>>,
    test: impl FnOnce(&PostgresServer) + Send + 'static,
) -> Trial {
    let (is_missing, server) = (server.is_none(), server.cloned());
    let run = move || {
        if let Some(server) = server {
            test(&server);
        }
        Ok(())
    };
    Trial::test(format!("server::{name}"), run).with_ignored_flag(is_missing)
}

#[expect(clippy::disallowed_macros, reason = "says why a test is not done")]
fn skipped(name: &str, reason: &str) {
    println!("skipped: {name}: {reason}");
}
