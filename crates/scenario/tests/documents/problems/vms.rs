//! Tests problems of virtual machines: invalid sizes and devices, and unsupported workloads.

use super::check;

const NAME: &str = "bridge-multiqueue";

#[test]
fn reports_more_queues_than_cpus() {
    let to = "vcpus = 2\nqueues = 3";
    check(
        NAME,
        ("vcpus = 2", to),
        "queues = 3",
        "the guest has more queues (3) than CPUs (2)",
        "`vcpus` to 3",
    );
}

#[test]
fn reports_factor_with_more_queues_than_cpus() {
    let values = ("values = [1, 2]", "values = [1, 4]");
    check(NAME, values, "vm = \"multiqueue\"", "the guest has more queues (4) than CPUs (2)", "`vcpus` to 4");
}

#[test]
fn virtual_machine_has_no_device_pair() {
    let to = "vm = \"multiqueue\"\npair = \"netkit\"";
    check(NAME, ("vm = \"multiqueue\"", to), "\"netkit\"", "has a tap device instead of a pair", "remove it");
}

#[test]
fn reports_sizes_out_of_range() {
    for (to, message) in
        [("vcpus = 256", "`vcpus` is 256, not 1 to 255"), ("vcpus = 0", "`vcpus` is 0, not 1 to 255")]
    {
        check(NAME, ("vcpus = 2", to), to, message, "");
    }
    let none = "vcpus = 2\nqueues = 0";
    check(NAME, ("vcpus = 2", none), "queues = 0", "`queues` is 0, not 1 to 255", "");
    for memory in ["128MiB", "2000GiB"] {
        let to = format!("vcpus = 2\nmemory = \"{memory}\"");
        check(NAME, ("vcpus = 2", &to), "memory = ", "of guest memory is out of range", "use 192 MiB to");
    }
}

#[test]
fn reports_unknown_vm_kind() {
    let (from, to) = ("vm = \"multiqueue\"", "vm = \"multiqeue\"");
    check(NAME, (from, to), to, "unknown vm `multiqeue`", "did you mean `multiqueue`");
}

#[test]
fn reports_unknown_board() {
    let to = "vcpus = 2\nboard = \"pc\"";
    check(NAME, ("vcpus = 2", to), "board = \"pc\"", "`pc` is not a valid value", "`q35`, `microvm`");
}

#[test]
fn pod_in_virtual_machine_uses_virtio() {
    let more = "[vms.small]\n\n[pods.app]\nvm = \"small\"\nbridge = \"cni0\"";
    let pod = "[pods.app]\nbridge = \"cni0\"";
    let message = "packets on `pod-to-target` do not pass through the layer `veth`";
    check("quick", (pod, more), "layers = [\"veth\"", message, "write `layers = [\"virtio\"");
}

#[test]
fn reports_bridge_in_virtual_machine() {
    let more = "[bridges.inner]\nhost = \"server\"\n\n[guests.client]";
    let message = "`server` is a virtual machine and cannot have additional devices";
    check(
        NAME,
        ("[guests.client]", more),
        "[bridges.inner]",
        message,
        "bridges, wires and overlays to hosts",
    );
}

#[test]
fn reports_placement_with_virtual_machine() {
    let placed = "kind = \"stream\"\nplacement = \"same-cpu\"";
    let message = "the path `guest-to-guest` ends in a virtual machine with its own CPUs";
    check(NAME, ("kind = \"stream\"", placed), "placement = ", message, "remove `placement`");
}

#[test]
fn reports_settings_firecracker_lacks() {
    let firecracker = |more: &str| format!("monitor = \"firecracker\"\n{more}\nvcpus = 2");
    for name in ["board = \"microvm\"", "tso = \"off\"", "rx-ring = 512", "cpus = [1]"] {
        let (to, word) = (firecracker(name), name.split(' ').next().expect("a word"));
        let message = format!("`{word}` is not supported by Firecracker");
        check(NAME, ("vcpus = 2", &to), name, &message, &format!("remove `{word}`"));
    }
    let vhost = firecracker("vhost = \"on\"");
    check(NAME, ("vcpus = 2", &vhost), "vhost = ", "does not support vhost-net", "remove `vhost`");
    let queues = firecracker("queues = 2");
    check(NAME, ("vcpus = 2", &queues), "queues = 2", "have a single queue pair, not 2", "remove `queues`");
    let vcpus = "monitor = \"firecracker\"\nvcpus = 33";
    check(NAME, ("vcpus = 2", vcpus), "vcpus = 33", "1 to 32 CPUs, not 33", "");
}

#[test]
fn reports_factor_with_several_firecracker_queues() {
    let to = "monitor = \"firecracker\"\nvcpus = 2";
    let message = "have a single queue pair, but a factor sets 2 for `client`";
    check(NAME, ("vcpus = 2", to), "vm = ", message, "QEMU guests only");
}

#[test]
fn reports_unknown_monitor() {
    let to = "vcpus = 2\nmonitor = \"xen\"";
    check(NAME, ("vcpus = 2", to), "monitor = ", "`xen` is not a valid value", "`qemu`, `firecracker`");
}

#[test]
fn reports_mtu_too_large_for_tap_device() {
    let message = "a tap device of a virtual machine supports at most 65521";
    check(NAME, ("mtu = 9000", "mtu = 65535"), "[guests.client]", message, "use an MTU of at most 65521");
}

#[test]
fn reports_offload_without_checksum_offload() {
    let to = "vcpus = 2\ncsum = \"off\"\ntso = \"on\"";
    check(NAME, ("vcpus = 2", to), "tso = ", "`tso` needs `csum`, which is off", "remove `tso`, or `csum");
}

#[test]
fn reports_invalid_ring_size() {
    for (to, message) in [
        ("rx-ring = 128", "`rx-ring` is 128, not 256, 512 or 1024"),
        ("tx-ring = 1000", "`tx-ring` is 1000, not 256, 512 or 1024"),
    ] {
        check(NAME, ("vcpus = 2", &format!("vcpus = 2\n{to}")), to, message, "");
    }
}

#[test]
fn reports_invalid_cpu_lists() {
    let more = "vcpus = 2\ncpus = [0, 1, 2]";
    check(
        NAME,
        ("vcpus = 2", more),
        "cpus = ",
        "`cpus` lists more CPUs than the guest has (2)",
        "one host CPU",
    );
    let none = "vcpus = 2\nmonitor-cpus = [9000]";
    check(NAME, ("vcpus = 2", none), "monitor-cpus = ", "CPU 9000 does not exist", "");
}
