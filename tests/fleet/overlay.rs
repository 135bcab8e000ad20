//! Tests overlays between existing hosts with guests behind them, and the removal of overlays.

use std::{fs, process::Stdio, thread::sleep, time::Duration};

use plumb_tests::{Network, PATIENCE, ProcessGuard, Random, kill, name, pair, processes, trials, wait_until};
use serde_json::Value;

fn routed() -> String {
    let network = pair(["at = \"ssh:h0\"", "at = \"ssh:h1\""], 2, "500ms");
    network
        + r#"
[vxlans.vx0]
vni = 100
[vxlans.vx0.members.a]
address = "198.18.64.1/24"
[vxlans.vx0.members.b]
address = "198.18.64.2/24"

[paths.overlay]
from = "a:vx0"
to = "b:vx0"
layers = ["vxlan", "network"]
"#
}

fn proxmox() -> String {
    let shipped = include_str!("../../scenarios/proxmox-vxlan.toml");
    let (lab, _) = shipped
        .split_once("# The guests are virtual machines, as in that test")
        .expect("the variant comes last");
    let not_there = ["[wires.", "between =", "addresses =", "over =", "placement =", "budget =", "until ="];
    let lines = lab.lines().filter(|line| !not_there.iter().any(|begin| line.starts_with(begin)));
    let text: String = lines.flat_map(|line| [line, "\n"]).collect();
    [
        ("[hosts.pmx-green]", "[hosts.pmx-green]\nat = \"ssh:h0\"\ninterface = \"eth0\""),
        ("[hosts.pmx-black]", "[hosts.pmx-black]\nat = \"ssh:h1\"\ninterface = \"eth0\""),
        ("\"wire\"", "\"network\""),
        ("duration = \"2s\"", "duration = \"300ms\"\nwarmup = \"100ms\""),
        ("duration = \"1s\"", "duration = \"200ms\""),
    ]
    .into_iter()
    .fold(text, |text, (from, to)| {
        assert!(text.contains(from), "proxmox-vxlan no longer contains {from}");
        text.replace(from, to)
    })
}

fn is_bare(network: &Network, host: usize) -> bool {
    network.holds(host, "[ $(ip -o link | wc -l) = 2 ] && ! grep -q :12B5 /proc/net/udp")
}

fn are_bare(network: &Network) {
    network.agents_are_gone();
    for host in [0, 1] {
        assert!(wait_until(PATIENCE, || is_bare(network, host)), "leftovers on h{host}");
    }
}

fn of_path<'r>(record: &'r Value, path: &str) -> Vec<&'r Value> {
    let of = |trial: &&Value| trial["result"].as_str().is_some_and(|result| result.starts_with(path));
    trials(record).iter().filter(of).collect()
}

fn devices(trial: &Value) -> Vec<(&str, u64)> {
    let all = trial["devices"].as_array().expect("a list").iter();
    all.map(|device| (device["device"].as_str().expect("a name"), device["mtu"].as_u64().expect("a number")))
        .collect()
}

struct LinkMonitor {
    _process: ProcessGuard,
    seen: String,
}

impl LinkMonitor {
    fn start(network: &Network) -> Self {
        let seen = network.sandbox.file("links", "");
        let mut command = network.at_host(0, &["ip", "-o", "monitor", "link"]);
        command.stdin(Stdio::null()).stderr(Stdio::null()).stdout(fs::File::create(&seen).expect("own file"));
        let monitor = Self { _process: ProcessGuard(command.spawn().expect("ip starts")), seen };
        let hears = || {
            network.at(0, "ip link set lo down; ip link set lo up");
            !monitor.links().is_empty()
        };
        assert!(wait_until(PATIENCE, hears), "the monitor prints nothing");
        monitor
    }

    fn links(&self) -> Vec<String> {
        let text = fs::read_to_string(&self.seen).expect("the file exists");
        let names = text.lines().filter_map(|line| line.split(": ").nth(1)?.split('@').next());
        names.map(str::to_owned).collect()
    }
}

pub(crate) fn measures_an_overlay_next_to_the_network() {
    let network = crate::network(2);
    let file = network.sandbox.file("overlay.toml", &routed());
    // The monitor also shows devices that are created on the host and then moved to another namespace.
    let monitor = LinkMonitor::start(&network);
    let mut run = network.command(&["run", &file, "--quiet"]).spawn().expect("plumb was built");
    let tunnels = || network.holds(0, "grep -q :12B5 /proc/net/udp");
    assert!(wait_until(PATIENCE, tunnels), "the host's own network carries no tunnel");
    assert!(
        network.holds(0, "[ $(ip -o link | wc -l) = 2 ]"),
        "the device is not in the host's own namespace"
    );
    assert!(run.wait().expect("it was started").success());
    network.at(0, "ip link add seen type bridge");
    assert!(
        wait_until(PATIENCE, || monitor.links().iter().any(|link| link == "seen")),
        "{:?}",
        monitor.links()
    );
    network.at(0, "ip link del seen");
    let links = monitor.links();
    assert!(links.iter().all(|link| ["eth0", "lo", "seen"].contains(&link.as_str())), "{links:?}");
    drop(monitor);
    let record = network.sandbox.record();
    let trial = of_path(&record, "overlay")[0];
    assert_eq!(devices(trial), [("a:vx0", 1450), ("a:eth0", 1500), ("b:eth0", 1500), ("b:vx0", 1450)]);
    assert_eq!(trial["path_check"]["mtu"], 1450, "{trial}");
    assert_eq!(of_path(&record, "there")[0]["path_check"]["mtu"], 1500);
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

pub(crate) fn proxmox_vxlan_between_two_hosts() {
    let network = crate::network(2);
    let file = network.sandbox.file("proxmox.toml", &proxmox());
    let _ = network.succeed(&["run", &file, "--trials", "1", "--quiet"]);
    let record = network.sandbox.record();
    let trials = of_path(&record, "guest-to-guest");
    assert_eq!(trials.len(), 2, "throughput and latency");
    let of_host = |host: &str, guest: &str| {
        [
            (format!("{guest}:eth0"), 1450),
            (format!("{host}:{guest}"), 1450),
            (format!("{host}:vnet0"), 1450),
            (format!("{host}:vxlan-vnet0"), 1450),
            (format!("{host}:eth0"), 1500),
        ]
    };
    let there = of_host("pmx-black", "dev-app02");
    let way: Vec<_> =
        of_host("pmx-green", "dev-gateway").into_iter().chain(there.into_iter().rev()).collect();
    let found: Vec<_> = devices(trials[0]).into_iter().map(|(name, mtu)| (name.to_owned(), mtu)).collect();
    assert!(way.iter().all(|device| found.contains(device)) && found.len() == way.len(), "{found:?}");
    assert!(of_path(&record, "bridge-to-bridge").len() == 2 && of_path(&record, "host-to-host").len() >= 2);
    are_bare(&network);
}

pub(crate) fn leaves_nothing_after_any_kill() {
    const KILLS: usize = 8;
    let network = crate::network(2);
    let file = network.sandbox.file("proxmox.toml", &proxmox());
    let mut random = Random::of(0x1f2e_3d4c);
    for _ in 0..KILLS {
        let mut command = network.command(&["run", &file, "--quiet"]);
        let mut run = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("plumb was built");
        sleep(Duration::from_secs(6).mul_f64(random.fraction()));
        let mut victims = processes(&network.sandbox);
        victims.extend([0, 1].into_iter().flat_map(|host| network.agents(host)));
        let victim = victims[random.below(victims.len())];
        let killed = name(victim);
        let _ = kill(victim);
        let ended = wait_until(PATIENCE, || !processes(&network.sandbox).contains(&run.id()));
        if !ended {
            run.kill().expect("own file");
        }
        run.wait().expect("it was started");
        assert!(ended, "the run does not end when {killed} is killed");
        are_bare(&network);
    }
    let _ = network.succeed(&["run", &file, "--trials", "1", "--quiet"]);
    are_bare(&network);
}

pub(crate) fn errors() {
    let network = crate::network(2);
    let file = network.sandbox.file("overlay.toml", &routed());
    let refused = |words: &[&str]| {
        let output = network.plumb(&["run", &file]);
        assert_eq!(output.status, Some(1), "{output:?}");
        assert!(words.iter().all(|word| output.err.contains(word)), "{words:?} in {}", output.err);
        network.agents_are_gone();
    };
    network.at(0, "ip link add taken type vxlan id 100 local 198.18.0.1 dstport 4789");
    refused(&["host a", "`a:vx0`", "VNI", "use another number"]);
    network.at(0, "ip link del taken");
    let taken = network.udp(1, 4789);
    refused(&["host b", "bring up `b:vx0`", "in use", "use another number"]);
    drop(taken);
    network.lose_udp(1);
    refused(&["overlay", "firewall", "4789"]);
}
