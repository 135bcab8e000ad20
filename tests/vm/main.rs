//! Tests real guests that plumb boots: their properties, exit and cleanup.
#![expect(clippy::disallowed_methods, reason = "tests read files, /proc and the clock")]
#![expect(clippy::disallowed_macros, reason = "boot times are printed, not judged")]

use std::process::ExitCode;

use plumb_tests::{Case, Need, Sandbox, run};

mod balloon;
mod bisect;
mod boots;
mod by_hand;
mod captured;
mod confined;
mod conntrack;
mod counted;
mod ends;
mod faults;
mod firecracker;
mod hypervisor;
mod kernel_folders;
mod measured;
mod rebalance;
mod refused;
mod remains;
mod roles;
mod standing;
mod telemetry;
mod tunnels;
mod variants;
mod virtio;

const GUEST: &[Need] = &[Need::Program("qemu-system-x86_64", "qemu-system-x86"), Need::GuestKernel];

const MEASURED: &[Need] = &[
    Need::Root,
    Need::Program("qemu-system-x86_64", "qemu-system-x86"),
    Need::GuestKernel,
    Need::File("/dev/net/tun", "a kernel with tap devices"),
];

const WITH_IP: &[Need] = &[
    Need::Root,
    Need::Program("qemu-system-x86_64", "qemu-system-x86"),
    Need::Program("ip", "iproute2"),
    Need::Program("nsenter", "util-linux"),
    Need::GuestKernel,
    Need::File("/dev/net/tun", "a kernel with tap devices"),
];

const STANDING: &[Need] = &[
    Need::Root,
    Need::Program("qemu-system-x86_64", "qemu-system-x86"),
    Need::File("/dev/net/tun", "a kernel with tap devices"),
];

const WATCHED: &[Need] = &[
    Need::Root,
    Need::Program("qemu-system-x86_64", "qemu-system-x86"),
    Need::GuestKernel,
    Need::File("/dev/net/tun", "a kernel with tap devices"),
    Need::BTF,
];

const BY_HAND: &[Need] = &[
    Need::Program("qemu-system-x86_64", "qemu-system-x86"),
    Need::GuestKernel,
    Need::File("/usr/share/doc/busybox-static", "busybox in one file (apt-get install busybox-static)"),
];

const HYPERVISOR: &[Need] =
    &[Need::Root, Need::Program("qemu-system-x86_64", "qemu-system-x86"), Need::GuestKernel];

const CASES: &[Case] = &[
    Case {
        name: "counted_functions_have_their_known_share",
        needs: &[Need::Program("qemu-system-x86_64", "qemu-system-x86")],
        test: counted::functions_have_their_known_share,
    },
    Case { name: "counted_instructions_repeat", needs: HYPERVISOR, test: counted::counts_repeat },
    Case {
        name: "bisect_names_parameters_that_change_the_count",
        needs: HYPERVISOR,
        test: bisect::names_parameters_that_change_the_count,
    },
    Case {
        name: "verdict_names_the_full_connection_tracking_table_of_a_guest",
        needs: &[
            Need::Root,
            Need::Program("qemu-system-x86_64", "qemu-system-x86"),
            Need::GuestKernelWith(conntrack::MODULE, "linux-image-cloud-amd64"),
            Need::File("/dev/net/tun", "a kernel with tap devices"),
        ],
        test: conntrack::full_table_is_named,
    },
    Case {
        name: "refuses_to_count_times_and_guests",
        needs: &[],
        test: counted::refuses_what_it_cannot_count,
    },
    Case {
        name: "monitor_has_its_own_user_and_namespaces_and_a_sealed_image",
        needs: HYPERVISOR,
        test: confined::monitor_has_little,
    },
    Case {
        name: "moves_memory_by_pages_by_blocks_and_by_the_agent",
        needs: &[
            Need::Root,
            Need::Program("qemu-system-x86_64", "qemu-system-x86"),
            Need::EachGuestKernel,
            Need::File("/dev/net/tun", "a kernel with tap devices"),
            Need::BTF,
        ],
        test: balloon::three_methods_move_the_requested_amount,
    },
    Case {
        name: "refuses_machines_that_cannot_give_memory",
        needs: &[],
        test: balloon::refuses_machines_that_cannot_give_memory,
    },
    Case {
        name: "memory_goes_to_the_machine_that_uses_it",
        needs: BY_HAND,
        test: rebalance::memory_goes_to_the_machine_that_uses_it,
    },
    Case {
        name: "reports_both_tiers_of_a_user_s_guest_and_moves_the_fast_one",
        needs: &[
            Need::Program("qemu-system-x86_64", "qemu-system-x86"),
            Need::EachGuestKernel,
            Need::File(
                "/usr/share/doc/busybox-static",
                "busybox in one file (apt-get install busybox-static)",
            ),
        ],
        test: telemetry::reports_both_tiers_and_moves_the_fast_one,
    },
    Case {
        name: "damon_counts_accesses_if_the_guest_kernel_has_it",
        needs: &[
            Need::Program("qemu-system-x86_64", "qemu-system-x86"),
            Need::GuestKernelWith(telemetry::DAMON, "linux-image-6.12-cloud-amd64"),
            Need::File(
                "/usr/share/doc/busybox-static",
                "busybox in one file (apt-get install busybox-static)",
            ),
        ],
        test: telemetry::damon_counts_accesses,
    },
    Case {
        name: "only_one_process_moves_a_machine_s_memory",
        needs: BY_HAND,
        test: telemetry::only_one_process_moves_memory,
    },
    Case {
        name: "guest_survives_a_mover_killed_while_taking_its_pages",
        needs: BY_HAND,
        test: telemetry::survives_a_kill_while_taking_pages,
    },
    Case {
        name: "reports_missing_requirements_for_moving_memory",
        needs: &[Need::Program("qemu-system-x86_64", "qemu-system-x86")],
        test: telemetry::names_what_a_machine_lacks,
    },
    Case {
        name: "memory_is_intact_after_random_cycles_with_compaction",
        needs: WATCHED,
        test: balloon::memory_is_intact_after_cycles_with_compaction,
    },
    Case {
        name: "refuses_a_file_with_impossible_limits",
        needs: &[],
        test: rebalance::refuses_impossible_limits,
    },
    Case {
        name: "vhost_saves_a_monitor_s_calls_in_a_virtual_hypervisor",
        needs: &[Need::Root, Need::Program("qemu-system-x86_64", "qemu-system-x86"), Need::EachGuestKernel],
        test: hypervisor::vhost_saves_calls,
    },
    Case {
        name: "guest_time_inside_a_call_is_neither_work_nor_wait",
        needs: HYPERVISOR,
        test: hypervisor::guest_time_is_neither_work_nor_wait,
    },
    Case {
        name: "messages_are_followed_through_tunnels_and_on_their_underlay",
        needs: WATCHED,
        test: tunnels::messages_are_followed,
    },
    Case {
        name: "tunnels_have_the_documented_headers_and_encrypt",
        needs: &[
            Need::Program("qemu-system-x86_64", "qemu-system-x86"),
            Need::Program("tcpdump", "tcpdump"),
            Need::EachGuestKernel,
            Need::File(
                "/usr/share/doc/busybox-static",
                "busybox in one file (apt-get install busybox-static)",
            ),
        ],
        test: captured::tunnels_have_the_documented_headers_and_encrypt,
    },
    Case {
        name: "finished_trials_survive_their_hypervisor",
        needs: HYPERVISOR,
        test: hypervisor::finished_trials_survive_their_hypervisor,
    },
    Case {
        name: "shows_a_monitor_s_cpu_time_and_calls_by_thread_next_to_the_guest_s_view",
        needs: WATCHED,
        test: roles::distinguishes_a_monitor_s_threads,
    },
    Case {
        name: "describes_a_running_machine_as_its_command_line_does",
        needs: STANDING,
        test: standing::describes_a_running_machine,
    },
    Case {
        name: "free_monitor_adds_details_and_busy_monitor_is_reported",
        needs: STANDING,
        test: standing::free_monitor_adds_details_and_is_released,
    },
    Case {
        name: "measures_only_virtual_machines",
        needs: &[],
        test: standing::refuses_what_is_not_a_machine,
    },
    Case {
        name: "keeps_results_of_a_machine_that_ends_during_the_measurement",
        needs: STANDING,
        test: standing::keeps_results_of_a_machine_that_ends,
    },
    Case {
        name: "guest_of_either_machine_type_has_its_cpus_and_runs_every_probe",
        needs: &[Need::Program("qemu-system-x86_64", "qemu-system-x86"), Need::EachGuestKernel],
        test: boots::every_board_boots_and_probes,
    },
    Case {
        name: "guests_created_and_removed_in_a_row_leave_no_process_socket_or_file",
        needs: GUEST,
        test: boots::guests_in_a_row_leave_nothing,
    },
    Case {
        name: "controller_killed_during_a_boot_or_run_leaves_no_monitor",
        needs: GUEST,
        test: ends::killed_controller_leaves_no_monitor,
    },
    Case { name: "killed_monitor_is_reported_as_an_error", needs: GUEST, test: ends::killed_monitor },
    Case { name: "ctrl_c_stops_a_booting_guest_at_once", needs: GUEST, test: ends::ctrl_c_ends_a_boot },
    Case { name: "shows_the_console_of_a_panicking_kernel", needs: GUEST, test: refused::shows_a_panic },
    Case {
        name: "refuses_an_invalid_kernel_or_size_before_starting",
        needs: GUEST,
        test: refused::refuses_invalid_flags,
    },
    Case {
        name: "refuses_broken_hardware_virtualisation_with_the_reason",
        needs: GUEST,
        test: refused::kvm_is_checked,
    },
    Case {
        name: "guest_uses_the_requested_queues_and_each_receives_packets",
        needs: &[
            Need::Root,
            Need::Program("qemu-system-x86_64", "qemu-system-x86"),
            Need::EachGuestKernel,
            Need::File("/dev/net/tun", "a kernel with tap devices"),
        ],
        test: measured::queues_are_those_of_the_guest,
    },
    Case {
        name: "microvm_and_namespace_on_one_bridge_answer_each_other_in_both_families",
        needs: MEASURED,
        test: measured::microvm_answers_namespace,
    },
    Case {
        name: "guest_killed_in_a_trial_ends_the_run_and_finished_trials_stay",
        needs: MEASURED,
        test: faults::guest_killed,
    },
    Case {
        name: "distinguishes_a_stopped_guest_from_a_dead_one",
        needs: MEASURED,
        test: faults::guest_stopped,
    },
    Case {
        name: "controller_killed_in_a_trial_leaves_only_the_finished_trials",
        needs: MEASURED,
        test: faults::controller_killed,
    },
    Case { name: "missing_tap_ends_the_run_and_is_named", needs: WITH_IP, test: faults::tap_removed },
    Case {
        name: "guest_device_threads_and_mtu_are_as_requested_and_the_record_has_what_was_negotiated",
        needs: MEASURED,
        test: virtio::as_asked,
    },
    Case { name: "names_a_setting_that_a_guest_did_not_accept", needs: MEASURED, test: virtio::not_taken },
    Case {
        name: "guest_rings_have_the_size_of_each_level_up_to_the_monitor_s_limit",
        needs: MEASURED,
        test: virtio::ring_sizes,
    },
    Case {
        name: "guest_device_coalesces_at_each_level_if_its_driver_can",
        needs: MEASURED,
        test: virtio::coalescing,
    },
    Case {
        name: "runs_shipped_scenarios_with_virtual_machines_as_guests",
        needs: MEASURED,
        test: variants::guests_of_shipped_scenarios,
    },
    Case {
        name: "guests_with_different_kernels_are_measured_in_one_run",
        needs: MEASURED,
        test: variants::kernels_of_guests,
    },
    Case {
        name: "guest_without_a_scenario_describes_its_device",
        needs: MEASURED,
        test: variants::device_without_scenario,
    },
    Case {
        name: "refuses_an_impossible_guest_device_with_the_reason",
        needs: MEASURED,
        test: variants::devices_that_cannot_be,
    },
    Case {
        name: "skips_paths_of_guests_if_vhost_does_not_work",
        needs: MEASURED,
        test: measured::skips_paths_without_vhost,
    },
    Case {
        name: "runs_the_shipped_grid_of_queues_and_streams_between_two_guests",
        needs: MEASURED,
        test: measured::shipped_grid_runs,
    },
    Case {
        name: "measures_a_firecracker_guest_in_a_virtual_hypervisor_without_kvm",
        needs: &[
            Need::Root,
            Need::Release("firecracker", "https://github.com/firecracker-microvm/firecracker/releases"),
            Need::Program("qemu-system-x86_64", "qemu-system-x86"),
            Need::GuestKernel,
        ],
        test: firecracker::guest_is_measured,
    },
    Case {
        name: "skips_firecracker_paths_without_firecracker_and_measures_the_rest",
        needs: MEASURED,
        test: firecracker::absence_is_no_end,
    },
    Case {
        name: "refuses_options_that_firecracker_lacks_before_starting",
        needs: &[Need::GuestKernel],
        test: firecracker::flags_of_qemu_are_refused,
    },
    Case {
        name: "names_the_package_of_a_missing_monitor",
        needs: &[Need::GuestKernel],
        test: refused::names_a_missing_monitor,
    },
];

fn main() -> ExitCode {
    run(CASES)
}

fn sandbox() -> Sandbox {
    Sandbox::new(env!("CARGO_BIN_EXE_plumb"))
}
