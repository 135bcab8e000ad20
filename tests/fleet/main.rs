//! Hosts that SSH or a member makes reachable: real sshds, each in a network namespace of its own, on a bridge of another, and
//! a real NATS server.
#![expect(clippy::disallowed_methods, reason = "tests read files and /proc")]

use std::process::ExitCode;

use plumb_tests::{Case, Need, Network, in_one_of_three, run};

mod capture;
mod ends;
mod hostile;
mod measured;
mod members;
mod overlay;
mod pairs;
mod refused;
mod shared;
mod storm;
mod without;

const ROOT: Need = Need::Root;
const SSHD: Need = Need::Program("sshd", "openssh-server");
const NFT: Need = Need::Program("nft", "nftables");
const TCPDUMP: Need = Need::Program("tcpdump", "tcpdump");
const NATS: Need = Need::Program("nats-server", "nats-server");
const IP: Need = Need::Program("ip", "iproute2");

fn main() -> ExitCode {
    run(CASES)
}

/// So many hosts, and `plumb`.
fn network(hosts: usize) -> Network {
    Network::of(env!("CARGO_BIN_EXE_plumb"), hosts)
}

const CASES: &[Case] = &[
    Case {
        name: "a_run_over_two_hosts_gives_the_rate_of_their_link_and_leaves_only_the_program",
        needs: &[ROOT, SSHD, IP],
        test: || in_one_of_three(measured::the_rate_of_their_link),
    },
    Case {
        name: "this_machine_is_an_end_too",
        needs: &[ROOT, SSHD, IP],
        test: measured::this_machine_is_an_end,
    },
    Case {
        name: "without_a_cache_no_file_is_left_even_while_the_run_is_under_way",
        needs: &[ROOT, SSHD, IP],
        test: measured::without_a_cache_no_file_is_left,
    },
    Case {
        name: "agents_end_with_a_controller_that_is_killed_and_its_run_is_resumed",
        needs: &[ROOT, SSHD, IP],
        test: || in_one_of_three(ends::a_killed_controller),
    },
    Case {
        name: "a_connection_that_is_killed_ends_both_agents_and_the_error_names_the_host",
        needs: &[ROOT, SSHD, IP],
        test: ends::a_killed_connection,
    },
    Case {
        name: "what_keeps_ssh_from_a_host_is_told_with_what_to_do",
        needs: &[ROOT, SSHD, IP],
        test: refused::what_keeps_ssh_from_a_host,
    },
    Case {
        name: "a_host_that_cannot_have_the_program_says_why",
        needs: &[ROOT, SSHD, IP],
        test: refused::a_host_that_cannot_have_the_program,
    },
    Case {
        name: "one_machine_by_two_names_is_told_and_not_waited_for",
        needs: &[ROOT, SSHD, IP],
        test: refused::one_machine_by_two_names,
    },
    Case {
        name: "two_runs_over_one_interface_never_measure_at_once",
        needs: &[ROOT, SSHD, IP],
        test: shared::two_runs_never_measure_at_once,
    },
    Case {
        name: "of_all_pairs_of_six_hosts_the_slow_host_and_the_lossy_way_are_named",
        needs: &[ROOT, SSHD, IP, NFT, NATS, Need::PostgresServer],
        test: pairs::a_slow_host_and_a_lossy_way_are_named,
    },
    Case {
        name: "on_the_wire_no_host_is_in_two_measurements_at_once_and_pairs_without_a_common_host_are",
        needs: &[ROOT, SSHD, IP, TCPDUMP],
        test: capture::no_host_is_in_two_measurements,
    },
    Case {
        name: "a_run_over_many_goes_on_without_a_lost_host_and_a_dead_path_and_has_them_when_it_is_resumed",
        needs: &[ROOT, SSHD, IP, NFT],
        test: without::a_lost_host_and_a_dead_path,
    },
    Case {
        name: "a_watch_tries_what_a_run_lacked_again_and_nothing_else",
        needs: &[ROOT, SSHD, IP],
        test: without::a_watch,
    },
    Case {
        name: "an_overlay_between_two_hosts_is_measured_beside_their_network_and_never_stands_in_it",
        needs: &[ROOT, SSHD, IP],
        test: overlay::an_overlay_is_measured_beside_its_network,
    },
    Case {
        name: "proxmox_vxlan_runs_between_two_hosts_that_ssh_reaches",
        needs: &[ROOT, SSHD, IP],
        test: overlay::proxmox_vxlan_between_two_hosts,
    },
    Case {
        name: "whatever_is_killed_nothing_of_an_overlay_is_left_on_its_hosts",
        needs: &[ROOT, SSHD, IP],
        test: overlay::nothing_is_left_whatever_is_killed,
    },
    Case {
        name: "what_keeps_an_overlay_from_being_made_is_told_with_what_to_do",
        needs: &[ROOT, SSHD, IP, NFT],
        test: overlay::what_keeps_it_from_being_made,
    },
    Case {
        name: "a_lab_and_a_run_over_hosts_are_told_of_each_other_and_both_measure",
        needs: &[ROOT, SSHD, IP],
        test: shared::a_lab_beside_a_run_is_told,
    },
    Case {
        name: "a_run_between_members_that_waited_for_the_server_is_measured",
        needs: &[ROOT, SSHD, IP, NATS],
        test: members::a_run_between_two,
    },
    Case {
        name: "members_and_their_controller_believe_the_server_s_certificate_alone",
        needs: &[ROOT, SSHD, IP, NATS, Need::Program("openssl", "openssl")],
        test: members::over_tls,
    },
    Case {
        name: "a_member_that_is_killed_ends_its_run_which_goes_on_when_it_is_back",
        needs: &[ROOT, SSHD, IP, NATS],
        test: members::a_killed_member,
    },
    Case {
        name: "without_the_server_agents_end_and_the_run_goes_on_when_it_is_back",
        needs: &[ROOT, SSHD, IP, NATS],
        test: members::a_killed_server,
    },
    Case {
        name: "a_member_that_is_cut_off_ends_its_agent_by_its_own_clock",
        needs: &[ROOT, SSHD, IP, NATS],
        test: members::a_member_that_is_cut_off,
    },
    Case {
        name: "in_a_storm_of_faults_no_trial_is_lost_and_no_host_is_in_two_streams",
        needs: &[ROOT, SSHD, IP, NFT, TCPDUMP, NATS, Need::PostgresServer],
        test: storm::one_of_each_main_kind,
    },
    Case {
        name: "a_server_that_lies_cannot_make_a_member_hold_much_or_ignore_ctrl_c",
        needs: &[],
        test: hostile::a_server_that_lies_to_a_member,
    },
    Case {
        name: "a_server_that_lies_cannot_make_a_controller_hold_much_or_ignore_ctrl_c",
        needs: &[],
        test: hostile::a_server_that_lies_to_a_controller,
    },
    Case { name: "who_may_not_is_told_why", needs: &[ROOT, SSHD, IP, NATS], test: members::who_may_not },
    Case {
        name: "a_member_lets_measurements_do_what_its_policy_says_and_no_more",
        needs: &[ROOT, SSHD, IP, NATS],
        test: members::a_policy,
    },
    Case {
        name: "nodes_with_one_file_and_ports_of_their_own_are_measured_by_the_scenario_that_the_fleet_wrote",
        needs: &[ROOT, SSHD, IP, NATS],
        test: members::nodes_of_a_cluster,
    },
];
