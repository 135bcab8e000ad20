//! Real guests, booted from the one binary: what they are, how they end, and that nothing is left of them.
#![expect(clippy::disallowed_methods, reason = "tests read files, /proc and the clock")]
#![expect(clippy::disallowed_macros, reason = "how long a boot took is told, not judged")]

use std::process::ExitCode;

use plumb_tests::{Case, Need, Sandbox, run};

mod balloon;
mod boots;
mod by_hand;
mod confined;
mod ends;
mod faults;
mod firecracker;
mod hypervisor;
mod measured;
mod rebalance;
mod refused;
mod remains;
mod roles;
mod standing;
mod telemetry;
mod variants;
mod virtio;

/// What any guest needs.
const GUEST: &[Need] = &[Need::Program("qemu-system-x86_64", "qemu-system-x86"), Need::GuestKernel];

/// What a guest needs that is measured: a device on a bridge.
const MEASURED: &[Need] = &[
    Need::Root,
    Need::Program("qemu-system-x86_64", "qemu-system-x86"),
    Need::GuestKernel,
    Need::File("/dev/net/tun", "a kernel with tap devices"),
];

/// What it takes besides to take a device away.
const WITH_IP: &[Need] = &[
    Need::Root,
    Need::Program("qemu-system-x86_64", "qemu-system-x86"),
    Need::Program("ip", "iproute2"),
    Need::Program("nsenter", "util-linux"),
    Need::GuestKernel,
    Need::File("/dev/net/tun", "a kernel with tap devices"),
];

/// What a machine needs that nobody of plumb started.
const STANDING: &[Need] = &[
    Need::Root,
    Need::Program("qemu-system-x86_64", "qemu-system-x86"),
    Need::File("/dev/net/tun", "a kernel with tap devices"),
];

/// What a guest needs that is measured with probes.
const WATCHED: &[Need] = &[
    Need::Root,
    Need::Program("qemu-system-x86_64", "qemu-system-x86"),
    Need::GuestKernel,
    Need::File("/dev/net/tun", "a kernel with tap devices"),
    Need::BTF,
];

/// What a user's own guest needs, which plumb has not booted.
const BY_HAND: &[Need] = &[
    Need::Program("qemu-system-x86_64", "qemu-system-x86"),
    Need::GuestKernel,
    Need::File("/usr/share/doc/busybox-static", "busybox in one file (apt-get install busybox-static)"),
];

/// What it takes to run guests in a machine that has KVM.
const HYPERVISOR: &[Need] =
    &[Need::Root, Need::Program("qemu-system-x86_64", "qemu-system-x86"), Need::GuestKernel];

/// A case of each kernel-dependent kind runs on every installed kernel series. `make soak` runs all cases on all of them.
const CASES: &[Case] = &[
    Case {
        name: "a_monitor_is_a_user_of_its_own_in_namespaces_of_its_own_with_a_sealed_image",
        needs: HYPERVISOR,
        test: confined::a_monitor_has_little,
    },
    Case {
        name: "memory_moves_by_pages_by_blocks_and_by_the_agent",
        needs: &[
            Need::Root,
            Need::Program("qemu-system-x86_64", "qemu-system-x86"),
            Need::EachGuestKernel,
            Need::File("/dev/net/tun", "a kernel with tap devices"),
            Need::BTF,
        ],
        test: balloon::three_methods_move_what_was_asked,
    },
    Case {
        name: "machines_that_cannot_give_memory_are_refused",
        needs: &[],
        test: balloon::what_cannot_give_memory_is_refused,
    },
    Case {
        name: "memory_goes_to_the_machine_that_uses_it",
        needs: BY_HAND,
        test: rebalance::memory_goes_to_the_machine_that_uses_it,
    },
    Case {
        name: "both_tiers_of_a_users_guest_are_told_and_the_fast_one_moves",
        needs: &[
            Need::Program("qemu-system-x86_64", "qemu-system-x86"),
            Need::EachGuestKernel,
            Need::File(
                "/usr/share/doc/busybox-static",
                "busybox in one file (apt-get install busybox-static)",
            ),
        ],
        test: telemetry::both_tiers_of_a_users_guest_are_told_and_the_fast_one_moves,
    },
    Case {
        name: "accesses_are_counted_by_damon_where_the_guests_kernel_has_it",
        needs: &[
            Need::Program("qemu-system-x86_64", "qemu-system-x86"),
            Need::GuestKernelWith(telemetry::DAMON, "linux-image-6.12-cloud-amd64"),
            Need::File(
                "/usr/share/doc/busybox-static",
                "busybox in one file (apt-get install busybox-static)",
            ),
        ],
        test: telemetry::accesses_are_counted_by_damon,
    },
    Case {
        name: "a_machine_has_one_mover_of_its_memory_at_a_time",
        needs: BY_HAND,
        test: telemetry::a_machine_has_one_mover_at_a_time,
    },
    Case {
        name: "who_takes_a_guests_pages_may_be_killed_in_the_middle",
        needs: BY_HAND,
        test: telemetry::who_takes_pages_may_be_killed_in_the_middle,
    },
    Case {
        name: "what_a_machine_lacks_to_move_its_memory_is_told",
        needs: &[Need::Program("qemu-system-x86_64", "qemu-system-x86")],
        test: telemetry::what_a_machine_lacks_is_told,
    },
    Case {
        name: "memory_is_intact_after_random_cycles_with_compaction",
        needs: WATCHED,
        test: balloon::memory_is_intact_after_cycles_with_compaction,
    },
    Case {
        name: "a_file_that_asks_for_what_cannot_be_is_refused",
        needs: &[],
        test: rebalance::a_file_that_asks_for_what_cannot_be_is_refused,
    },
    Case {
        name: "in_a_virtual_hypervisor_vhost_makes_a_monitor_s_calls_needless",
        needs: &[Need::Root, Need::Program("qemu-system-x86_64", "qemu-system-x86"), Need::EachGuestKernel],
        test: hypervisor::vhost_makes_calls_needless,
    },
    Case {
        name: "time_that_a_guest_runs_in_a_call_is_neither_work_nor_a_wait",
        needs: HYPERVISOR,
        test: hypervisor::time_in_a_guest_is_neither_work_nor_a_wait,
    },
    Case {
        name: "finished_trials_outlive_the_hypervisor_that_they_were_made_in",
        needs: HYPERVISOR,
        test: hypervisor::finished_trials_outlive_their_hypervisor,
    },
    Case {
        name: "a_monitor_s_cpu_time_and_calls_are_told_by_thread_beside_what_its_guest_sees",
        needs: WATCHED,
        test: roles::a_monitor_s_threads_are_told_apart,
    },
    Case {
        name: "a_machine_that_stands_is_told_to_be_what_its_command_line_says",
        needs: STANDING,
        test: standing::a_standing_machine_is_what_its_command_line_says,
    },
    Case {
        name: "a_free_monitor_tells_more_and_one_that_is_taken_says_so",
        needs: STANDING,
        test: standing::a_free_monitor_tells_more_and_is_let_go,
    },
    Case {
        name: "what_is_no_virtual_machine_is_not_measured",
        needs: &[],
        test: standing::what_is_no_machine_is_refused,
    },
    Case {
        name: "a_machine_that_ends_while_it_is_measured_leaves_what_was_seen",
        needs: STANDING,
        test: standing::a_machine_that_ends_meanwhile_leaves_what_was_seen,
    },
    Case {
        name: "a_guest_of_either_board_has_its_cpus_and_runs_every_probe_in_its_own_kernel",
        needs: &[Need::Program("qemu-system-x86_64", "qemu-system-x86"), Need::EachGuestKernel],
        test: boots::every_board_boots_and_probes,
    },
    Case {
        name: "guests_raised_and_lowered_in_a_row_leave_no_process_socket_or_file",
        needs: GUEST,
        test: boots::guests_in_a_row_leave_nothing,
    },
    Case {
        name: "a_controller_killed_while_its_guest_boots_or_runs_leaves_no_monitor",
        needs: GUEST,
        test: ends::a_killed_controller_leaves_no_monitor,
    },
    Case { name: "a_monitor_killed_is_an_error_that_says_so", needs: GUEST, test: ends::a_killed_monitor },
    Case { name: "ctrl_c_ends_a_booting_guest_at_once", needs: GUEST, test: ends::ctrl_c_ends_a_boot },
    Case {
        name: "a_kernel_that_panics_is_quoted_by_its_console",
        needs: GUEST,
        test: refused::a_panic_is_quoted,
    },
    Case {
        name: "a_kernel_or_a_size_that_makes_no_sense_is_refused_before_anything_starts",
        needs: GUEST,
        test: refused::nonsense_is_refused,
    },
    Case {
        name: "hardware_virtualisation_that_does_not_work_is_refused_with_its_reason",
        needs: GUEST,
        test: refused::kvm_is_checked,
    },
    Case {
        name: "a_guest_uses_as_many_queues_as_asked_and_each_takes_packets",
        needs: &[
            Need::Root,
            Need::Program("qemu-system-x86_64", "qemu-system-x86"),
            Need::EachGuestKernel,
            Need::File("/dev/net/tun", "a kernel with tap devices"),
        ],
        test: measured::queues_are_those_of_the_guest,
    },
    Case {
        name: "a_microvm_and_a_namespace_on_one_bridge_answer_each_other",
        needs: MEASURED,
        test: measured::a_microvm_answers_a_namespace,
    },
    Case {
        name: "a_guest_killed_in_a_trial_ends_the_run_and_finished_trials_are_kept",
        needs: MEASURED,
        test: faults::a_guest_killed,
    },
    Case {
        name: "a_guest_that_stands_still_in_a_trial_is_told_from_one_that_is_gone",
        needs: MEASURED,
        test: faults::a_guest_stopped,
    },
    Case {
        name: "a_controller_killed_in_a_trial_leaves_nothing_but_the_finished_trials",
        needs: MEASURED,
        test: faults::a_controller_killed,
    },
    Case {
        name: "a_tap_that_is_gone_ends_the_run_and_is_named",
        needs: WITH_IP,
        test: faults::a_tap_removed,
    },
    Case {
        name: "a_guests_device_threads_and_mtu_are_as_asked_and_the_record_says_what_was_agreed_on",
        needs: MEASURED,
        test: virtio::as_asked,
    },
    Case {
        name: "a_setting_that_a_guest_did_not_take_is_an_error_that_names_it",
        needs: MEASURED,
        test: virtio::not_taken,
    },
    Case {
        name: "a_guest_s_rings_have_the_sizes_of_each_level_up_to_those_that_its_monitor_made",
        needs: MEASURED,
        test: virtio::ring_sizes,
    },
    Case {
        name: "a_guest_s_device_coalesces_as_each_level_says_where_its_driver_can",
        needs: MEASURED,
        test: virtio::coalescing,
    },
    Case {
        name: "shipped_scenarios_run_with_their_guests_as_virtual_machines",
        needs: MEASURED,
        test: variants::guests_of_shipped_scenarios,
    },
    Case {
        name: "a_guest_without_a_scenario_tells_what_became_of_its_device",
        needs: MEASURED,
        test: variants::a_device_without_a_scenario,
    },
    Case {
        name: "a_device_that_a_guest_cannot_have_is_refused_with_its_reason",
        needs: MEASURED,
        test: variants::devices_that_cannot_be,
    },
    Case {
        name: "vhost_that_does_not_work_is_a_reason_to_skip_the_paths_of_its_guests",
        needs: MEASURED,
        test: measured::vhost_that_does_not_work_is_no_end,
    },
    Case {
        name: "the_shipped_grid_of_queues_and_streams_between_two_guests_runs",
        needs: MEASURED,
        test: measured::the_shipped_grid_runs,
    },
    Case {
        name: "a_guest_of_firecracker_is_measured_in_a_virtual_hypervisor_where_there_is_no_kvm",
        needs: &[
            Need::Root,
            Need::Release("firecracker", "https://github.com/firecracker-microvm/firecracker/releases"),
            Need::Program("qemu-system-x86_64", "qemu-system-x86"),
            Need::GuestKernel,
        ],
        test: firecracker::a_guest_is_measured,
    },
    Case {
        name: "without_firecracker_its_paths_are_left_out_and_the_rest_is_measured",
        needs: MEASURED,
        test: firecracker::absence_is_no_end,
    },
    Case {
        name: "what_firecracker_does_not_have_is_refused_before_anything_starts",
        needs: &[Need::GuestKernel],
        test: firecracker::flags_of_qemu_are_refused,
    },
    Case {
        name: "without_a_monitor_the_package_that_brings_it_is_named",
        needs: &[Need::GuestKernel],
        test: refused::a_missing_monitor_is_named,
    },
];

fn main() -> ExitCode {
    run(CASES)
}

fn sandbox() -> Sandbox {
    Sandbox::new(env!("CARGO_BIN_EXE_plumb"))
}
