//! Real guests, booted from the one binary: what they are, how they end, and that nothing is left of them.
#![expect(clippy::disallowed_methods, reason = "tests read files, /proc and the clock")]
#![expect(clippy::disallowed_macros, reason = "how long a boot took is told, not judged")]

use std::process::ExitCode;

use plumb_tests::{Case, Need, Sandbox, run};

mod boots;
mod ends;
mod measured;
mod refused;
mod remains;

/// What any guest needs.
const GUEST: &[Need] = &[Need::Program("qemu-system-x86_64", "qemu-system-x86"), Need::GuestKernel];

/// What a guest needs that is measured: a device on a bridge.
const MEASURED: &[Need] = &[
    Need::Root,
    Need::Program("qemu-system-x86_64", "qemu-system-x86"),
    Need::GuestKernel,
    Need::File("/dev/net/tun", "a kernel with tap devices"),
];

const CASES: &[Case] = &[
    Case {
        name: "a_guest_of_either_board_has_its_cpus_and_runs_every_probe_in_its_own_kernel",
        needs: GUEST,
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
        needs: MEASURED,
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
        test: measured::a_guest_killed_in_a_trial,
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
