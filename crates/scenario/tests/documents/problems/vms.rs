//! Virtual machines: sizes that none can have, what cannot be one, and what cannot be planned in one.

use super::check;

const NAME: &str = "bridge-multiqueue";

#[test]
fn a_guest_has_no_more_queues_than_cpus() {
    let to = "vcpus = 2\nqueues = 3";
    check(
        NAME,
        ("vcpus = 2", to),
        "queues = 3",
        "3 queues are more than the guest has CPUs, 2",
        "`vcpus` to 3",
    );
}

#[test]
fn a_factor_wants_no_more_queues_than_the_guest_has_cpus() {
    let values = ("values = [1, 2]", "values = [1, 4]");
    check(
        NAME,
        values,
        "vm = \"multiqueue\"",
        "4 queues are more than the guest has CPUs, 2",
        "`vcpus` to 4",
    );
}

#[test]
fn sizes_have_bounds() {
    for (to, message) in
        [("vcpus = 256", "`vcpus` is 256, not 1 to 255"), ("vcpus = 0", "`vcpus` is 0, not 1 to 255")]
    {
        check(NAME, ("vcpus = 2", to), to, message, "");
    }
    let none = "vcpus = 2\nqueues = 0";
    check(NAME, ("vcpus = 2", none), "queues = 0", "`queues` is 0, not 1 to 255", "");
    for memory in ["128MiB", "2000GiB"] {
        let to = format!("vcpus = 2\nmemory = \"{memory}\"");
        check(NAME, ("vcpus = 2", &to), "memory = ", "a guest cannot have ", "give it 192 MiB to ");
    }
}

#[test]
fn a_guest_is_of_a_kind_that_there_is() {
    let (from, to) = ("vm = \"multiqueue\"", "vm = \"multiqeue\"");
    check(NAME, (from, to), to, "unknown vm `multiqeue`", "did you mean `multiqueue`");
}

#[test]
fn a_board_is_one_of_two() {
    let to = "vcpus = 2\nboard = \"pc\"";
    check(NAME, ("vcpus = 2", to), "board = \"pc\"", "`pc` is not one of the words", "`q35`, `microvm`");
}

#[test]
fn a_pod_that_is_a_virtual_machine_is_behind_virtio() {
    let more = "[vms.small]\n\n[pods.app]\nvm = \"small\"\nbridge = \"cni0\"";
    let pod = "[pods.app]\nbridge = \"cni0\"";
    let message = "no packet of `pod-to-target` meets the layer `veth`";
    check("quick", (pod, more), "layers = [\"veth\"", message, "write `layers = [\"virtio\"");
}

#[test]
fn a_virtual_machine_has_no_bridge_of_its_own() {
    let more = "[bridges.inner]\nhost = \"server\"\n\n[guests.client]";
    let message = "`server` is a virtual machine, and can have no device but its own";
    check(
        NAME,
        ("[guests.client]", more),
        "[bridges.inner]",
        message,
        "bridges, wires and overlays into hosts",
    );
}

#[test]
fn threads_are_not_placed_where_a_path_ends_in_a_virtual_machine() {
    let placed = "kind = \"stream\"\nplacement = \"same-cpu\"";
    let message = "the path `guest-to-guest` ends in a virtual machine, which has CPUs of its own";
    check(NAME, ("kind = \"stream\"", placed), "placement = ", message, "take `placement` out");
}

#[test]
fn firecracker_leaves_less_to_choose_than_qemu() {
    let firecracker = |more: &str| format!("monitor = \"firecracker\"\n{more}\nvcpus = 2");
    for name in ["board = \"microvm\"", "tso = \"off\"", "rx-ring = 512", "cpus = [1]"] {
        let (to, word) = (firecracker(name), name.split(' ').next().expect("a word"));
        let message = format!("`{word}` cannot be chosen for Firecracker");
        check(NAME, ("vcpus = 2", &to), name, &message, &format!("take `{word}` out"));
    }
    let vhost = firecracker("vhost = \"on\"");
    check(NAME, ("vcpus = 2", &vhost), "vhost = ", "without vhost-net", "take `vhost` out");
    let queues = firecracker("queues = 2");
    check(NAME, ("vcpus = 2", &queues), "queues = 2", "has one queue each way, not 2", "take `queues` out");
    let vcpus = "monitor = \"firecracker\"\nvcpus = 33";
    check(NAME, ("vcpus = 2", vcpus), "vcpus = 33", "1 to 32 CPUs, not 33", "");
}

#[test]
fn a_factor_gives_guests_of_firecracker_no_second_queue() {
    let to = "monitor = \"firecracker\"\nvcpus = 2";
    let message = "has one queue each way, and a factor gives `client` 2";
    check(NAME, ("vcpus = 2", to), "vm = ", message, "of guests of QEMU only");
}

#[test]
fn a_monitor_is_one_of_two() {
    let to = "vcpus = 2\nmonitor = \"xen\"";
    check(NAME, ("vcpus = 2", to), "monitor = ", "`xen` is not one of the words", "`qemu`, `firecracker`");
}

#[test]
fn a_tap_device_has_no_larger_packets_than_ethernet_frames_them() {
    let message = "is the tap device of a virtual machine: 65521 is its most";
    check(NAME, ("mtu = 9000", "mtu = 65535"), "[guests.client]", message, "take 65521 or less");
}

#[test]
fn what_needs_checksums_left_out_is_not_on_without_it() {
    let to = "vcpus = 2\ncsum = \"off\"\ntso = \"on\"";
    check(NAME, ("vcpus = 2", to), "tso = ", "`tso` needs `csum`, which is off", "take `tso` out, or `csum`");
}

#[test]
fn rings_have_three_sizes() {
    for (to, message) in [
        ("rx-ring = 128", "`rx-ring` is 128, not 256, 512 or 1024"),
        ("tx-ring = 1000", "`tx-ring` is 1000, not 256, 512 or 1024"),
    ] {
        check(NAME, ("vcpus = 2", &format!("vcpus = 2\n{to}")), to, message, "");
    }
}

#[test]
fn a_guests_cpus_are_on_cpus_of_the_host() {
    let more = "vcpus = 2\ncpus = [0, 1, 2]";
    check(
        NAME,
        ("vcpus = 2", more),
        "cpus = ",
        "`cpus` has more CPUs than the guest, which has 2",
        "one CPU",
    );
    let none = "vcpus = 2\nmonitor-cpus = [9000]";
    check(NAME, ("vcpus = 2", none), "monitor-cpus = ", "there is no CPU 9000", "");
}
