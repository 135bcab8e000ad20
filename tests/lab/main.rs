//! Tests real labs: the kernel confirms each path, and a removed lab leaves nothing behind.
#![expect(clippy::disallowed_methods, reason = "tests read files, /proc and the clock")]
#![expect(clippy::disallowed_macros, reason = "the cells of a table are printed")]

use std::process::ExitCode;

use plumb_tests::{Case, Need, PATIENCE, Sandbox, run};

mod chosen;
mod cookbook;
mod disturbed;
mod ends;
mod evidence;
mod families;
mod fault_cells;
mod fault_clients;
mod fault_labs;
mod faults;
mod faults_ipv6;
mod hint;
mod live;
mod measured;
mod other_users;
mod packets;
mod probed;
mod shared_store;
mod watch;
mod without_faults;

const ROOT: Need = Need::Root;
const USERS: Need = Need::OtherUsers;
const IPERF3: Need = Need::Program("iperf3", "iperf3");
const TCPDUMP: Need = Need::Program("tcpdump", "tcpdump");
const ETHTOOL: Need = Need::Program("ethtool", "ethtool");
const TAP: Need = Need::File("/dev/net/tun", "a kernel with tap devices");
const SCRIPT: Need = Need::Program("script", "bsdutils");
const SETPRIV: Need = Need::Program("setpriv", "util-linux");

fn main() -> ExitCode {
    run(CASES)
}

/// This seed draws three different faults, a bounded stream and an unlimited one.
const CELL_SEED: u32 = 12_345_678;

const CASES: &[Case] = &[
    Case {
        name: "q_ends_a_live_run_with_its_summary_and_the_run_can_be_resumed",
        needs: &[ROOT, SCRIPT],
        test: live::q_ends_a_resumable_run,
    },
    Case {
        name: "restores_the_terminal_however_a_run_ends",
        needs: &[ROOT, SCRIPT],
        test: live::restores_the_terminal,
    },
    Case {
        name: "client_shows_and_removes_a_live_rate_below_its_output",
        needs: &[SCRIPT],
        test: live::client_shows_its_rate,
    },
    Case {
        name: "prints_a_run_in_plain_lines_on_request_and_on_a_small_terminal",
        needs: &[ROOT, SCRIPT],
        test: live::plain_lines_on_request,
    },
    Case {
        name: "interleaves_ipv4_and_ipv6_and_gives_their_ratio_an_interval",
        needs: &[ROOT],
        test: families::interleaves_both,
    },
    Case {
        name: "underlay_carries_vxlan_with_the_vni_and_the_inner_addresses",
        needs: &[ROOT, TCPDUMP, IPERF3],
        test: evidence::underlay_carries_vxlan,
    },
    Case {
        name: "target_sees_the_egress_address_as_source",
        needs: &[ROOT, IPERF3],
        test: evidence::the_target_sees_the_egress_address,
    },
    Case {
        name: "guests_on_one_bridge_never_use_the_wire",
        needs: &[ROOT, IPERF3],
        test: evidence::guests_on_one_bridge_never_use_the_wire,
    },
    Case {
        name: "ethtool_shows_the_offloads_of_the_scenario",
        needs: &[ROOT, ETHTOOL],
        test: evidence::ethtool_shows_the_offloads,
    },
    Case {
        name: "client_names_the_device_without_offloads_and_advises_nothing",
        needs: &[ROOT, ETHTOOL, SETPRIV],
        test: hint::names_a_disabled_offload,
    },
    Case {
        name: "lab_is_invisible_in_the_root_namespace",
        needs: &[ROOT],
        test: evidence::invisible_in_the_root_namespace,
    },
    Case { name: "two_labs_of_one_scenario_coexist", needs: &[ROOT], test: evidence::two_labs_side_by_side },
    Case {
        name: "removing_a_lab_ends_its_shells_and_names_other_processes",
        needs: &[ROOT],
        test: evidence::processes_in_a_removed_lab,
    },
    Case {
        name: "lab_reports_missing_virtual_machines",
        needs: &[ROOT, TAP],
        test: evidence::lab_without_its_virtual_machines,
    },
    Case {
        name: "names_a_burst_of_competing_load_and_repeats_disturbed_trials",
        needs: &[ROOT],
        test: disturbed::names_a_burst_and_repeats_its_trials,
    },
    Case {
        name: "run_under_competing_load_warns_first_and_a_gate_is_undecided",
        needs: &[ROOT],
        test: disturbed::run_under_load_warns_and_a_gate_is_undecided,
    },
    Case {
        name: "repeats_a_trial_with_a_stopped_agent",
        needs: &[ROOT],
        test: disturbed::repeats_a_trial_with_a_stopped_agent,
    },
    Case {
        name: "runs_every_builtin_scenario_to_the_end",
        needs: &[ROOT],
        test: measured::every_builtin_runs,
    },
    Case { name: "measures_stores_and_reports_a_run", needs: &[ROOT], test: measured::run_is_measured },
    Case {
        name: "run_with_a_thousand_streams_completes_and_no_rate_exceeds_the_wire",
        needs: &[ROOT],
        test: measured::thousand_streams,
    },
    Case {
        name: "touches_memory_for_the_first_time_at_hosts_without_a_path",
        needs: &[ROOT],
        test: measured::memory_is_touched_at_hosts,
    },
    Case {
        name: "pages_of_the_cookbook_reach_their_verdict",
        needs: &[ROOT],
        test: cookbook::pages_reach_their_verdict,
    },
    Case {
        name: "names_the_cause_device_and_numbers_of_faults_at_a_switch",
        needs: &[ROOT],
        test: faults::names_faults_of_a_switch,
    },
    Case {
        name: "names_the_router_with_filtered_icmp_errors",
        needs: &[ROOT],
        test: faults::names_filtered_icmp_errors,
    },
    Case {
        name: "names_the_device_and_sizes_of_holes_in_ipv6",
        needs: &[ROOT],
        test: faults_ipv6::names_holes_in_ipv6,
    },
    Case {
        name: "names_ports_of_source_nat_and_lost_checksums",
        needs: &[ROOT],
        test: faults::names_ports_and_checksums,
    },
    Case {
        name: "verdict_gives_the_cause_of_faults_drawn_from_a_table",
        needs: &[ROOT],
        test: || fault_cells::names_faults(CELL_SEED, 3),
    },
    Case {
        name: "verdict_names_a_hole_in_a_tunnel_of_the_virtual_hypervisor",
        needs: &[ROOT, Need::Program("qemu-system-x86_64", "qemu-system-x86"), Need::GuestKernel],
        test: || fault_cells::names_holes_in_tunnels(CELL_SEED, 1),
    },
    Case {
        name: "runs_without_a_fault_name_none",
        needs: &[ROOT],
        test: || without_faults::name_no_cause(CELL_SEED, 3),
    },
    Case {
        name: "last_lines_of_client_and_ping_name_the_cause_that_their_machine_shows",
        needs: &[ROOT, IPERF3, Need::Program("sockperf", "sockperf")],
        test: fault_clients::last_lines_name_the_cause,
    },
    Case {
        name: "last_lines_of_client_and_ping_name_the_cpu_limit_of_their_cgroup",
        needs: &[ROOT, IPERF3, Need::Program("sockperf", "sockperf"), fault_clients::CPU_LIMITS],
        test: fault_clients::last_lines_name_the_cpu_limit,
    },
    Case {
        name: "path_that_cannot_carry_the_workload_is_the_answer",
        needs: &[ROOT],
        test: faults::path_that_cannot_carry_the_workload_is_the_answer,
    },
    Case {
        name: "disabling_vxlan_offloads_costs_throughput_and_the_report_has_the_remedy",
        needs: &[ROOT],
        test: measured::vxlan_offload_off_is_found,
    },
    Case {
        name: "run_with_a_precision_stops_early_and_says_why",
        needs: &[ROOT],
        test: chosen::run_with_precision_stops_early,
    },
    Case {
        name: "killed_run_with_a_budget_resumes_within_it",
        needs: &[ROOT],
        test: chosen::killed_run_with_budget,
    },
    Case {
        name: "two_settings_are_compared_in_one_sentence",
        needs: &[ROOT],
        test: chosen::two_settings_compete,
    },
    Case {
        name: "killed_comparison_of_two_settings_is_resumed",
        needs: &[ROOT],
        test: chosen::killed_contest_is_resumed,
    },
    Case {
        name: "trials_of_a_result_use_the_same_ports_unless_they_should_vary",
        needs: &[ROOT],
        test: chosen::ports_are_fixed_or_vary,
    },
    Case { name: "reports_the_effect_of_a_tried_remedy", needs: &[ROOT], test: chosen::remedy_is_tried },
    Case {
        name: "ethtool_shows_the_queues_of_the_scenario",
        needs: &[ROOT, ETHTOOL],
        test: evidence::ethtool_shows_the_queues,
    },
    Case { name: "verifies_a_jumbo_path_end_to_end", needs: &[ROOT], test: measured::jumbo_path_is_verified },
    Case {
        name: "skips_paths_that_the_kernel_does_not_support_with_the_reason",
        needs: &[ROOT],
        test: measured::skips_what_the_kernel_lacks,
    },
    Case {
        name: "runs_without_root_in_a_user_namespace",
        needs: &[ROOT, SETPRIV],
        test: measured::run_without_root,
    },
    Case {
        name: "controller_killed_in_a_trial_leaves_nothing_and_its_run_resumes",
        needs: &[ROOT],
        test: ends::killed_controller_leaves_nothing,
    },
    Case {
        name: "run_waits_for_a_restarting_database_server_without_losing_a_trial",
        needs: &[ROOT, Need::PostgresServer],
        test: shared_store::server_that_restarts,
    },
    Case {
        name: "only_one_of_two_controllers_makes_a_run_in_a_database",
        needs: &[ROOT, Need::PostgresServer],
        test: shared_store::two_controllers_of_one_run,
    },
    Case {
        name: "few_random_kills_leave_nothing_behind_and_lose_no_trial",
        needs: &[ROOT],
        test: ends::few_kills,
    },
    Case {
        name: "ctrl_c_removes_the_lab_and_stores_the_trials",
        needs: &[ROOT],
        test: ends::ctrl_c_removes_the_lab,
    },
    Case { name: "names_an_agent_killed_in_a_trial", needs: &[ROOT], test: ends::agent_killed_is_named },
    Case {
        name: "probed_trials_have_probe_data_and_all_trials_have_counters",
        needs: &[ROOT, Need::BTF],
        test: probed::probed_trials_have_probe_data,
    },
    Case {
        name: "counts_packets_by_size_and_queue_and_shows_how_devices_spread_them",
        needs: &[ROOT],
        test: packets::counts_packets_by_size_and_queue,
    },
    Case {
        name: "run_survives_an_observer_killed_in_a_trial",
        needs: &[ROOT, Need::BTF],
        test: probed::killed_observer_ends_no_run,
    },
    Case {
        name: "killed_controller_unloads_its_probes_and_its_run_resumes",
        needs: &[ROOT, Need::BTF],
        test: probed::killed_controller_unloads_its_probes,
    },
    Case {
        name: "names_probes_without_privileges_once_and_completes_the_run",
        needs: &[ROOT, SETPRIV],
        test: probed::names_probes_without_privileges_once,
    },
    Case { name: "killed_holder_leaves_only_a_list_entry_for_gc", needs: &[ROOT], test: ends::killed_holder },
    Case {
        name: "refuses_a_list_of_labs_that_others_can_write_and_changes_nothing",
        needs: &[USERS],
        test: other_users::list_that_others_could_write,
    },
    Case {
        name: "root_changes_nothing_in_another_user_s_folder_named_by_the_environment",
        needs: &[USERS],
        test: other_users::environment_of_another_user,
    },
    Case {
        name: "does_not_accept_another_user_s_process_as_holder_of_a_lab",
        needs: &[USERS],
        test: other_users::holder_of_another_user,
    },
    Case {
        name: "never_enters_namespaces_of_another_user",
        needs: &[USERS],
        test: other_users::namespaces_of_another_user,
    },
    Case {
        name: "unprivileged_user_creates_enters_and_removes_a_lab",
        needs: &[USERS],
        test: other_users::user_without_rights,
    },
    Case {
        name: "watch_compares_each_run_reports_a_loss_once_and_respects_its_budget",
        needs: &[ROOT],
        test: watch::reports_a_loss_and_respects_the_budget,
    },
    Case {
        name: "watch_that_ends_during_a_run_leaves_nothing_behind",
        needs: &[ROOT],
        test: watch::watch_that_ends_during_a_run_leaves_nothing_behind,
    },
    Case { name: "full_disk_is_an_error_and_loses_no_trial", needs: &[ROOT], test: ends::full_disk },
];

fn sandbox() -> Sandbox {
    Sandbox::new(env!("CARGO_BIN_EXE_plumb"))
}
