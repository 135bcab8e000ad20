//! Captures the packets of each kind of tunnel on its underlay with tcpdump in a guest, and pings through Open
//! vSwitch.

use std::{
    fs,
    path::Path,
    process::{Command, Stdio},
};

use plumb_tests::{PATIENCE, wait_until};
use scenario::{Link, Scenario};

use crate::{
    by_hand::{GuestKernel, Machine},
    sandbox,
};

const MODULES: [&str; 4] = ["veth", "af_packet", "nf_tables", "sch_tbf"];

const FAMILIES: [u8; 2] = [4, 6];
/// The underlay's MTU, and the length of its Ethernet header.
const UNDERLAY: [usize; 2] = [1500, 14];
/// The payload length of the small packets. All its bytes have the value `PATTERN`.
const PAYLOAD: usize = 203;
const PATTERN: u8 = 0x7e;
/// The IP and ICMP headers of a ping.
const PING: [usize; 2] = [20 + 8, 40 + 8];

struct Kind {
    name: &'static str,
    /// What tcpdump prints about the tunnel with the identifier or port `ID`, which is `HEX` in hexadecimal.
    header: &'static str,
    /// The bytes that the tunnel adds before the padded part of the packet, excluding the outer IP header, over IPv4
    /// and over IPv6.
    added: [usize; 2],
    /// The bytes that the tunnel adds to the padded part, which ends with the inner packet or a trailer.
    padded: [usize; 2],
    /// The length of the padded part is a multiple of this.
    multiple: usize,
    encrypts: bool,
}

const CLEAR: Kind =
    Kind { name: "", header: "", added: [0; 2], padded: [0; 2], multiple: 1, encrypts: false };
const ESP: Kind = Kind {
    name: "esp",
    header: "ESP(spi=0xHEX",
    added: [32; 2],
    padded: [2; 2],
    multiple: 4,
    encrypts: true,
};

/// Tunnels named `-esp` use ESP in transport mode.
const KINDS: [Kind; 7] = [
    Kind { name: "geneve", header: "Geneve, Flags [none], vni 0xHEX", added: [30; 2], ..CLEAR },
    Kind { name: "gre", header: "GREv0, key=0xHEX", added: [8, 16], ..CLEAR },
    Kind { name: "gretap", header: "GREv0, key=0xHEX", added: [22, 30], ..CLEAR },
    Kind { name: "wireguard", header: ".ID: UDP", added: [40; 2], multiple: 16, encrypts: true, ..CLEAR },
    ESP,
    Kind { name: "geneve-esp", padded: [32; 2], ..ESP },
    Kind { name: "gre-esp", padded: [10, 18], ..ESP },
];

struct Tunnel {
    kind: &'static Kind,
    /// The inner and outer packets are IPv4 if this is 0, and IPv6 if this is 1.
    family: usize,
    /// The VNI, key, SPI or UDP port.
    id: usize,
}

impl Tunnel {
    fn all() -> impl Iterator<Item = Self> {
        let number = KINDS.iter().flat_map(|kind| [(kind, 0), (kind, 1)]).enumerate();
        number.map(|(number, (kind, family))| Self { kind, family, id: 0x1234 + number })
    }

    fn name(&self) -> String {
        format!("{}{}", self.kind.name, FAMILIES[self.family])
    }

    fn address(&self, host: usize) -> String {
        match self.family {
            0 => format!("198.18.{}.{host}", self.id & 0xff),
            _ => format!("2001:2:0:{:x}::{host}", self.id),
        }
    }

    fn table(&self) -> String {
        let (name, id, family) = (self.name(), self.id, FAMILIES[self.family]);
        let (kind, over) = match self.kind.name.strip_suffix("-esp") {
            Some(kind) => (kind, "ipsec"),
            None => (self.kind.name, "eth"),
        };
        let key = if kind == "wireguard" { "port" } else { "id" };
        let mut table = format!("[tunnels.{name}]\nkind = \"{kind}\"\n{key} = {id}\n");
        if over == "ipsec" {
            table += &format!("spi = {id}\n");
        }
        for host in [1, 2] {
            let address = format!("{}/{}", self.address(host), [24, 64][self.family]);
            table += &format!(
                "[tunnels.{name}.ends.node{host}]\nover = \"{over}{family}\"\naddress = \"{address}\"\n"
            );
        }
        table
    }

    fn is_in(&self, line: &str) -> bool {
        let hex = format!("{:x}", self.id);
        let hex = if self.kind.header == ESP.header { format!("{hex:0>8}") } else { hex };
        line.contains(&self.kind.header.replace("ID", &self.id.to_string()).replace("HEX", &hex))
    }

    /// Returns the length of the frame that carries the inner packet of a small ping.
    fn small_frame(&self) -> usize {
        let Kind { added, padded, multiple, .. } = self.kind;
        let padded = padded[self.family] + PING[self.family] + PAYLOAD;
        UNDERLAY[1] + [20, 40][self.family] + added[self.family] + padded.next_multiple_of(*multiple)
    }
}

const LAB: &str = r#"schema = 1
name = "captured"
title = "Tunnels over both families"
[hosts.node1]
[hosts.node2]
[wires.underlay4]
between = ["node1:eth4", "node2:eth4"]
addresses = ["198.18.1.1/24", "198.18.1.2/24"]
[wires.underlay6]
between = ["node1:eth6", "node2:eth6"]
addresses = ["2001:2::1/64", "2001:2::2/64"]
# IPsec cannot distinguish GRE tunnels between the same addresses.
[wires.ipsec4]
between = ["node1:ipsec4", "node2:ipsec4"]
addresses = ["198.18.2.1/24", "198.18.2.2/24"]
[wires.ipsec6]
between = ["node1:ipsec6", "node2:ipsec6"]
addresses = ["2001:2:0:1::1/64", "2001:2:0:1::2/64"]
[bridges.ovs0]
host = "node1"
kind = "ovs"
address = "198.18.3.1/24"
[pods.pod1]
bridge = "ovs0"
address = "198.18.3.2/24"
[pods.pod2]
bridge = "ovs0"
address = "198.18.3.3/24"
[paths.wire]
from = "node1:eth4"
to = "node2:eth4"
[workloads.latency]
kind = "ping-pong"
"#;

/// Sends two small packets and two of the size of the tunnel's MTU through each tunnel. Copies all frames of
/// each family's underlays to a serial port.
const SCRIPT: &str = "export HOME=/run XDG_RUNTIME_DIR=/run PATH=$PATH:/usr/bin:/usr/local/bin
mkdir /tmp /etc && echo root:x:0:0::/: > /etc/passwd
plumb lab up /lab.toml --name lab
plumb lab shell node1 --lab lab -- sh /pings
plumb lab shell pod1 --lab lab -- ping -q -c 2 198.18.3.3 && echo Open vSwitch forwards between pods
for number in 1 2; do
  stty -F /dev/ttyS$number raw
  cat /run/eth$((number * 2 + 2)) > /dev/ttyS$number
  tail -c +25 /run/ipsec$((number * 2 + 2)) > /dev/ttyS$number # without the header of 24 bytes
done
echo all is captured
while :; do sleep 1; done
";
const PINGS: &str = "for device in eth4 eth6 ipsec4 ipsec6; do
  tcpdump -Z root -i $device --immediate-mode -U -w /run/$device 2>/run/log-$device &
  for _ in $(seq 100); do grep -q listening /run/log-$device && break; sleep 0.1; done
done
while read device address header; do
  mtu=$(ip link show $device | sed -n 's/.* mtu \\([0-9]*\\) .*/\\1/p')
  ping -q -c 2 -s PAYLOAD -p PATTERN $address
  ping -q -c 2 -s $((mtu - header)) $address
done < /tunnels
ping -q -c 2 198.18.3.2 && echo Open vSwitch forwards to the host
sleep 1
kill $(jobs -p)
wait
";

pub(crate) fn tunnels_have_the_documented_headers_and_encrypt() {
    let sandbox = sandbox();
    let folder = sandbox.home();
    let root = folder.join("root");
    fs::create_dir_all(&root).expect("own folder");
    install("tcpdump", &root);
    let file = |name: &str, text: &str| fs::write(root.join(name), text).expect("own file");
    let text = LAB.to_owned() + &Tunnel::all().map(|tunnel| tunnel.table()).collect::<String>();
    file("lab.toml", &text);
    file(
        "pings",
        &PINGS.replace("PAYLOAD", &PAYLOAD.to_string()).replace("PATTERN", &format!("{PATTERN:x}")),
    );
    let line = |it: Tunnel| format!("{} {} {}\n", it.name(), it.address(2), PING[it.family]);
    file("tunnels", &Tunnel::all().map(line).collect::<String>());

    let kernel = GuestKernel::of_test();
    let lab = Scenario::parse("lab.toml", &text).expect("it is valid").lab;
    let modules: Vec<&str> = lab.links.iter().flat_map(Link::modules).chain(MODULES).collect();
    kernel.initrd(folder, SCRIPT, &modules, Some(env!("CARGO_BIN_EXE_plumb")));
    let at = |name: &str| folder.join(name).display().to_string();
    let captures = FAMILIES.map(|family| at(&format!("{family}.pcap")));
    let serial = captures.each_ref().map(|capture| format!("file:{capture}"));
    let qmp = format!("unix:{},server,nowait", at("guest.qmp"));
    let flags = ["-m", "1G", "-serial", &serial[0], "-serial", &serial[1], "-qmp", &qmp].map(str::to_owned);
    let machine = Machine::start(folder, "guest", &kernel, "", &flags);
    let captured = wait_until(3 * PATIENCE, || machine.printed("all is captured") > 0);
    let console = fs::read_to_string(at("guest.console")).unwrap_or_default();
    assert!(captured, "{console}");
    assert!(
        ["forwards to the host", "forwards between pods"].iter().all(|text| console.contains(text)),
        "{console}"
    );

    let packets = captures.map(|capture| packets(&capture)).concat();
    for tunnel in Tunnel::all() {
        let name = tunnel.name();
        let frames: Vec<&(String, Vec<u8>)> = packets.iter().filter(|(line, _)| tunnel.is_in(line)).collect();
        let lengths: Vec<usize> = frames.iter().map(|(_, frame)| frame.len()).collect();
        // Two requests and two replies of each size.
        for expected in [tunnel.small_frame(), UNDERLAY.iter().sum()] {
            let of_length = lengths.iter().filter(|length| **length == expected).count();
            assert_eq!(of_length, 4, "{name}: frames of {expected} in {lengths:?}\n{console}");
        }
        assert_eq!(
            frames.iter().filter(|(_, frame)| is_clear(frame)).count() >= 4,
            !tunnel.kind.encrypts,
            "{name}"
        );
    }
    let is_allowed = |line: &str| Tunnel::all().any(|it| it.is_in(line) && !it.kind.encrypts);
    let leaked: Vec<&String> = packets
        .iter()
        .filter(|(line, frame)| is_clear(frame) && !is_allowed(line))
        .map(|(line, _)| line)
        .collect();
    assert!(leaked.is_empty(), "{leaked:#?}");
}

fn install(program: &str, root: &Path) {
    let script = "file=$(command -v \"$0\") && cp --parents --dereference $file $(ldd $file | grep -o '/[^ ]*') \"$1\"";
    let status = Command::new("sh").args(["-c", script, program]).arg(root).status().expect("a shell");
    assert!(status.success(), "{program}");
}

fn is_clear(frame: &[u8]) -> bool {
    frame.windows(PAYLOAD / 2).any(|bytes| bytes.iter().all(|byte| *byte == PATTERN))
}

/// Returns each frame with the line that tcpdump prints about it.
fn packets(capture: &str) -> Vec<(String, Vec<u8>)> {
    // A capture starts with a 24-byte header, and a frame with a 16-byte header: time, stored length, original
    // length (pcap-savefile(5)).
    let bytes = fs::read(capture).expect("QEMU wrote it");
    let mut rest = bytes.get(24..).unwrap_or_default();
    let mut frames = Vec::new();
    while let Some(length) = rest.get(8..12) {
        let length = u32::from_le_bytes(length.try_into().expect("4 bytes")) as usize;
        let (frame, next) = rest[16..].split_at_checked(length).expect("the capture is complete");
        frames.push(frame.to_vec());
        rest = next;
    }
    let output = Command::new("tcpdump").args(["-nn", "-t", "-r", capture]).stderr(Stdio::null()).output();
    let text = String::from_utf8(output.expect("tcpdump starts").stdout).expect("text");
    let lines: Vec<String> = text.lines().map(str::to_owned).collect();
    assert_eq!(lines.len(), frames.len(), "{text}");
    lines.into_iter().zip(frames).collect()
}
