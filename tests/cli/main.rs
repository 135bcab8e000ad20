//! Tests the command line. Traffic stays on loopback, and only tracing needs privileges.
#![expect(clippy::disallowed_methods, reason = "tests read files, /proc and the clock")]

use std::{
    process::ExitCode,
    sync::atomic::{AtomicU32, Ordering},
    time::Duration,
};

use plumb_tests::{Case, Need, Sandbox, run, wait_until};

mod agreement;
mod compare;
mod config;
mod contradictions;
mod ends;
mod fallback;
mod hostile;
mod hostile_input;
mod judges;
mod kept;
mod memory;
mod other_users;
mod plot;
mod printed;
mod rights;
mod shared_store;
mod shells;
mod stored_runs;
mod tables;
mod trace;
mod variants;
mod watch;

fn main() -> ExitCode {
    run(&[CASES, contradictions::CASES, other_users::CASES, judges::CASES].concat())
}

const CASES: &[Case] = &[
    Case { name: "rebalancer_replays_a_memory_record", needs: &[], test: memory::replays_a_record },
    Case {
        name: "refuses_memory_record_with_impossible_numbers",
        needs: &[],
        test: memory::refuses_impossible_numbers,
    },
    Case { name: "shows_a_memory_record_as_a_page", needs: &[], test: memory::shows_a_record },
    Case { name: "help_names_every_subcommand", needs: &[], test: help_names_every_subcommand },
    Case { name: "finds_scenarios_by_list_and_by_file_name", needs: &[], test: names_as_typed },
    Case { name: "appends_output_to_a_log_file", needs: &[], test: log_file },
    Case { name: "explain_without_a_name_lists_all_findings", needs: &[], test: explain_without_a_name },
    Case { name: "suggests_the_scenario_for_a_misspelt_name", needs: &[], test: misspelt_scenario },
    Case {
        name: "lists_and_shows_a_variant_as_its_own_scenario",
        needs: &[],
        test: variants::shown_and_checked,
    },
    Case {
        name: "error_for_a_missing_or_invalid_variant_lists_the_available_ones",
        needs: &[],
        test: variants::missing_variants,
    },
    Case { name: "resumes_a_stored_run_of_a_variant", needs: &[Need::Root], test: variants::resumed },
    Case { name: "shows_the_position_of_a_scenario_error", needs: &[], test: mistake_in_scenario },
    Case {
        name: "shows_and_checks_every_builtin_scenario",
        needs: &[],
        test: shows_and_checks_every_builtin_scenario,
    },
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
    Case { name: "dry_run_measures_nothing", needs: &[], test: dry_run_measures_nothing },
    Case {
        name: "leaves_a_file_that_is_not_a_database_unchanged",
        needs: &[],
        test: file_that_is_not_a_database,
    },
    Case { name: "report_without_runs_says_how_to_get_one", needs: &[], test: report_without_runs },
    Case { name: "refuses_unknown_output_format_before_running", needs: &[], test: output_of_unknown_format },
    Case {
        name: "agent_refuses_controller_of_another_version",
        needs: &[],
        test: agent_refuses_another_version,
    },
    Case {
        name: "refuses_invalid_flag_combinations_before_sending",
        needs: &[],
        test: invalid_flag_combinations,
    },
    Case { name: "missing_server_is_a_failure_with_a_hint", needs: &[], test: missing_server },
    Case {
        name: "plumb_measures_against_itself_in_every_kind_and_direction",
        needs: &[],
        test: against_itself,
    },
    Case { name: "writes_every_listed_picture", needs: &[], test: plot::writes_every_listed_picture },
    Case { name: "draws_two_logs_in_one_picture", needs: &[], test: plot::draws_two_logs_in_one_picture },
    Case {
        name: "plots_several_runs_and_quantities_in_one_chart",
        needs: &[],
        test: plot::overlays_runs_and_quantities,
    },
    Case { name: "explains_invalid_picture_requests", needs: &[], test: plot::explains_invalid_requests },
    Case { name: "answers_a_sweep_in_a_table", needs: &[], test: tables::answers_a_sweep_in_a_table },
    Case {
        name: "finds_four_machines_and_their_system_calls",
        needs: &[],
        test: tables::finds_four_machines_and_their_system_calls,
    },
    Case {
        name: "trial_rows_result_rows_and_report_agree",
        needs: &[],
        test: stored_runs::trial_rows_result_rows_and_report_agree,
    },
    Case {
        name: "numbers_agree_in_every_format",
        needs: &[],
        test: agreement::numbers_agree_in_every_format,
    },
    Case {
        name: "compared_runs_agree_in_every_format",
        needs: &[],
        test: agreement::compared_runs_agree_in_every_format,
    },
    Case {
        name: "silent_slowed_and_missing_trials_leave_their_comparisons",
        needs: &[],
        test: agreement::silent_slowed_and_missing_trials_leave_their_comparisons,
    },
    Case {
        name: "row_has_the_assessed_value_and_no_unknown_values",
        needs: &[],
        test: stored_runs::row_has_the_assessed_value_and_no_unknown_values,
    },
    Case { name: "checks_and_repairs_runs", needs: &[], test: kept::checked_and_repaired },
    Case { name: "exports_a_run_as_one_file_in_three_forms", needs: &[], test: kept::exported_and_imported },
    Case {
        name: "every_command_accepts_a_database_server",
        needs: &[Need::PostgresServer],
        test: shared_store::every_command_accepts_it,
    },
    Case {
        name: "never_shows_the_password_of_a_shared_store",
        needs: &[Need::PostgresServer],
        test: shared_store::never_shows_the_password,
    },
    Case { name: "does_not_remove_an_active_run_by_accident", needs: &[Need::Root], test: kept::active_run },
    Case {
        name: "run_survives_the_deletion_of_its_database",
        needs: &[Need::Root],
        test: kept::deleted_database,
    },
    Case {
        name: "run_resumed_on_another_machine_is_marked_in_all_reports",
        needs: &[Need::Root],
        test: kept::resumed_elsewhere,
    },
    Case { name: "printed_commands_name_the_given_database", needs: &[], test: kept::printed_commands },
    Case { name: "empty_database_name_means_the_default", needs: &[], test: kept::no_file_named },
    Case { name: "refuses_endless_documents_at_once", needs: &[], test: kept::endless_documents },
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
        test: hostile_input::hosts_that_block_a_start,
    },
    Case {
        name: "refuses_ssh_host_with_endless_output",
        needs: &[],
        test: hostile_input::hosts_with_endless_output,
    },
    Case { name: "full_disk_leaves_no_partial_report", needs: &[Need::Root], test: kept::full_disk },
    Case { name: "compares_runs_and_files", needs: &[], test: compare::compares_runs_and_files },
    Case {
        name: "describes_a_file_that_is_not_a_run",
        needs: &[],
        test: compare::describes_files_that_are_not_runs,
    },
    Case { name: "gate_sets_the_exit_status", needs: &[], test: compare::gate_sets_the_exit_status },
    Case {
        name: "history_shows_level_shift_and_unexpected_run",
        needs: &[],
        test: compare::history_shows_level_shift_and_unexpected_run,
    },
    Case {
        name: "gate_fails_on_longer_tail_and_on_silent_trials",
        needs: &[],
        test: compare::gate_fails_on_longer_tail_and_on_silent_trials,
    },
    Case {
        name: "baseline_stays_until_its_name_is_removed",
        needs: &[],
        test: compare::baseline_stays_until_its_name_is_removed,
    },
    Case {
        name: "interrupted_client_prints_its_result_and_the_server_reports_no_failure",
        needs: &[],
        test: ends::interrupted_clients,
    },
    Case {
        name: "two_servers_are_measured_in_turn_and_compared",
        needs: &[],
        test: ends::two_servers_are_measured_in_turn,
    },
    Case {
        name: "client_under_competing_load_names_the_process_and_excludes_its_time",
        needs: &[],
        test: ends::under_competing_load,
    },
    Case { name: "explains_all_warnings_of_a_stored_trial", needs: &[], test: ends::explained },
    Case {
        name: "document_of_an_interrupted_client_is_complete_and_marked",
        needs: &[],
        test: ends::interrupted_documents,
    },
    Case {
        name: "notifies_client_of_disallowed_address_and_logs_it_once",
        needs: &[],
        test: ends::refused_by_address,
    },
    Case {
        name: "busy_server_notifies_every_plumb_client",
        needs: &[],
        test: ends::refused_by_a_busy_server,
    },
    Case {
        name: "client_exits_with_the_reason_when_the_server_closes_its_streams",
        needs: &[],
        test: hostile::server_closes_its_streams,
    },
    Case {
        name: "counts_a_reply_to_an_unsent_message_as_stray_in_text_and_json",
        needs: &[],
        test: hostile::reports_stray_replies,
    },
    Case {
        name: "flag_overrides_environment_and_environment_overrides_configuration_file",
        needs: &[],
        test: config::precedence_of_flag_environment_and_file,
    },
    Case { name: "applies_the_configuration_file", needs: &[], test: config::applies_the_file },
    Case {
        name: "shows_the_line_of_a_configuration_error",
        needs: &[],
        test: config::shows_the_line_of_an_error,
    },
    Case {
        name: "escapes_control_sequences_in_file_contents_and_names",
        needs: &[],
        test: hostile::files_are_harmless,
    },
    Case {
        name: "escapes_names_in_every_report_format_and_picture",
        needs: &[],
        test: hostile::every_format_is_harmless,
    },
    Case { name: "escapes_control_sequences_from_a_server", needs: &[], test: hostile::servers_are_harmless },
    Case {
        name: "names_the_limit_that_ends_a_client_and_reports_no_result",
        needs: &[],
        test: ends::ended_by_a_limit,
    },
    Case {
        name: "refuses_programs_that_cannot_be_traced",
        needs: &[],
        test: trace::refuses_programs_that_cannot_be_traced,
    },
    Case { name: "compares_only_traces", needs: &[], test: trace::compares_only_traces },
    Case {
        name: "counts_calls_of_a_known_program_exactly",
        needs: PROBES,
        test: trace::counts_calls_of_a_known_program_exactly,
    },
    Case {
        name: "counts_children_with_the_program",
        needs: PROBES,
        test: trace::counts_children_with_the_program,
    },
    Case {
        name: "reports_a_failing_traced_program_as_a_failure",
        needs: PROBES,
        test: trace::reports_a_failing_program,
    },
    Case {
        name: "keeps_results_of_a_process_that_exits_during_the_trace",
        needs: PROBES,
        test: trace::keeps_results_of_a_process_that_exits,
    },
    Case { name: "shows_two_traces_side_by_side", needs: PROBES, test: trace::shows_two_traces_side_by_side },
    Case {
        name: "stops_processes_at_calls_on_request_if_ebpf_cannot_load",
        needs: FALLBACK,
        test: fallback::names_and_runs_the_fallback_without_privileges,
    },
    Case {
        name: "killed_plumb_releases_processes_stopped_at_calls",
        needs: FALLBACK,
        test: fallback::killed_plumb_releases_processes,
    },
    Case {
        name: "only_processes_given_by_pid_can_be_stopped_at_calls",
        needs: &[],
        test: fallback::only_processes_by_pid_can_be_stopped,
    },
    Case { name: "refuses_an_invalid_watch_plan", needs: &[], test: watch::refuses_an_invalid_plan },
    Case {
        name: "dry_run_of_a_watch_shows_the_traffic_of_the_next_day",
        needs: &[],
        test: watch::dry_run_shows_next_day,
    },
    Case {
        name: "skips_a_measurement_that_exceeds_the_budget",
        needs: &[],
        test: watch::skips_what_exceeds_the_budget,
    },
    Case {
        name: "watch_with_an_unreadable_store_reports_no_loss",
        needs: &[],
        test: watch::unreadable_store_is_no_loss,
    },
    Case {
        name: "doctor_reports_each_capability_correctly",
        needs: FALLBACK,
        test: rights::reports_each_capability,
    },
    Case {
        name: "lab_with_probes_needs_two_capabilities",
        needs: &[Need::Root, Need::Program("setpriv", "util-linux"), Need::BTF],
        test: rights::lab_and_its_probes_need_two,
    },
    Case {
        name: "full_disk_is_a_failure_but_closed_pipe_is_not",
        needs: &[],
        test: ends::reader_that_leaves_early,
    },
];

const FALLBACK: &[Need] = &[Need::Root, Need::Program("setpriv", "util-linux")];

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
        "vs",
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

fn names_as_typed() {
    let sandbox = sandbox();
    assert!(sandbox.succeed(&["list"]).out.contains("egress-gateway"));
    let quick = sandbox.succeed(&["scenario", "show", "quick"]).out;
    let folder = sandbox.file("mine.toml", &quick).replace("/mine.toml", "");
    let check = |name: &str| {
        sandbox.command(&["scenario", "check", name]).current_dir(&folder).output().expect("plumb runs")
    };
    assert!(check("mine").status.success(), "mine.toml is in this folder");
    let unknown = check("yours");
    let printed = String::from_utf8_lossy(&unknown.stderr);
    assert!(unknown.status.code() == Some(64) && printed.contains("no file yours.toml"), "{printed}");
}

fn log_file() {
    let sandbox = sandbox();
    let file = sandbox.file("client.log", "earlier\n");
    let output = sandbox.plumb(&["client", "127.0.0.1", "-p", "1", "--json", "--logfile", &file]);
    assert!(output.status == Some(1) && output.out.is_empty(), "{output:?}");
    let text = std::fs::read_to_string(&file).expect("the log is readable");
    let document = text.strip_prefix("earlier\n").expect("is appended");
    let document: serde_json::Value = serde_json::from_str(document).expect("is JSON");
    assert!(document["error"].is_string(), "{text}");
}

fn explain_without_a_name() {
    let output = sandbox().succeed(&["explain"]).out;
    assert!(output.contains("\ntunnel-cost "), "{output}");
}

fn misspelt_scenario() {
    let output = sandbox().plumb(&["run", "egress-gatway"]);
    assert_eq!(output.status, Some(64), "{output:?}");
    assert!(output.err.contains("did you mean `egress-gateway`"), "{}", output.err);
}

fn mistake_in_scenario() {
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

fn shows_and_checks_every_builtin_scenario() {
    let sandbox = sandbox();
    let list = sandbox.succeed(&["scenario", "list"]).out;
    for name in [
        "quick",
        "engine-limits",
        "tunnels",
        "ovs-or-bridge",
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

fn dry_run_measures_nothing() {
    let sandbox = sandbox();
    let output = sandbox.succeed(&["run", "quick", "--dry-run"]).out;
    assert!(output.contains("trials of"), "{output}");
    assert!(!sandbox.database().exists());
}

fn file_that_is_not_a_database() {
    let sandbox = sandbox();
    let text = "this is a shopping list\n".repeat(100);
    std::fs::write(sandbox.database(), &text).expect("writable");
    let output = sandbox.plumb(&["runs"]);
    assert_eq!(output.status, Some(1), "{output:?}");
    assert!(output.err.contains("runs.db"), "{}", output.err);
    assert_eq!(std::fs::read_to_string(sandbox.database()).expect("still there"), text);
}

fn report_without_runs() {
    let output = sandbox().plumb(&["report"]);
    assert_eq!(output.status, Some(1), "{output:?}");
    assert!(output.err.contains("plumb run quick"), "{}", output.err);
}

fn output_of_unknown_format() {
    let sandbox = sandbox();
    let output = sandbox.plumb(&["run", "quick", "--output", "report.docx"]);
    assert_eq!(output.status, Some(64), "{output:?}");
    assert!(output.err.contains(".md"), "{}", output.err);
    assert!(!sandbox.database().exists());
}

fn agent_refuses_another_version() {
    let sandbox = sandbox();
    let hello = sandbox.file("hello", "{\"hello\":{\"protocol\":99,\"tool\":\"9.9.9\"}}\n");
    let input = std::fs::File::open(hello).expect("just written");
    let output = sandbox.command(&["agent"]).stdin(input).output().expect("plumb was built");
    assert!(!output.status.success());
    let printed = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(printed.contains("protocol 99") && printed.contains("9.9.9"), "{printed}");
}

fn invalid_flag_combinations() {
    let sandbox = sandbox();
    for (words, printed) in [
        (&["client"][..], "<HOST>"),
        (&["client", "host", "-b", "fast"], "100M"),
        (&["client", "host", "-n", "1M", "-t", "1"], "--time"),
        (&["client", "host", "-u", "-M", "1400"], "-M"),
        (&["client", "host", "-t", "0"], "-t"),
        (&["client", "host", "-t", "-1"], "invalid time `-1`"),
        (&["client", "host", "-P", "-2"], "-2 is not in 1..=128"),
        (&["client", "host", "-w", "10G"], "512 MiB"),
        (&["client", "host", "-Z", "--mode", "app"], "--mode app"),
        (&["client", "host", "-b", "1"], "a longer -t"),
        (&["client", "127.0.0.1:5201"], "--port 5201"),
        (&["client", "127.0.0.1", "--pin", "4096"], "which may use CPU"),
        (&["client", "127.0.0.1", "--pin", "/4096"], "CPU 4096"),
        (&["client", "host", "-v"], "iperf3's -v is not supported"),
        (&["client", "host", "--json-stream"], "--json"),
        (&["server", "-c", "host"], "plumb client HOST"),
        (&["rport"], "'report'"),
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
        assert!(output.err.contains(printed), "{words:?}: no `{printed}` in: {}", output.err);
    }
}

fn missing_server() {
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
            "plumb at the other end reports its sockets: {own}"
        );
    }
    server.kill().expect("it runs");
    let _ = server.wait();
}

/// Returns a port outside the kernel's ephemeral range, which starts at 32768 (net.ipv4.ip_local_port_range).
fn free_port() -> String {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    let ports = || 10_000 + (std::process::id() * 61 + NEXT.fetch_add(1, Ordering::Relaxed)) % 20_000;
    let is_free = |port: &String| std::net::TcpListener::bind(format!("127.0.0.1:{port}")).is_ok();
    let tried = (0..100).map(|_| ports().to_string());
    { tried }.find(is_free).expect("loopback has ports")
}
