//! Sends a marked packet and checks that it passes exactly the listed devices, in order.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    net::UdpSocket,
    path::Path,
    process::{Command, Stdio},
    thread::sleep,
    time::Duration,
};

use plumb_tests::{PATIENCE, ProcessGuard, wait_until};
use sys::netns::NetNs;

use crate::node::Node;

const MARK: &str = "a marked packet of plumb's test";
/// Sizes in a capture file (pcap-savefile(5)).
const FILE_HEADER: usize = 24;
const PACKET_HEADER: usize = 16;

struct Topology {
    name: &'static str,
    build: fn(&mut Node),
    to: &'static str,
    spaces: &'static [&'static str],
    devices: usize,
}

const TOPOLOGIES: &[Topology] = &[
    Topology { name: "bridge", build: |_| (), to: "198.18.0.2", spaces: &["a", "b"], devices: 4 },
    Topology {
        name: "VXLAN",
        build: Node::join_by_vxlan,
        to: "198.18.0.2",
        spaces: &["a", "b", "other"],
        devices: 8,
    },
    Topology {
        name: "SNAT",
        build: |node| node.masquerade(),
        to: "198.18.9.2",
        spaces: &["a", "b"],
        devices: 4,
    },
    Topology {
        name: "macvlan",
        build: |node| node.replace_by_macvlan(),
        to: "198.18.5.2",
        spaces: &["a", "b"],
        devices: 3,
    },
];

const OPEN_VSWITCH: Topology =
    Topology { name: "Open vSwitch", build: open_vswitch, to: "198.18.0.2", spaces: &["a", "b"], devices: 4 };

fn open_vswitch(node: &mut Node) {
    let home = node.sandbox.home().display().to_string();
    node.program("ovs-vsctl", &format!("OVS_RUNDIR={home} exec /usr/bin/ovs-vsctl \"$@\""));
    node.shell(&format!("ip link del br0; ovsdb-tool create {home}/conf.db"));
    node.start(&format!("env OVS_RUNDIR={home} ovsdb-server {home}/conf.db --remote=punix:{home}/db.sock"));
    assert!(wait_until(PATIENCE, || Path::new(&home).join("db.sock").exists()), "no database");
    node.start(&format!("env OVS_RUNDIR={home} ovs-vswitchd"));
    let vsctl = format!("{home}/bin/ovs-vsctl --timeout=60");
    node.shell(&format!(
        "{vsctl} -- init -- add-br ovs0 -- set bridge ovs0 datapath_type=netdev -- add-port ovs0 va -- add-port ovs0 vb"
    ));
}

pub(crate) fn marked_packet() {
    for topology in TOPOLOGIES {
        let mut node = Node::with_bridge();
        (topology.build)(&mut node);
        passes_listed_devices(&node, topology);
    }
}

pub(crate) fn switch_in_user_space() {
    let mut node = Node::with_bridge();
    (OPEN_VSWITCH.build)(&mut node);
    let [a, b] = ["a", "b"].map(|name| node.word(name));
    let output = node.plumb(&["between", "--yes", &a, &b]);
    let remedy = format!("`ethtool -K eth0 tx off` in pid-{}", node.pid("a"));
    assert!(output.status == Some(1) && output.err.contains(&remedy), "{output:?}");
    for name in ["a", "b"] {
        node.shell_in(name, "ethtool -K eth0 tx off");
    }
    let output = node.between(&[&a, &b]);
    assert!(output.out.contains("port of ovs0 (Open vSwitch)"), "{output:?}");
    passes_listed_devices(&node, &OPEN_VSWITCH);
}

fn passes_listed_devices(node: &Node, topology: &Topology) {
    let listed = listed(node, topology);
    assert_eq!(listed.len(), topology.devices, "{}: {listed:?}", topology.name);
    let passed = passed(node, topology);
    let devices: BTreeSet<&String> = passed.keys().collect();
    assert_eq!(devices, listed.iter().collect(), "{}: devices that the packet passed", topology.name);
    // A macvlan device and the device below it see the packet with equal timestamps.
    assert!(listed.is_sorted_by_key(|device| passed[device]), "{}: {listed:?}, {passed:?}", topology.name);
}

/// If the node has no bridge, a user-space switch appears to forward its packets.
pub(crate) fn user_space_switch() {
    let node = Node::with_bridge();
    node.shell("ip link del br0");
    let output = node.plumb(&["between", &node.word("a"), &node.word("b")]);
    let wanted =
        "not visible: node has no route to 198.18.0.2, so a user-space switch may forward the packets";
    assert!(output.out.contains("node:va") && output.out.contains(wanted), "{output:?}");
}

/// The outer packets have the tunnel's own addresses, so each tunnel carries itself.
pub(crate) fn tunnel_into_itself() {
    let node = Node::with_bridge();
    for (name, own, other) in [("a", 1, 2), ("b", 2, 1)] {
        node.shell_in(
            name,
            &format!(
                "ip addr flush dev eth0; ip link add vx0 type vxlan id 7 dstport 4789 local 198.18.0.{own} \
                 remote 198.18.0.{other}; ip addr add 198.18.0.{own}/24 dev vx0; ip link set vx0 up"
            ),
        );
    }
    let output = node.plumb(&["between", &node.word("a"), &node.word("b")]);
    assert_eq!(output.status, Some(64), "{output:?}");
    assert!(output.out.contains("not visible: the path does not end"), "{output:?}");
}

fn listed(node: &Node, topology: &Topology) -> Vec<String> {
    let output = node.plumb(&["between", &node.word("a"), &node.word("b")]);
    assert!(!output.out.contains("not visible"), "{}: {output:?}", topology.name);
    let devices = output.out.lines().filter(|line| line.starts_with("  "));
    let names = devices.filter_map(|line| line.split_whitespace().next()).map(str::to_owned);
    let plain = |device: String| {
        let (host, device) = device.split_once(':').unwrap_or_else(|| panic!("{output:?}"));
        let known = topology.spaces.iter().find(|name| host == format!("pid-{}", node.pid(name)));
        format!("{}:{device}", known.unwrap_or(&host))
    };
    names.map(plain).collect()
}

fn passed(node: &Node, topology: &Topology) -> BTreeMap<String, u64> {
    let spaces =
        topology.spaces.iter().map(|name| (*name, node.pid(name))).chain([("node", node.node_pid())]);
    let mut captures: BTreeMap<String, ProcessGuard> = BTreeMap::new();
    for (name, pid) in spaces {
        for device in devices(pid) {
            let file = node.sandbox.home().join(format!("{name}:{device}"));
            captures.insert(format!("{name}:{device}"), capture(pid, &device, &file));
        }
    }
    let file = |device: &str| node.sandbox.home().join(device);
    let begun = || {
        captures
            .keys()
            .all(|device| fs::metadata(file(device)).is_ok_and(|it| it.len() >= FILE_HEADER as u64))
    };
    assert!(wait_until(PATIENCE, begun), "no capture");
    let mut mark = String::new();
    let arrived = (0..100).any(|attempt| {
        // Until addresses are resolved and learned, packets are lost or flooded.
        mark = format!("{MARK}, attempt {attempt:03}");
        send(node.pid("a"), topology.to, &mark);
        sleep(Duration::from_millis(200));
        attempt > 2
            && captures.keys().any(|device| device.starts_with("b:") && seen(&file(device), &mark).is_some())
    });
    assert!(arrived, "{}: the packet does not arrive", topology.name);
    sleep(Duration::from_millis(300));
    drop(std::mem::take(&mut captures).into_values().collect::<Vec<_>>());
    let names = fs::read_dir(node.sandbox.home()).expect("own folder").flatten();
    let names =
        names.filter_map(|entry| entry.file_name().into_string().ok()).filter(|name| name.contains(':'));
    names.filter_map(|name| Some((name.clone(), seen(&file(&name), &mark)?))).collect()
}

fn devices(pid: u32) -> Vec<String> {
    let list = Command::new("nsenter")
        .arg(format!("--net=/proc/{pid}/ns/net"))
        .args(["ip", "-json", "link"])
        .output();
    let list: serde_json::Value =
        serde_json::from_slice(&list.expect("ip is installed").stdout).expect("JSON");
    let is_up = |link: &&serde_json::Value| link["flags"].to_string().contains("\"UP\"");
    let links = list.as_array().into_iter().flatten().filter(is_up);
    let names = links.filter_map(|link| link["ifname"].as_str());
    names.filter(|name| *name != "lo").map(str::to_owned).collect()
}

fn capture(pid: u32, device: &str, file: &Path) -> ProcessGuard {
    let mut command = Command::new("nsenter");
    command.arg(format!("--net=/proc/{pid}/ns/net"));
    command
        .args([
            "tcpdump",
            "--immediate-mode",
            "-U",
            "--no-promiscuous-mode",
            "--time-stamp-precision=nano",
            "-i",
            device,
            "-w",
        ])
        .arg(file);
    command.args(["udp"]).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    ProcessGuard(sys::child::spawn_in(&mut command, None, "tcpdump").expect("nsenter starts"))
}

fn send(pid: u32, to: &str, mark: &str) {
    let namespace = NetNs::open(format!("/proc/{pid}/ns/net")).expect("it runs");
    let socket =
        namespace.run_in(|| UdpSocket::bind("0.0.0.0:0")).expect("root may enter").expect("a socket");
    // If there is no receiver, an earlier packet may have caused an ICMP error.
    let _ = socket.send_to(mark.as_bytes(), (to, 9));
}

/// Returns when the marked packet was first seen, in nanoseconds. Later matches may be ICMP errors that quote the
/// packet.
fn seen(file: &Path, mark: &str) -> Option<u64> {
    let bytes = fs::read(file).ok()?;
    let mut rest = bytes.get(FILE_HEADER..)?;
    while let Some(header) = rest.get(..PACKET_HEADER) {
        let field = |n: usize| u32::from_le_bytes(header[n * 4..n * 4 + 4].try_into().expect("four bytes"));
        let end = PACKET_HEADER + field(2) as usize;
        let Some(packet) = rest.get(PACKET_HEADER..end) else { break };
        if packet.windows(mark.len()).any(|window| window == mark.as_bytes()) {
            return Some(u64::from(field(0)) * 1_000_000_000 + u64::from(field(1)));
        }
        rest = &rest[end..];
    }
    None
}
