//! Real labs: each path is what it says by the kernel's own evidence, and nothing is left of a lab that ends.
#![expect(clippy::disallowed_methods, reason = "tests read files, /proc and the clock")]

use std::{process::ExitCode, time::Duration};

use plumb_tests::{Case, Need, Sandbox, run};

mod chosen;
mod disturbed;
mod ends;
mod evidence;
mod hint;
mod live;
mod measured;
mod other_users;
mod packets;
mod probed;
mod shared_store;
mod watch;

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

const CASES: &[Case] = &[
    Case {
        name: "q_ends_a_run_shown_live_with_its_summary_and_the_rest_can_be_made_later",
        needs: &[ROOT, SCRIPT],
        test: live::q_ends_a_run_that_can_go_on,
    },
    Case {
        name: "the_terminal_is_given_back_whatever_ends_a_run",
        needs: &[ROOT, SCRIPT],
        test: live::the_terminal_is_given_back_whatever_ends_it,
    },
    Case {
        name: "a_client_says_its_rate_below_its_lines_and_takes_it_away",
        needs: &[SCRIPT],
        test: live::client_says_its_rate_below_its_lines,
    },
    Case {
        name: "a_run_is_told_in_plain_lines_where_that_is_asked_for_or_the_terminal_is_small",
        needs: &[ROOT, SCRIPT],
        test: live::plain_lines_where_they_are_asked_for,
    },
    Case {
        name: "the_underlay_carries_vxlan_with_the_vni_and_the_inner_addresses",
        needs: &[ROOT, TCPDUMP, IPERF3],
        test: evidence::the_underlay_carries_vxlan,
    },
    Case {
        name: "the_target_sees_the_egress_address_as_source",
        needs: &[ROOT, IPERF3],
        test: evidence::the_target_sees_the_egress_address,
    },
    Case {
        name: "guests_on_one_bridge_never_touch_the_wire",
        needs: &[ROOT, IPERF3],
        test: evidence::guests_on_one_bridge_never_touch_the_wire,
    },
    Case {
        name: "offloads_read_back_by_ethtool_are_the_scenarios",
        needs: &[ROOT, ETHTOOL],
        test: evidence::offloads_read_back_are_the_scenarios,
    },
    Case {
        name: "a_client_names_the_device_whose_offloads_are_off_and_the_command_that_mends_it",
        needs: &[ROOT, ETHTOOL, SETPRIV],
        test: hint::an_offload_that_is_off_is_named,
    },
    Case {
        name: "nothing_of_a_standing_lab_is_visible_in_the_root_namespace",
        needs: &[ROOT],
        test: evidence::nothing_is_visible_in_the_root_namespace,
    },
    Case {
        name: "two_labs_of_one_scenario_stand_side_by_side",
        needs: &[ROOT],
        test: evidence::two_labs_side_by_side,
    },
    Case {
        name: "a_standing_lab_says_that_its_virtual_machines_are_not_there",
        needs: &[ROOT, TAP],
        test: evidence::a_lab_without_its_virtual_machines,
    },
    Case {
        name: "a_burst_of_other_work_is_named_and_what_it_disturbed_is_made_again",
        needs: &[ROOT],
        test: disturbed::a_burst_is_named_and_its_trials_are_made_again,
    },
    Case {
        name: "a_run_beside_other_work_says_so_first_and_a_gate_cannot_tell",
        needs: &[ROOT],
        test: disturbed::a_run_beside_other_work_says_so_and_a_gate_cannot_tell,
    },
    Case {
        name: "a_trial_in_which_an_agent_stood_still_is_made_again",
        needs: &[ROOT],
        test: disturbed::a_trial_in_which_an_agent_stood_still_is_made_again,
    },
    Case {
        name: "every_builtin_scenario_runs_to_its_end",
        needs: &[ROOT],
        test: measured::every_builtin_runs,
    },
    Case { name: "a_run_is_measured_kept_and_reported", needs: &[ROOT], test: measured::a_run_is_measured },
    Case {
        name: "a_run_of_a_thousand_streams_ends_and_no_rate_is_more_than_the_wire_carried",
        needs: &[ROOT],
        test: measured::a_thousand_streams,
    },
    Case {
        name: "memory_is_touched_for_the_first_time_at_hosts_without_a_path",
        needs: &[ROOT],
        test: measured::memory_is_touched_at_hosts,
    },
    Case {
        name: "switching_the_vxlan_offloads_off_costs_throughput_and_the_report_says_how_to_mend_it",
        needs: &[ROOT],
        test: measured::vxlan_offload_off_is_found,
    },
    Case {
        name: "a_run_with_a_precision_stops_early_and_says_why",
        needs: &[ROOT],
        test: chosen::a_run_with_a_precision_stops_early,
    },
    Case {
        name: "a_killed_run_with_a_budget_goes_on_and_keeps_to_it",
        needs: &[ROOT],
        test: chosen::a_killed_run_with_a_budget,
    },
    Case {
        name: "trials_of_a_cell_have_the_same_ports_unless_they_are_to_vary",
        needs: &[ROOT],
        test: chosen::ports_are_fixed_or_vary,
    },
    Case {
        name: "a_remedy_that_was_tried_says_what_it_brought",
        needs: &[ROOT],
        test: chosen::a_remedy_is_tried,
    },
    Case {
        name: "queues_read_back_by_ethtool_are_those_that_a_device_was_made_with",
        needs: &[ROOT, ETHTOOL],
        test: evidence::queues_read_back_are_the_scenarios,
    },
    Case {
        name: "a_jumbo_path_is_verified_end_to_end",
        needs: &[ROOT],
        test: measured::a_jumbo_path_is_verified,
    },
    Case {
        name: "what_the_kernel_lacks_is_skipped_with_the_reason",
        needs: &[ROOT],
        test: measured::what_the_kernel_lacks_is_skipped,
    },
    Case {
        name: "a_run_without_root_works_in_a_user_namespace",
        needs: &[ROOT, SETPRIV],
        test: measured::a_run_without_root,
    },
    Case {
        name: "a_controller_killed_in_a_trial_leaves_nothing_and_its_run_is_resumed",
        needs: &[ROOT],
        test: ends::a_killed_controller_leaves_nothing,
    },
    Case {
        name: "a_server_of_runs_that_restarts_is_waited_for_and_no_trial_is_lost",
        needs: &[ROOT, Need::PostgresServer],
        test: shared_store::a_server_that_restarts,
    },
    Case {
        name: "of_two_controllers_of_a_run_in_a_database_one_makes_it",
        needs: &[ROOT, Need::PostgresServer],
        test: shared_store::two_controllers_of_one_run,
    },
    Case {
        name: "nothing_is_left_and_nothing_lost_after_a_few_kills_at_random",
        needs: &[ROOT],
        test: ends::a_few_kills,
    },
    Case {
        name: "ctrl_c_lowers_the_lab_and_keeps_the_trials",
        needs: &[ROOT],
        test: ends::ctrl_c_lowers_the_lab,
    },
    Case {
        name: "an_agent_killed_in_a_trial_is_named",
        needs: &[ROOT],
        test: ends::an_agent_killed_is_named,
    },
    Case {
        name: "a_probed_trial_has_what_was_seen_and_all_have_what_was_counted",
        needs: &[ROOT, Need::BTF],
        test: probed::a_probed_trial_has_what_was_seen,
    },
    Case {
        name: "packets_are_counted_by_size_and_queue_and_devices_tell_their_spread",
        needs: &[ROOT],
        test: packets::packets_are_counted_by_size_and_queue,
    },
    Case {
        name: "an_observer_killed_in_a_trial_ends_no_run",
        needs: &[ROOT, Need::BTF],
        test: probed::a_killed_observer_ends_no_run,
    },
    Case {
        name: "a_killed_controller_takes_its_probes_away_and_its_run_goes_on",
        needs: &[ROOT, Need::BTF],
        test: probed::a_killed_controller_takes_its_probes_away,
    },
    Case {
        name: "without_rights_the_probes_are_named_once_and_the_run_completes",
        needs: &[ROOT, SETPRIV],
        test: probed::without_rights_the_probes_are_named_once,
    },
    Case { name: "a_keeper_killed_leaves_only_a_line_for_gc", needs: &[ROOT], test: ends::a_killed_keeper },
    Case {
        name: "a_list_of_labs_that_others_could_write_is_refused_and_nothing_is_touched",
        needs: &[USERS],
        test: other_users::a_list_that_others_could_write,
    },
    Case {
        name: "an_environment_that_names_another_users_folder_makes_root_touch_nothing",
        needs: &[USERS],
        test: other_users::an_environment_of_another_user,
    },
    Case {
        name: "a_process_of_another_user_is_no_holder_of_a_lab",
        needs: &[USERS],
        test: other_users::a_holder_of_another_user,
    },
    Case {
        name: "namespaces_of_another_user_are_never_entered",
        needs: &[USERS],
        test: other_users::namespaces_of_another_user,
    },
    Case {
        name: "a_user_without_rights_raises_a_lab_enters_it_and_takes_it_down",
        needs: &[USERS],
        test: other_users::a_user_without_rights,
    },
    Case {
        name: "a_watch_compares_each_run_tells_a_loss_once_and_keeps_to_its_budget",
        needs: &[ROOT],
        test: watch::a_loss_is_told_and_the_budget_kept_to,
    },
    Case {
        name: "nothing_is_left_of_a_watch_that_ends_in_a_run",
        needs: &[ROOT],
        test: watch::nothing_is_left_of_a_watch_that_ends_in_a_run,
    },
    Case { name: "a_full_disk_is_an_error_and_loses_no_trial", needs: &[ROOT], test: ends::a_full_disk },
];

/// How long a machine with other work may take for what it usually does in less than a second.
const PATIENCE: Duration = Duration::from_secs(60);

fn sandbox() -> Sandbox {
    Sandbox::new(env!("CARGO_BIN_EXE_plumb"))
}
