//! Tests `plumb between` with running endpoints, in namespaces created by the tests.
#![expect(clippy::disallowed_methods, reason = "tests read files and /proc")]
#![expect(clippy::disallowed_macros, reason = "the reason for a skip is printed")]

use std::process::ExitCode;

use plumb_tests::{Case, Need, run};

mod containers;
mod ends;
mod fault_table;
mod measured;
mod node;
mod paths;
mod podman;
mod refused;

const ROOT: Need = Need::Root;
const IP: Need = Need::Program("ip", "iproute2");
const NFT: Need = Need::Program("nft", "nftables");
const TCPDUMP: Need = Need::Program("tcpdump", "tcpdump");
const PODMAN: Need = Need::Program("podman", "podman");
const SLIRP: Need = Need::Program("slirp4netns", "slirp4netns");
const RUNC: Need = Need::Program("runc", "runc");
const BUSYBOX: Need = Need::File("/bin/busybox", "busybox-static");
const CPU_QUOTAS: Need =
    Need::File("/sys/fs/cgroup/cpu/cpu.shares", "the CPU controller of cgroup version 1");
const OPEN_VSWITCH: Need = Need::Program("ovs-vswitchd", "openvswitch-switch");
const TC: Need = Need::Program("tc", "iproute2");
const ETHTOOL: Need = Need::Program("ethtool", "ethtool");

/// This seed selects a policed port of a container and an offload below VXLAN.
const SEED: u32 = 5293;

fn main() -> ExitCode {
    run(CASES)
}

const CASES: &[Case] = &[
    Case {
        name: "measures_two_namespaces_on_a_bridge_and_changes_nothing",
        needs: &[ROOT, IP],
        test: measured::two_namespaces_on_a_bridge,
    },
    Case {
        name: "measures_namespaces_that_only_have_ipv6",
        needs: &[ROOT, IP],
        test: measured::namespaces_with_ipv6,
    },
    Case {
        name: "measures_the_node_and_a_named_namespace_with_limited_udp",
        needs: &[ROOT, IP],
        test: measured::the_node_and_a_named_namespace,
    },
    Case {
        name: "runs_scenario_with_endpoints_as_hosts",
        needs: &[ROOT, IP],
        test: measured::scenario_with_endpoints,
    },
    Case {
        name: "names_the_device_of_the_node_whose_offload_is_off",
        needs: &[ROOT, IP, ETHTOOL],
        test: measured::offload_of_the_nodes_device,
    },
    Case {
        name: "names_the_device_of_the_node_with_a_small_mtu",
        needs: &[ROOT, IP],
        test: measured::small_mtu_of_the_nodes_device,
    },
    Case {
        name: "shows_the_cpu_limit_of_a_parent_cgroup",
        needs: &[ROOT, IP, CPU_QUOTAS],
        test: measured::a_cpu_limit_of_a_parent,
    },
    Case {
        name: "marked_packet_passes_exactly_the_listed_devices",
        needs: &[ROOT, IP, NFT, TCPDUMP],
        test: paths::marked_packet,
    },
    Case {
        name: "marked_packet_passes_the_listed_ports_of_open_vswitch_in_user_space",
        needs: &[ROOT, IP, TCPDUMP, ETHTOOL, OPEN_VSWITCH],
        test: paths::switch_in_user_space,
    },
    Case {
        name: "explains_where_the_path_leaves_the_visible_devices",
        needs: &[ROOT, IP],
        test: paths::user_space_switch,
    },
    Case {
        name: "survives_a_tunnel_that_carries_itself",
        needs: &[ROOT, IP],
        test: paths::tunnel_into_itself,
    },
    Case { name: "explains_endpoints_that_cannot_be_measured", needs: &[ROOT, IP], test: refused::endpoints },
    Case {
        name: "names_rules_that_block_or_redirect_the_traffic",
        needs: &[ROOT, IP, NFT],
        test: refused::firewalls,
    },
    Case { name: "asks_before_it_loads_the_path", needs: &[ROOT, IP], test: refused::without_consent },
    Case {
        name: "measures_containers_of_podman_and_shows_their_cpu_limit",
        needs: &[ROOT, IP, PODMAN, RUNC, BUSYBOX],
        test: containers::two_containers,
    },
    Case {
        name: "measures_rootless_containers_as_their_user_only",
        needs: &[Need::OtherUsers, IP, PODMAN, RUNC, BUSYBOX, SLIRP],
        test: containers::rootless_containers,
    },
    Case {
        name: "explains_containers_that_cannot_be_measured",
        needs: &[ROOT, IP, PODMAN, RUNC, BUSYBOX],
        test: containers::containers_that_cannot_be_measured,
    },
    Case {
        name: "explains_container_runtimes_that_fail",
        needs: &[ROOT, IP],
        test: containers::runtimes_that_fail,
    },
    Case {
        name: "names_the_fault_of_a_few_cells_of_the_table",
        needs: &[ROOT, IP, NFT, TC, ETHTOOL, CPU_QUOTAS, PODMAN, RUNC, BUSYBOX],
        test: || fault_table::names_faults(SEED, 2),
    },
    Case {
        name: "leaves_nothing_when_killed_at_any_moment",
        needs: &[ROOT, IP],
        test: || ends::killed_at_any_moment(20),
    },
];
