//! Tests hosts reached by SSH or through a member, with a real NATS server and real sshds in network namespaces.
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

fn network(hosts: usize) -> Network {
    Network::of(env!("CARGO_BIN_EXE_plumb"), hosts)
}

const CASES: &[Case] = &[
    Case {
        name: "run_over_two_hosts_measures_their_link_rate_and_leaves_only_the_program",
        needs: &[ROOT, SSHD, IP],
        test: || in_one_of_three(measured::rate_of_their_link),
    },
    Case {
        name: "measures_between_hosts_that_ssh_reaches_by_ipv6",
        needs: &[ROOT, SSHD, IP],
        test: measured::hosts_with_ipv6,
    },
    Case {
        name: "measures_this_machine_as_an_end",
        needs: &[ROOT, SSHD, IP],
        test: measured::this_machine_is_an_end,
    },
    Case {
        name: "leaves_no_file_without_a_cache_even_during_the_run",
        needs: &[ROOT, SSHD, IP],
        test: measured::without_a_cache_no_file_is_left,
    },
    Case {
        name: "agents_exit_with_a_killed_controller_and_the_run_is_resumed",
        needs: &[ROOT, SSHD, IP],
        test: || in_one_of_three(ends::killed_controller),
    },
    Case {
        name: "killed_connection_ends_both_agents_and_the_error_names_the_host",
        needs: &[ROOT, SSHD, IP],
        test: ends::killed_connection,
    },
    Case { name: "ssh_errors_say_what_to_do", needs: &[ROOT, SSHD, IP], test: refused::ssh_errors },
    Case {
        name: "reports_why_a_host_cannot_receive_the_program",
        needs: &[ROOT, SSHD, IP],
        test: refused::host_that_cannot_have_program,
    },
    Case {
        name: "refuses_one_machine_under_two_names_at_once",
        needs: &[ROOT, SSHD, IP],
        test: refused::one_machine_by_two_names,
    },
    Case {
        name: "two_runs_never_use_an_interface_at_the_same_time",
        needs: &[ROOT, SSHD, IP],
        test: shared::two_runs_never_measure_at_once,
    },
    Case {
        name: "names_slow_host_and_lossy_path_among_all_pairs_of_six_hosts",
        needs: &[ROOT, SSHD, IP, NFT, NATS, Need::PostgresServer],
        test: pairs::names_a_slow_host_and_a_lossy_path,
    },
    Case {
        name: "measures_a_host_once_at_a_time_and_disjoint_pairs_in_parallel",
        needs: &[ROOT, SSHD, IP, TCPDUMP],
        test: capture::no_host_is_in_two_measurements,
    },
    Case {
        name: "run_continues_without_lost_host_and_dead_path_and_completes_on_resume",
        needs: &[ROOT, SSHD, IP, NFT],
        test: without::lost_host_and_dead_path,
    },
    Case {
        name: "watch_repeats_only_the_missing_part_of_a_run",
        needs: &[ROOT, SSHD, IP],
        test: without::a_watch,
    },
    Case {
        name: "measures_an_overlay_next_to_the_hosts_network_without_changing_it",
        needs: &[ROOT, SSHD, IP],
        test: overlay::measures_an_overlay_next_to_the_network,
    },
    Case {
        name: "runs_proxmox_vxlan_between_two_ssh_hosts",
        needs: &[ROOT, SSHD, IP],
        test: overlay::proxmox_vxlan_between_two_hosts,
    },
    Case {
        name: "leaves_nothing_of_an_overlay_after_any_kill",
        needs: &[ROOT, SSHD, IP],
        test: overlay::leaves_nothing_after_any_kill,
    },
    Case { name: "overlay_errors_say_what_to_do", needs: &[ROOT, SSHD, IP, NFT], test: overlay::errors },
    Case {
        name: "simultaneous_lab_and_host_runs_warn_of_each_other",
        needs: &[ROOT, SSHD, IP],
        test: shared::lab_and_run_warn_of_each_other,
    },
    Case {
        name: "measures_between_members_that_waited_for_the_server_in_either_family",
        needs: &[ROOT, SSHD, IP, NATS],
        test: members::run_between_two,
    },
    Case {
        name: "members_and_controller_trust_only_the_server_s_certificate_over_ipv6",
        needs: &[ROOT, SSHD, IP, NATS, Need::Program("openssl", "openssl")],
        test: members::over_tls,
    },
    Case {
        name: "killed_member_ends_its_run_which_resumes_when_it_returns",
        needs: &[ROOT, SSHD, IP, NATS],
        test: members::killed_member,
    },
    Case {
        name: "agents_exit_without_the_server_and_the_run_resumes_when_it_returns",
        needs: &[ROOT, SSHD, IP, NATS],
        test: members::killed_server,
    },
    Case {
        name: "disconnected_member_stops_its_agent_by_its_own_clock",
        needs: &[ROOT, SSHD, IP, NATS],
        test: members::member_that_is_cut_off,
    },
    Case {
        name: "storm_of_faults_loses_no_trial_and_never_puts_a_host_into_two_streams",
        needs: &[ROOT, SSHD, IP, NFT, TCPDUMP, NATS, Need::PostgresServer],
        test: storm::one_of_each_main_kind,
    },
    Case {
        name: "hostile_server_cannot_exhaust_a_member_s_memory_or_block_ctrl_c",
        needs: &[],
        test: hostile::hostile_server_of_a_member,
    },
    Case {
        name: "hostile_server_cannot_exhaust_a_controller_s_memory_or_block_ctrl_c",
        needs: &[],
        test: hostile::hostile_server_of_a_controller,
    },
    Case {
        name: "explains_why_access_is_denied",
        needs: &[ROOT, SSHD, IP, NATS],
        test: members::access_denied,
    },
    Case {
        name: "member_enforces_its_policy_on_measurements",
        needs: &[ROOT, SSHD, IP, NATS],
        test: members::a_policy,
    },
    Case {
        name: "scenario_of_the_fleet_measures_cluster_nodes_with_one_file_and_separate_ports",
        needs: &[ROOT, SSHD, IP, NATS],
        test: members::nodes_of_a_cluster,
    },
];
