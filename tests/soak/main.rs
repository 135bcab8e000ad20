//! What takes too long for every change: the whole program for minutes and hours beside other work, stops and faults, and
//! how often it is right. `make soak`; each prints what it counted.
#![expect(clippy::disallowed_methods, reason = "a soak waits, and makes other work meanwhile")]
#![expect(clippy::disallowed_macros, reason = "what was counted is printed")]

mod attacked_server;
mod cycles;
mod equal;
mod kernels;
mod kills;
mod neighbours;
mod steps;
mod stops;
mod store_faults;
mod storm;
mod writers;

use std::process::ExitCode;

use plumb_tests::{Case, Need, Sandbox, run};

const CASES: &[Case] = &[
    Case {
        name: "quick_beside_bursts_of_other_work_says_what_it_says_alone",
        needs: &[Need::Root],
        test: neighbours::bursts_beside_quick,
    },
    Case {
        name: "quick_beside_four_loops_says_so_and_a_gate_cannot_tell",
        needs: &[Need::Root],
        test: neighbours::loops_beside_all_of_quick,
    },
    Case {
        name: "no_trial_in_which_an_agent_was_stopped_is_kept",
        needs: &[Need::Root],
        test: stops::no_stopped_trial_is_kept,
    },
    Case {
        name: "a_guest_s_memory_is_intact_after_a_hundred_cycles_with_compaction",
        needs: &[
            Need::Root,
            Need::Program("qemu-system-x86_64", "qemu-system-x86"),
            Need::GuestKernel,
            Need::File("/dev/net/tun", "a kernel with tap devices"),
        ],
        test: cycles::memory_is_intact_after_cycles,
    },
    Case {
        name: "every_test_of_guests_passes_on_each_installed_kernel",
        needs: &[Need::Root, Need::Program("qemu-system-x86_64", "qemu-system-x86"), Need::GuestKernel],
        test: kernels::guests_on_each_kernel,
    },
    Case {
        name: "nothing_is_left_and_nothing_lost_after_hundreds_of_kills",
        needs: &[
            Need::Root,
            Need::Program("kill", "procps"),
            Need::Program("qemu-system-x86_64", "qemu-system-x86"),
            Need::GuestKernel,
            Need::File("/dev/net/tun", "a kernel with tap devices"),
        ],
        test: kills::kills_at_random,
    },
    Case {
        name: "no_trial_is_lost_to_a_hundred_full_disks",
        needs: &[Need::Root, Need::Program("nsenter", "util-linux")],
        test: store_faults::full_disks,
    },
    Case {
        name: "no_trial_is_lost_to_a_hundred_locks_of_the_store",
        needs: &[Need::Root, Need::Program("sqlite3", "sqlite3")],
        test: store_faults::locked_stores,
    },
    Case {
        name: "a_server_is_steady_for_half_an_hour_among_honest_and_hostile_clients",
        needs: &[
            Need::Root,
            Need::Program("ip", "iproute2"),
            Need::Program("iperf3", "iperf3"),
            Need::Program("sockperf", "sockperf"),
        ],
        test: attacked_server::half_an_hour,
    },
    Case {
        name: "ten_writers_keep_a_hundred_thousand_trials_once_while_their_server_fails",
        needs: &[Need::Root, Need::PostgresServer],
        test: writers::a_hundred_thousand_trials,
    },
    Case {
        name: "in_a_storm_of_a_hundred_faults_no_trial_of_a_fleet_is_lost_and_no_host_is_in_two_streams",
        needs: &[
            Need::Root,
            Need::Program("sshd", "openssh-server"),
            Need::Program("ip", "iproute2"),
            Need::Program("nft", "nftables"),
            Need::Program("tcpdump", "tcpdump"),
            Need::Program("nats-server", "nats-server"),
            Need::PostgresServer,
        ],
        test: storm::a_storm_of_faults,
    },
    Case {
        name: "equal_runs_are_hardly_ever_called_different",
        needs: &[Need::Root],
        test: equal::equal_runs,
    },
];

fn main() -> ExitCode {
    run(CASES)
}

/// A run that makes disturbed trials again, as users have it.
fn sandbox() -> Sandbox {
    Sandbox::new(env!("CARGO_BIN_EXE_plumb"))
}

/// Starts `plumb` as users have it: tests keep disturbed trials, as they run beside each other.
fn command(sandbox: &Sandbox, arguments: &[&str]) -> std::process::Command {
    let mut command = sandbox.command(arguments);
    command.env_remove("PLUMB_KEEP_DISTURBED");
    command
}

/// So many of a soak's rounds: `SOAK_ROUNDS` if it is set.
fn rounds(usual: usize) -> usize {
    std::env::var("SOAK_ROUNDS").ok().map_or(usual, |text| text.parse().expect("SOAK_ROUNDS is a number"))
}

/// Spreads rounds evenly from 0 to 1, each far from those before it: multiples of the golden ratio, without their whole part.
fn spread(round: usize, stream: usize) -> f64 {
    ((round * 2 + stream + 1) as f64 * 0.618_033_988_749_895).fract()
}
