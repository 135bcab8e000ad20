//! Long tests of the whole program under competing load and faults, run by `make soak`.
#![expect(clippy::disallowed_methods, reason = "a soak waits and creates competing load")]
#![expect(clippy::disallowed_macros, reason = "counts are printed")]

mod attacked_server;
mod bisect;
mod counts;
mod cycles;
#[path = "../between/ends.rs"]
mod ends;
mod equal;
#[path = "../lab/fault_cells.rs"]
mod fault_cells;
#[path = "../lab/fault_labs.rs"]
mod fault_labs;
#[path = "../between/fault_table.rs"]
mod fault_table;
mod hostile_peers;
#[path = "../vm/kernel_folders.rs"]
mod kernel_folders;
mod kernels;
mod kills;
mod neighbours;
#[path = "../between/node.rs"]
#[expect(dead_code, reason = "the tests of plumb between use more of it")]
mod node;
mod pairs;
#[path = "../between/podman.rs"]
mod podman;
mod steps;
mod stops;
mod store_faults;
mod storm;
#[path = "../lab/without_faults.rs"]
mod without_faults;
mod writers;

use std::{process::ExitCode, time::SystemTime};

use plumb_tests::{Case, Need, Sandbox, run};

const CASES: &[Case] = &[
    Case {
        name: "quick_under_bursts_of_load_agrees_with_undisturbed_runs",
        needs: &[Need::Root],
        test: neighbours::quick_under_bursts,
    },
    Case {
        name: "quick_under_four_loops_warns_and_a_gate_is_undecided",
        needs: &[Need::Root],
        test: neighbours::quick_under_loops,
    },
    Case {
        name: "verdict_gives_the_cause_in_27_of_28_cells",
        needs: &[Need::Root],
        test: || fault_cells::names_faults(seed(), rounds(28)),
    },
    Case {
        name: "verdict_names_holes_in_geneve_wireguard_and_esp",
        needs: &[Need::Root, Need::Program("qemu-system-x86_64", "qemu-system-x86"), Need::GuestKernel],
        test: || fault_cells::names_holes_in_tunnels(seed(), rounds(6)),
    },
    Case {
        name: "bisect_finds_the_kernel_among_sixteen",
        needs: &[
            Need::Program("qemu-system-x86_64", "qemu-system-x86"),
            Need::File("/var/lib/dpkg/info/linux-image-cloud-amd64.list", "a kernel for guests"),
            Need::File("/var/lib/dpkg/info/linux-image-6.12-cloud-amd64.list", "a second kernel for guests"),
        ],
        test: || bisect::finds_kernels(rounds(10), seed()),
    },
    Case {
        name: "counts_agree_between_fifteen_boots",
        needs: &[Need::Program("qemu-system-x86_64", "qemu-system-x86"), Need::GuestKernel],
        test: || counts::agree_between_boots(rounds(15).max(2)),
    },
    Case {
        name: "compare_finds_planted_changes_of_a_count",
        needs: &[Need::Program("qemu-system-x86_64", "qemu-system-x86"), Need::GuestKernel],
        test: || counts::planted_changes_are_found(rounds(10)),
    },
    Case {
        name: "fifty_runs_without_a_fault_name_none",
        needs: &[Need::Root],
        test: || without_faults::name_no_cause(seed(), rounds(50)),
    },
    Case {
        name: "stores_no_trial_with_a_stopped_agent",
        needs: &[Need::Root],
        test: stops::no_stopped_trial_is_kept,
    },
    Case {
        name: "guest_memory_is_intact_after_a_hundred_cycles_with_compaction",
        needs: &[
            Need::Root,
            Need::Program("qemu-system-x86_64", "qemu-system-x86"),
            Need::GuestKernel,
            Need::File("/dev/net/tun", "a kernel with tap devices"),
        ],
        test: cycles::memory_is_intact_after_cycles,
    },
    Case {
        name: "every_guest_test_passes_on_each_installed_kernel",
        needs: &[Need::Root, Need::Program("qemu-system-x86_64", "qemu-system-x86"), Need::GuestKernel],
        test: kernels::guests_on_each_kernel,
    },
    Case {
        name: "hundreds_of_random_kills_leave_nothing_behind_and_lose_no_trial",
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
        name: "hundred_random_kills_of_plumb_between_leave_nothing_behind",
        needs: &[Need::Root, Need::Program("ip", "iproute2")],
        test: || ends::killed_at_any_moment(rounds(100)),
    },
    Case {
        name: "plumb_between_names_the_fault_in_95_percent_of_the_cells",
        needs: &[
            Need::Root,
            Need::Program("ip", "iproute2"),
            Need::Program("tc", "iproute2"),
            Need::Program("nft", "nftables"),
            Need::Program("ethtool", "ethtool"),
            Need::Program("podman", "podman"),
            Need::Program("runc", "runc"),
            Need::File("/bin/busybox", "busybox-static"),
            Need::File("/sys/fs/cgroup/cpu/cpu.shares", "the CPU controller of cgroup version 1"),
        ],
        test: || fault_table::names_faults(seed(), rounds(28)),
    },
    Case {
        name: "plumb_between_measures_every_pair_of_endpoint_kinds",
        needs: &[
            Need::Root,
            Need::Program("ip", "iproute2"),
            Need::Program("podman", "podman"),
            Need::Program("runc", "runc"),
            Need::File("/bin/busybox", "busybox-static"),
        ],
        test: pairs::every_pair,
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
        name: "server_is_steady_for_half_an_hour_under_honest_and_hostile_clients",
        needs: &[
            Need::Root,
            Need::Program("ip", "iproute2"),
            Need::Program("iperf3", "iperf3"),
            Need::Program("sockperf", "sockperf"),
        ],
        test: attacked_server::half_an_hour,
    },
    Case {
        name: "hostile_peers_cost_bounded_memory_and_ctrl_c_ends_what_they_hold_up",
        needs: &[
            Need::Root,
            Need::Program("iperf3", "iperf3"),
            Need::Program("sockperf", "sockperf"),
            Need::Program("curl", "curl"),
            Need::Program("openssl", "openssl"),
            Need::Program("nats-server", "nats-server"),
            Need::PostgresServer,
        ],
        test: hostile_peers::thirty_lies_of_each_kind,
    },
    Case {
        name: "ten_writers_store_a_hundred_thousand_trials_once_while_the_server_crashes",
        needs: &[Need::Root, Need::PostgresServer],
        test: writers::hundred_thousand_trials,
    },
    Case {
        name: "storm_of_a_hundred_faults_loses_no_trial_and_never_puts_a_host_into_two_streams",
        needs: &[
            Need::Root,
            Need::Program("sshd", "openssh-server"),
            Need::Program("ip", "iproute2"),
            Need::Program("nft", "nftables"),
            Need::Program("tcpdump", "tcpdump"),
            Need::Program("nats-server", "nats-server"),
            Need::PostgresServer,
        ],
        test: storm::storm_of_faults,
    },
    Case {
        name: "equal_runs_are_rarely_reported_as_different",
        needs: &[Need::Root],
        test: equal::equal_runs,
    },
];

fn main() -> ExitCode {
    run(CASES)
}

fn sandbox() -> Sandbox {
    Sandbox::new(env!("CARGO_BIN_EXE_plumb"))
}

/// Repeats disturbed trials. Other tests disable repeats, because they run in parallel.
fn command(sandbox: &Sandbox, arguments: &[&str]) -> std::process::Command {
    let mut command = sandbox.command(arguments);
    command.env_remove("PLUMB_KEEP_DISTURBED");
    command
}

fn rounds(usual: usize) -> usize {
    std::env::var("SOAK_ROUNDS").ok().map_or(usual, |text| text.parse().expect("SOAK_ROUNDS is a number"))
}

fn seed() -> u32 {
    let from_clock = || SystemTime::UNIX_EPOCH.elapsed().expect("it is later").subsec_nanos() | 1;
    let seed = std::env::var("SOAK_SEED").ok();
    seed.map_or_else(from_clock, |text| text.parse().expect("SOAK_SEED is a number"))
}

/// Returns values from 0 to 1, far from the previous ones (fractional parts of multiples of the golden
/// ratio).
fn spread(round: usize, stream: usize) -> f64 {
    ((round * 2 + stream + 1) as f64 * 0.618_033_988_749_895).fract()
}
