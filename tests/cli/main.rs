//! The command line as a user types it; only tracing needs rights, and what is sent stays on loopback.
#![expect(clippy::disallowed_methods, reason = "tests read files, /proc and the clock")]

use std::{
    process::ExitCode,
    sync::atomic::{AtomicU32, Ordering},
    time::Duration,
};

use plumb_tests::{Case, Need, Sandbox, run, wait_until};

mod compare;
mod config;
mod earlier;
mod ends;
mod fallback;
mod hostile;
mod hostile_input;
mod kept;
mod memory;
mod other_users;
mod plot;
mod rights;
mod shared_store;
mod shells;
mod tables;
mod trace;
mod variants;
mod watch;

fn main() -> ExitCode {
    run(&[CASES, other_users::CASES].concat())
}

const CASES: &[Case] = &[
    Case {
        name: "a_record_of_memory_is_replayed_by_the_rebalancer",
        needs: &[],
        test: memory::a_record_is_replayed,
    },
    Case {
        name: "a_record_of_memory_with_impossible_numbers_is_refused",
        needs: &[],
        test: memory::a_record_with_impossible_numbers_is_refused,
    },
    Case { name: "a_record_of_memory_is_shown_as_a_page", needs: &[], test: memory::a_record_is_shown },
    Case { name: "help_names_every_subcommand", needs: &[], test: help_names_every_subcommand },
    Case { name: "explain_without_a_name_tells_where_names_are", needs: &[], test: explain_without_a_name },
    Case { name: "a_misspelt_scenario_is_answered_by_the_one_meant", needs: &[], test: a_misspelt_scenario },
    Case {
        name: "a_variant_is_listed_and_shown_as_a_scenario_of_its_own",
        needs: &[],
        test: variants::shown_and_checked,
    },
    Case {
        name: "a_variant_that_is_not_there_or_wrong_is_told_with_what_there_is",
        needs: &[],
        test: variants::not_there,
    },
    Case {
        name: "a_run_of_a_variant_is_resumed_from_what_is_kept",
        needs: &[Need::Root],
        test: variants::resumed,
    },
    Case { name: "a_mistake_in_a_scenario_is_shown_in_its_place", needs: &[], test: a_mistake_in_a_scenario },
    Case { name: "every_builtin_shows_and_checks", needs: &[], test: every_builtin_shows_and_checks },
    Case {
        name: "bash_completes_commands_flags_and_scenarios",
        needs: &[],
        test: shells::bash_completes_commands_flags_and_scenarios,
    },
    Case {
        name: "every_command_has_a_manual_page",
        needs: &[],
        test: shells::every_command_has_a_manual_page,
    },
    Case { name: "a_dry_run_measures_nothing", needs: &[], test: a_dry_run_measures_nothing },
    Case { name: "a_database_that_is_none_is_left_as_it_is", needs: &[], test: a_database_that_is_none },
    Case { name: "a_report_without_runs_says_how_to_get_one", needs: &[], test: a_report_without_runs },
    Case {
        name: "an_output_of_unknown_format_is_refused_before_anything_runs",
        needs: &[],
        test: an_output_of_unknown_format,
    },
    Case {
        name: "an_agent_refuses_a_controller_of_another_version",
        needs: &[],
        test: an_agent_refuses_another_version,
    },
    Case {
        name: "flags_that_make_no_sense_are_answered_before_anything_is_sent",
        needs: &[],
        test: flags_that_make_no_sense,
    },
    Case {
        name: "a_server_that_is_not_there_is_a_failure_with_a_hint",
        needs: &[],
        test: a_server_that_is_not_there,
    },
    Case {
        name: "plumb_measures_against_itself_in_every_kind_and_direction",
        needs: &[],
        test: against_itself,
    },
    Case {
        name: "every_picture_that_is_listed_is_written",
        needs: &[],
        test: plot::every_picture_that_is_listed_is_written,
    },
    Case {
        name: "two_logs_are_drawn_against_each_other",
        needs: &[],
        test: plot::two_logs_are_drawn_against_each_other,
    },
    Case {
        name: "what_is_wrong_with_a_picture_is_said",
        needs: &[],
        test: plot::what_is_wrong_with_a_picture_is_said,
    },
    Case { name: "a_sweep_in_a_table_is_answered", needs: &[], test: tables::a_sweep_in_a_table_is_answered },
    Case {
        name: "four_machines_and_their_system_calls_are_found",
        needs: &[],
        test: tables::four_machines_and_their_system_calls_are_found,
    },
    Case {
        name: "stored_runs_are_reported_with_the_same_numbers",
        needs: &[],
        test: earlier::stored_runs_are_reported_with_the_same_numbers,
    },
    Case {
        name: "rows_by_trial_rows_by_cell_and_the_report_agree",
        needs: &[],
        test: earlier::rows_by_trial_rows_by_cell_and_the_report_agree,
    },
    Case {
        name: "a_row_says_what_its_cell_is_judged_by_and_nothing_that_is_not_known",
        needs: &[],
        test: earlier::a_row_says_what_its_cell_is_judged_by_and_nothing_that_is_not_known,
    },
    Case {
        name: "records_of_every_earlier_version_are_read",
        needs: &[],
        test: earlier::records_of_every_earlier_version_are_read,
    },
    Case { name: "runs_are_checked_and_repaired", needs: &[], test: kept::checked_and_repaired },
    Case { name: "a_run_is_one_file_in_three_forms", needs: &[], test: kept::exported_and_imported },
    Case {
        name: "a_database_of_a_server_is_known_to_every_command",
        needs: &[Need::PostgresServer],
        test: shared_store::every_command_knows_it,
    },
    Case {
        name: "a_password_of_a_shared_store_is_shown_nowhere",
        needs: &[Need::PostgresServer],
        test: shared_store::no_password_is_shown,
    },
    Case {
        name: "a_run_under_way_is_not_removed_by_a_slip",
        needs: &[Need::Root],
        test: kept::a_run_under_way,
    },
    Case {
        name: "a_database_that_is_deleted_costs_its_run_nothing",
        needs: &[Need::Root],
        test: kept::a_deleted_database,
    },
    Case {
        name: "a_run_that_is_resumed_on_another_machine_says_so_for_good",
        needs: &[Need::Root],
        test: kept::resumed_elsewhere,
    },
    Case { name: "a_database_named_by_nothing_is_the_usual_one", needs: &[], test: kept::no_file_named },
    Case { name: "a_document_without_end_is_refused_at_once", needs: &[], test: kept::endless_documents },
    Case {
        name: "refuses_database_addresses_in_other_forms_without_showing_their_password",
        needs: &[],
        test: hostile_input::mistaken_addresses,
    },
    Case {
        name: "refuses_small_records_that_decode_to_gigabytes",
        needs: &[],
        test: hostile_input::large_when_decoded,
    },
    Case {
        name: "refuses_endless_memory_records_and_certificates",
        needs: &[],
        test: hostile_input::endless_records,
    },
    Case {
        name: "refuses_plans_with_too_many_trials_and_shows_all_pairs_of_500_hosts",
        needs: &[],
        test: hostile_input::many_pairs,
    },
    Case {
        name: "signal_ends_start_on_hostile_ssh_host",
        needs: &[],
        test: hostile_input::hosts_that_hold_a_start_up,
    },
    Case {
        name: "refuses_ssh_host_with_endless_output",
        needs: &[],
        test: hostile_input::hosts_that_send_without_end,
    },
    Case { name: "a_full_disk_leaves_no_half_report", needs: &[Need::Root], test: kept::a_full_disk },
    Case { name: "runs_and_files_are_compared", needs: &[], test: compare::runs_and_files_are_compared },
    Case {
        name: "what_is_no_run_is_called_what_it_is",
        needs: &[],
        test: compare::what_is_no_run_is_called_what_it_is,
    },
    Case { name: "a_gate_answers_by_its_status", needs: &[], test: compare::a_gate_answers_by_its_status },
    Case {
        name: "a_baseline_is_kept_until_its_name_is_taken_away",
        needs: &[],
        test: compare::a_baseline_is_kept_until_its_name_is_taken_away,
    },
    Case {
        name: "an_interrupted_client_says_what_was_measured_and_its_server_calls_it_no_failure",
        needs: &[],
        test: ends::interrupted_clients,
    },
    Case {
        name: "a_client_beside_other_work_says_whose_it_was_and_leaves_its_time_out",
        needs: &[],
        test: ends::beside_other_work,
    },
    Case {
        name: "the_document_of_an_interrupted_client_is_whole_and_marked",
        needs: &[],
        test: ends::interrupted_documents,
    },
    Case {
        name: "an_address_that_is_not_allowed_is_told_so_and_logged_once",
        needs: &[],
        test: ends::refused_by_address,
    },
    Case {
        name: "a_busy_server_says_so_to_every_client_of_ours",
        needs: &[],
        test: ends::refused_by_a_busy_server,
    },
    Case {
        name: "a_server_that_closes_its_streams_and_says_nothing_ends_its_client_with_the_reason",
        needs: &[],
        test: hostile::streams_that_are_closed,
    },
    Case {
        name: "an_answer_to_what_was_never_sent_is_a_stray_on_the_terminal_and_in_the_document",
        needs: &[],
        test: hostile::strays_are_told,
    },
    Case {
        name: "a_flag_goes_before_the_environment_and_that_before_the_configuration_file",
        needs: &[],
        test: config::a_flag_goes_before_the_environment_and_that_before_the_file,
    },
    Case {
        name: "what_stands_in_the_configuration_file_is_done",
        needs: &[],
        test: config::what_stands_in_the_file_is_done,
    },
    Case {
        name: "a_configuration_file_that_is_wrong_is_told_with_its_line",
        needs: &[],
        test: config::a_file_that_is_wrong_is_told_with_its_line,
    },
    Case {
        name: "a_terminal_obeys_nothing_that_a_file_says_or_is_called",
        needs: &[],
        test: hostile::files_are_harmless,
    },
    Case {
        name: "no_format_of_a_report_and_no_picture_obeys_what_a_name_holds",
        needs: &[],
        test: hostile::every_format_is_harmless,
    },
    Case {
        name: "a_terminal_obeys_nothing_that_a_server_says",
        needs: &[],
        test: hostile::servers_are_harmless,
    },
    Case {
        name: "a_limit_that_a_client_meets_is_named_and_is_no_result",
        needs: &[],
        test: ends::ended_by_a_limit,
    },
    Case {
        name: "what_cannot_be_traced_is_refused",
        needs: &[],
        test: trace::what_cannot_be_traced_is_refused,
    },
    Case {
        name: "what_is_no_trace_is_not_compared",
        needs: &[],
        test: trace::what_is_no_trace_is_not_compared,
    },
    Case {
        name: "calls_of_a_known_program_are_counted_exactly",
        needs: PROBES,
        test: trace::calls_of_a_known_program_are_counted_exactly,
    },
    Case {
        name: "children_are_counted_with_the_program",
        needs: PROBES,
        test: trace::children_are_counted_with_the_program,
    },
    Case {
        name: "a_program_that_fails_is_told_and_is_no_success",
        needs: PROBES,
        test: trace::a_program_that_fails_is_told_and_is_no_success,
    },
    Case {
        name: "a_process_that_ends_meanwhile_leaves_what_was_seen",
        needs: PROBES,
        test: trace::a_process_that_ends_meanwhile_leaves_what_was_seen,
    },
    Case {
        name: "two_traces_are_shown_side_by_side",
        needs: PROBES,
        test: trace::two_traces_are_shown_side_by_side,
    },
    Case {
        name: "where_nothing_can_be_loaded_processes_are_stopped_at_calls_if_that_is_asked_for",
        needs: FALLBACK,
        test: fallback::without_rights_the_way_out_is_named_and_goes,
    },
    Case {
        name: "a_killed_plumb_lets_go_of_what_it_stopped_at_calls",
        needs: FALLBACK,
        test: fallback::a_killed_plumb_lets_go,
    },
    Case {
        name: "only_processes_by_number_are_stopped_at_calls",
        needs: &[],
        test: fallback::only_processes_by_number_can_be_stopped,
    },
    Case { name: "a_plan_that_is_wrong_is_refused", needs: &[], test: watch::a_wrong_plan_is_refused },
    Case {
        name: "a_dry_run_of_a_watch_shows_what_the_next_day_would_send",
        needs: &[],
        test: watch::a_dry_run_shows_the_next_day,
    },
    Case {
        name: "a_measurement_that_the_budget_has_no_room_for_is_left_out",
        needs: &[],
        test: watch::what_the_budget_has_no_room_for_is_left_out,
    },
    Case {
        name: "a_watch_of_a_store_that_cannot_be_read_tells_no_loss",
        needs: &[],
        test: watch::a_store_that_cannot_be_read_is_no_loss,
    },
    Case { name: "each_capability_is_held_or_not", needs: FALLBACK, test: rights::each_is_held_or_not },
    Case {
        name: "a_lab_and_its_probes_need_two_capabilities",
        needs: &[Need::Root, Need::Program("setpriv", "util-linux"), Need::BTF],
        test: rights::a_lab_and_its_probes_need_two,
    },
    Case {
        name: "a_reader_that_leaves_early_is_no_failure_and_a_full_disk_is",
        needs: &[],
        test: a_reader_that_leaves_early,
    },
];

/// What is needed to take rights away.
const FALLBACK: &[Need] = &[Need::Root, Need::Program("setpriv", "util-linux")];

/// What probes need.
const PROBES: &[Need] = &[Need::Root, Need::BTF];

fn sandbox() -> Sandbox {
    Sandbox::new(env!("CARGO_BIN_EXE_plumb"))
}

fn help_names_every_subcommand() {
    let help = sandbox().succeed(&["--help"]).out;
    for subcommand in [
        "run",
        "report",
        "runs",
        "compare",
        "check",
        "baseline",
        "import",
        "client",
        "ping",
        "server",
        "scenario",
        "schema",
        "lab",
        "doctor",
        "trace",
        "explain",
        "rebalance",
        "memory",
        "watch",
    ] {
        assert!(help.contains(&format!("\n  {subcommand} ")), "{subcommand} is not in:\n{help}");
    }
}

fn explain_without_a_name() {
    let output = sandbox().plumb(&["explain"]);
    assert_eq!(output.status, Some(64), "{output:?}");
    assert!(output.err.contains("`plumb explain --list`"), "{}", output.err);
}

fn a_misspelt_scenario() {
    let output = sandbox().plumb(&["run", "egress-gatway"]);
    assert_eq!(output.status, Some(64), "{output:?}");
    assert!(output.err.contains("did you mean `egress-gateway`"), "{}", output.err);
}

fn a_mistake_in_a_scenario() {
    let sandbox = sandbox();
    let text = sandbox.succeed(&["scenario", "show", "quick"]).out;
    let line = text.lines().position(|line| line.starts_with("between =")).expect("quick has a wire") + 1;
    let file = sandbox.file("mine.toml", &text.replacen("between =", "betwen =", 1));
    let output = sandbox.plumb(&["scenario", "check", &file, "--format", "short"]);
    assert_eq!(output.status, Some(64), "{output:?}");
    assert!(output.out.contains(&format!("mine.toml:{line}:1: ")), "line {line} in: {}", output.out);
    let drawn = sandbox.plumb(&["run", &file]);
    assert_eq!(drawn.status, Some(64), "{drawn:?}");
    assert!(drawn.err.contains("betwen") && drawn.err.contains("between"), "{}", drawn.err);
}

fn every_builtin_shows_and_checks() {
    let sandbox = sandbox();
    let list = sandbox.succeed(&["scenario", "list"]).out;
    for name in [
        "quick",
        "engine-limits",
        "proxmox-vxlan",
        "egress-gateway",
        "bridge-streams",
        "bridge-queues",
        "bridge-multiqueue",
        "balloon",
        "vhost",
        "four-configurations",
    ] {
        assert!(list.contains(name), "{name} is not in:\n{list}");
        let file = sandbox.file(&format!("{name}.toml"), &sandbox.succeed(&["scenario", "show", name]).out);
        let checked = sandbox.succeed(&["scenario", "check", &file]).out;
        assert!(checked.contains("(baseline)"), "{checked}");
    }
}

fn a_dry_run_measures_nothing() {
    let sandbox = sandbox();
    let output = sandbox.succeed(&["run", "quick", "--dry-run"]).out;
    assert!(output.contains("trials of"), "{output}");
    assert!(!sandbox.database().exists());
}

fn a_database_that_is_none() {
    let sandbox = sandbox();
    let text = "this is somebody's shopping list\n".repeat(100);
    std::fs::write(sandbox.database(), &text).expect("writable");
    let output = sandbox.plumb(&["runs"]);
    assert_eq!(output.status, Some(1), "{output:?}");
    assert!(output.err.contains("runs.db"), "{}", output.err);
    assert_eq!(std::fs::read_to_string(sandbox.database()).expect("still there"), text);
}

fn a_report_without_runs() {
    let output = sandbox().plumb(&["report"]);
    assert_eq!(output.status, Some(1), "{output:?}");
    assert!(output.err.contains("plumb run quick"), "{}", output.err);
}

fn an_output_of_unknown_format() {
    let sandbox = sandbox();
    let output = sandbox.plumb(&["run", "quick", "--output", "report.docx"]);
    assert_eq!(output.status, Some(64), "{output:?}");
    assert!(output.err.contains(".md"), "{}", output.err);
    assert!(!sandbox.database().exists());
}

fn an_agent_refuses_another_version() {
    let sandbox = sandbox();
    let hello = sandbox.file("hello", "{\"hello\":{\"protocol\":99,\"tool\":\"9.9.9\"}}\n");
    let input = std::fs::File::open(hello).expect("just written");
    let output = sandbox.command(&["agent"]).stdin(input).output().expect("plumb was built");
    assert!(!output.status.success());
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(said.contains("protocol 99") && said.contains("9.9.9"), "{said}");
}

fn flags_that_make_no_sense() {
    let sandbox = sandbox();
    for (words, said) in [
        (&["client"][..], "<HOST>"),
        (&["client", "host", "-b", "fast"], "100M"),
        (&["client", "host", "-n", "1M", "-t", "1"], "--time"),
        (&["client", "host", "-u", "-M", "1400"], "-M"),
        (&["client", "host", "-t", "0"], "-t"),
        (&["client", "host", "-t", "-1"], "`-1` is no time"),
        (&["client", "host", "-P", "-2"], "-2 is not in 1..=128"),
        (&["client", "host", "-w", "10G"], "512 MiB"),
        (&["client", "host", "-Z", "--mode", "app"], "--mode app"),
        (&["client", "host", "-b", "1"], "a longer -t"),
        (&["client", "127.0.0.1:5201"], "--port 5201"),
        (&["client", "127.0.0.1", "--pin", "4096"], "which may use CPU"),
        (&["client", "127.0.0.1", "--pin", "/4096"], "CPU 4096"),
        (&["client", "host", "-V"], "-V is iperf3's"),
        (&["client", "host", "-f", "m"], "--json"),
        (&["server", "--logfile", "x"], "> FILE"),
        (&["ping", "host", "--rate", "10M"], "1000000"),
        (&["ping", "host", "--rate", "0.01"], "a longer -t"),
        (&["client", "host", "--rsa-public-key-path", "/no/key"], "--username"),
        (&["ping", "host", "--connect", "--spin"], "--spin"),
        (&["ping", "host", "--sockperf", "--under", "max"], "--under"),
        (&["ping", "host", "--pin", "same"], "taskset"),
        (&["server", "--allow", "everybody"], "everybody"),
        (&["server", "--max-clients", "0"], "1 to 1024"),
    ] {
        let output = sandbox.plumb(words);
        assert_eq!(output.status, Some(64), "{words:?}: {output:?}");
        assert!(output.err.contains(said), "{words:?}: no `{said}` in: {}", output.err);
    }
}

fn a_server_that_is_not_there() {
    let sandbox = sandbox();
    let port = free_port();
    for words in [&["client"][..], &["ping", "--tcp"], &["ping", "--udp"], &["ping", "--connect"]] {
        let output = sandbox.plumb(&[words, &["127.0.0.1", "-p", &port]].concat());
        assert_eq!(output.status, Some(1), "{words:?}: {output:?}");
        assert!(output.err.contains("is the server running"), "{words:?}: {}", output.err);
    }
    let json = sandbox.plumb(&["client", "127.0.0.1", "-p", &port, "--json"]);
    assert!(json.status == Some(1) && json.out.contains("\"error\": \"cannot connect"), "{json:?}");
}

fn against_itself() {
    let sandbox = sandbox();
    let port = free_port();
    let mut server = sandbox.start(&["server", "-p", &port, "-B", "127.0.0.1"]);
    let there = || std::net::TcpStream::connect(format!("127.0.0.1:{port}")).is_ok();
    assert!(wait_until(Duration::from_secs(60), there), "the server listens");
    let short = ["127.0.0.1", "-p", port.as_str(), "-t", "300ms", "--json"];
    for words in [
        &["client"][..],
        &["client", "--reverse", "-P", "2"],
        &["client", "--bidir", "--mode", "limit"],
        &["client", "--udp", "-b", "10M"],
        &["ping", "--warmup", "0"],
        &["ping", "--warmup", "0", "--tcp", "--rate", "1k"],
        &["ping", "--warmup", "0", "--under", "10M"],
        &["ping", "--warmup", "0", "--connect", "--clients", "2"],
    ] {
        let output = sandbox.succeed(&[words, &short].concat());
        let document: serde_json::Value = serde_json::from_str(&output.out).expect("JSON");
        let own = if words[0] == "client" { &document["plumb"] } else { &document };
        assert!(own["outcome"].is_object(), "{words:?}: {own}");
        let sockets = own["sockets"].as_array().map(Vec::len);
        assert!(
            words[0] == "ping" || sockets == Some(2),
            "a plumb at the other end tells of its sockets: {own}"
        );
    }
    server.kill().expect("it runs");
    let _ = server.wait();
}

/// A port of loopback that was free a moment ago, and is none that the kernel gives to connections: those begin at
/// 32768 (net.ipv4.ip_local_port_range).
fn free_port() -> String {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    let ports = || 10_000 + (std::process::id() * 61 + NEXT.fetch_add(1, Ordering::Relaxed)) % 20_000;
    let is_free = |port: &String| std::net::TcpListener::bind(format!("127.0.0.1:{port}")).is_ok();
    let tried = (0..100).map(|_| ports().to_string());
    { tried }.find(is_free).expect("loopback has ports")
}

fn a_reader_that_leaves_early() {
    let sandbox = sandbox();
    let print = || sandbox.command(&["schema", "findings"]);
    let (reader, writer) = std::io::pipe().expect("a pipe");
    drop(reader);
    let output = print().stdout(writer).output().expect("plumb was built");
    assert!(output.status.success() && output.stderr.is_empty(), "{output:?}");
    let full = std::fs::OpenOptions::new().write(true).open("/dev/full").expect("Linux has it");
    let output = print().stdout(full).output().expect("plumb was built");
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(said.contains("standard output"), "{said}");
}
