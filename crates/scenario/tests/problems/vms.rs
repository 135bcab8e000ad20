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
    check(NAME, values, "vm = \"two-cpus\"", "4 queues are more than the guest has CPUs, 2", "`vcpus` to 4");
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
    let (from, to) = ("vm = \"two-cpus\"", "vm = \"two-cpu\"");
    check(NAME, (from, to), to, "unknown vm `two-cpu`", "did you mean `two-cpus`");
}

#[test]
fn a_board_is_one_of_two() {
    let to = "vcpus = 2\nboard = \"pc\"";
    check(NAME, ("vcpus = 2", to), "board = \"pc\"", "`pc` is not one of the words", "`q35`, `microvm`");
}

#[test]
fn a_pod_is_no_virtual_machine() {
    let more = "[vms.small]\n\n[pods.app]\nvm = \"small\"\nbridge = \"cni0\"";
    let pod = "[pods.app]\nbridge = \"cni0\"";
    check("quick", (pod, more), "vm = \"small\"", "a pod is always a namespace", "make it a guest");
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
