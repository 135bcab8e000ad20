//! Tests of both kinds of stores, with a private PostgreSQL server. The tests that apply to only one kind come last.

mod altered;
mod baselines;
mod imported;
mod patience;
mod place;
#[path = "../record/mod.rs"]
mod record;
mod refused;
mod server;
mod stored;
mod writers;

use std::{process::ExitCode, sync::Arc};

use libtest_mimic::{Arguments, Trial};
use place::Place;
use plumb_tests::{Need, PostgresServer};

type Test<F> = (&'static str, F);

macro_rules! tests {
    ($($module:ident::$name:ident,)*) => { &[$((stringify!($name), $module::$name)),*] };
}

const OF_BOTH: &[Test<fn(&Place)>] = tests![
    altered::stores_complete_run_under_a_free_name,
    altered::omits_and_names_unreadable_trials,
    altered::rejects_altered_header,
    baselines::list_marks_imported_runs,
    baselines::baseline_name_can_move_to_another_run,
    baselines::refuses_to_remove_baseline_run,
    baselines::unknown_baseline_error_lists_existing_ones,
    imported::imported_run_has_its_trials_and_final_header,
    imported::failed_import_stores_nothing,
    imported::other_processes_can_write_during_an_import,
    imported::list_marks_imported_runs,
    stored::removing_a_run_frees_its_trials_and_space,
    stored::run_is_read_back_unchanged,
    stored::repeated_trial_replaces_the_stored_attempt,
    stored::numbers_are_read_back_exactly,
    stored::lists_runs_newest_first_with_progress,
    stored::rejects_invalid_writes_without_changes,
    stored::search_text_is_literal,
    patience::retries_locked_store_with_one_notice_and_without_loss,
    patience::fails_immediately_on_permanent_errors,
    patience::stop_request_ends_the_wait,
    refused::reports_lock_after_the_timeout,
    refused::several_processes_can_create_the_same_store,
    refused::newer_store_names_the_version_that_wrote_it,
    refused::rejects_run_of_newer_record_version,
    refused::leaves_database_of_another_program_unchanged,
    writers::run_has_one_owner_until_its_process_ends,
    writers::killed_writer_leaves_finished_trials_intact,
    writers::processes_can_write_different_runs_concurrently,
    writers::concurrent_writers_store_each_trial_once,
];

const OF_A_FILE: &[Test<fn(&Place)>] = tests![patience::recreates_deleted_file_and_reports_it,];

const OF_A_SERVER: &[Test<fn(&PostgresServer)>] = tests![
    server::renews_broken_claim_before_writing,
    server::reconnects_between_trials_and_renews_the_claim,
    server::stops_after_another_process_took_over_the_run,
    server::read_only_user_can_read_but_not_write,
    server::denied_access_error_has_a_remedy,
];

const OF_OWN_SERVERS: &[Test<fn()>] = tests![
    server::checks_password_and_certificate_without_showing_passwords,
    server::retries_unreachable_server_without_loss,
    server::times_out_on_stopped_server_and_retries,
];

fn main() -> ExitCode {
    if writers::is_child() {
        return ExitCode::SUCCESS;
    }
    let arguments = Arguments::from_args();
    let unmet =
        [Need::PostgresServer, Need::Program("openssl", "openssl")].iter().find_map(|need| need.unmet());
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

#[expect(clippy::disallowed_macros, reason = "prints the reason for skipping")]
fn skipped(name: &str, reason: &str) {
    println!("skipped: {name}: {reason}");
}
