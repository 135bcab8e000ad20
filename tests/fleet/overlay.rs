//! What is made on hosts that exist already: an overlay between them, guests behind it, and that nothing of it stays there.

use std::{process::Stdio, thread::sleep, time::Duration};

use plumb_tests::{Network, PATIENCE, Random, kill, name, processes, trials, wait_until};
use serde_json::Value;

/// An overlay between `h0` and `h1` with what is said of its members, and paths beside the one without it.
fn scenario(members: [&str; 2], paths: &str, trials: u32, duration: &str) -> String {
    let [a, b] = members;
    format!(
        r#"schema = 1
name = "overlay"
title = "An overlay between machines that exist already"

[hosts.a]
ssh = "h0"
[hosts.b]
ssh = "h1"

[vxlans.vx0]
vni = 100
[vxlans.vx0.members.a]
{a}
[vxlans.vx0.members.b]
{b}

[paths.network]
from = "a"
to = "b"
baseline = true
{paths}

[workloads.throughput]
kind = "stream"
duration = "{duration}"
warmup = "100ms"

[schedule]
trials = {trials}
pause = "1ms"
"#
    )
}

fn routed(trials: u32, duration: &str) -> String {
    let address = |last: u8| format!("address = \"198.18.64.{last}/24\"");
    let path = "[paths.overlay]\nfrom = \"a:vx0\"\nto = \"b:vx0\"\nlayers = [\"vxlan\", \"network\"]";
    scenario([&address(1), &address(2)], path, trials, duration)
}

/// As `proxmox-vxlan` has it: a bridge on each host, and a guest behind each.
fn bridged(trials: u32, duration: &str) -> String {
    let side = |number: u8, host: &str| {
        format!(
            "[bridges.br{number}]\nhost = \"{host}\"\ndevice = \"vnet0\"\naddress = \"198.18.64.20{number}/24\"\n\
             [guests.guest{number}]\nbridge = \"br{number}\"\naddress = \"198.18.64.{number}/24\"\n"
        )
    };
    let paths = format!(
        "[paths.bridges]\nfrom = \"a:vnet0\"\nto = \"b:vnet0\"\nlayers = [\"bridge\", \"vxlan\", \"network\"]\n\
         [paths.guests]\nfrom = \"guest1\"\nto = \"guest2\"\nlayers = [\"veth\", \"bridge\", \"vxlan\", \"network\"]\n{}{}",
        side(1, "a"),
        side(2, "b")
    );
    scenario(["bridge = \"br1\"", "bridge = \"br2\""], &paths, trials, duration)
}

/// Whether a host has its own two devices alone, and nothing listens at the tunnel's port.
fn is_bare(network: &Network, host: usize) -> bool {
    network.holds(host, "[ $(ip -o link | wc -l) = 2 ] && ! grep -q :12B5 /proc/net/udp")
}

fn are_bare(network: &Network) {
    network.agents_are_gone();
    for host in [0, 1] {
        assert!(wait_until(PATIENCE, || is_bare(network, host)), "something is left on h{host}");
    }
}

fn of_path<'r>(record: &'r Value, path: &str) -> Vec<&'r Value> {
    let of = |trial: &&Value| trial["cell"].as_str().is_some_and(|cell| cell.starts_with(path));
    trials(record).iter().filter(of).collect()
}

/// The devices that a trial passed, each with its MTU.
fn devices(trial: &Value) -> Vec<(&str, u64)> {
    let all = trial["devices"].as_array().expect("a list").iter();
    all.map(|device| (device["device"].as_str().expect("a name"), device["mtu"].as_u64().expect("a number")))
        .collect()
}

pub(crate) fn an_overlay_is_measured_beside_its_network() {
    let network = crate::network(2);
    let file = network.sandbox.file("overlay.toml", &routed(2, "500ms"));
    let mut run = network.command(&["run", &file, "--quiet"]).spawn().expect("plumb was built");
    let tunnels = || network.holds(0, "grep -q :12B5 /proc/net/udp");
    assert!(wait_until(PATIENCE, tunnels), "the host's own network carries no tunnel");
    assert!(
        network.holds(0, "[ $(ip -o link | wc -l) = 2 ]"),
        "the device is not in the host's own namespace"
    );
    assert!(run.wait().expect("it was started").success());
    let record = network.sandbox.record();
    let trial = of_path(&record, "overlay")[0];
    assert_eq!(devices(trial), [("a:vx0", 1450), ("a:eth0", 1500), ("b:eth0", 1500), ("b:vx0", 1450)]);
    assert_eq!(trial["path_check"]["mtu"], 1450, "{trial}");
    assert_eq!(of_path(&record, "network")[0]["path_check"]["mtu"], 1500);
    let bytes =
        |device: usize, what: &str| trial["counters"]["devices"][device][what].as_u64().expect("a count");
    assert!(bytes(0, "tx_bytes") > 1_000_000 && bytes(3, "rx_bytes") > 1_000_000, "{trial}");
    assert!(bytes(1, "tx_bytes") > bytes(0, "tx_bytes"), "packets in packets: {trial}");
    are_bare(&network);
    network.at(0, "ip link set eth0 mtu 1400");
    network.at(1, "ip link set eth0 mtu 1400");
    let _ = network.succeed(&["run", &file, "--trials", "1", "--quiet"]);
    assert_eq!(devices(of_path(&network.sandbox.record(), "overlay")[0])[0], ("a:vx0", 1350));
    are_bare(&network);
}

pub(crate) fn guests_behind_bridges() {
    let network = crate::network(2);
    let file = network.sandbox.file("overlay.toml", &bridged(2, "300ms"));
    let run = network.succeed(&["run", &file]);
    let record = network.sandbox.record();
    let trial = of_path(&record, "guests")[0];
    let names: Vec<&str> = devices(trial).into_iter().map(|(name, _)| name).collect();
    let there = ["guest1:eth0", "a:guest1", "a:vx0", "a:eth0"];
    assert_eq!(names[..3], [there[0], there[1], "a:vnet0"][..], "{names:?}");
    assert!(
        there.iter().all(|name| names.contains(name)) && names.last() == Some(&"guest2:eth0"),
        "{names:?}"
    );
    assert!(
        devices(trial).iter().all(|(name, mtu)| *mtu
            == if name.ends_with(":eth0") && !name.starts_with("guest") { 1500 } else { 1450 })
    );
    assert!(run.out.contains("guests"), "{}", run.out);
    are_bare(&network);
}

pub(crate) fn nothing_is_left_whatever_is_killed() {
    const KILLS: usize = 8;
    let network = crate::network(2);
    let file = network.sandbox.file("overlay.toml", &bridged(20, "200ms"));
    let mut random = Random::of(0x1f2e_3d4c);
    for _ in 0..KILLS {
        let mut command = network.command(&["run", &file, "--quiet"]);
        let mut run = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("plumb was built");
        sleep(Duration::from_secs(6).mul_f64(random.fraction()));
        let mut victims = processes(&network.sandbox);
        victims.extend([0, 1].into_iter().flat_map(|host| network.agents(host)));
        let victim = victims[random.below(victims.len())];
        let killed = name(victim);
        // It may have ended by itself just now.
        let _ = kill(victim);
        let ended = wait_until(PATIENCE, || !processes(&network.sandbox).contains(&run.id()));
        if !ended {
            run.kill().expect("it is ours");
        }
        run.wait().expect("it was started");
        assert!(ended, "the run does not end when {killed} is killed");
        are_bare(&network);
    }
    // The same overlay can be made at once again.
    let _ = network.succeed(&["run", &file, "--trials", "1", "--quiet"]);
    are_bare(&network);
}

pub(crate) fn what_keeps_it_from_being_made() {
    let network = crate::network(2);
    let file = network.sandbox.file("overlay.toml", &routed(1, "300ms"));
    let refused = |words: &[&str]| {
        let output = network.plumb(&["run", &file]);
        assert_eq!(output.status, Some(1), "{output:?}");
        assert!(words.iter().all(|word| output.err.contains(word)), "{words:?} in {}", output.err);
        network.agents_are_gone();
    };
    network.at(0, "ip link add taken type vxlan id 100 local 198.18.0.1 dstport 4789");
    refused(&["host a", "`a:vx0`", "VNI", "take another number"]);
    network.at(0, "ip link del taken");
    let taken = network.udp(1, 4789);
    refused(&["host b", "`b:vx0` up", "in use", "take another number"]);
    drop(taken);
    network.lose_udp(1);
    refused(&["overlay", "firewall", "4789"]);
}
