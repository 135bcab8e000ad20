//! Labs for faults, with settings drawn from a seed.

use plumb_tests::Sandbox;

pub(crate) const CAUSES: [&str; 8] = [
    "black-hole",
    "conntrack-full",
    "cpu-throttled",
    "lost-checksum",
    "policed-port",
    "qdisc-drops",
    "shaped-port",
    "snat-ports",
];

#[derive(Debug)]
pub(crate) struct Lab {
    /// Whether the path uses a router (which sends ICMP errors) instead of a switch.
    pub(crate) routed: bool,
    /// Either `vxlan` or a kind of `[tunnels]`.
    pub(crate) tunnel: Option<&'static str>,
    /// The MTUs of both wires. A switch uses only the first.
    pub(crate) mtus: [u32; 2],
    pub(crate) rate: Option<&'static str>,
}

impl Lab {
    pub(crate) fn client_device(&self) -> &'static str {
        if self.tunnel.is_some() { "client:t0" } else { "client:eth0" }
    }

    pub(crate) fn measure(&self, sandbox: &Sandbox, workload: &str, factor: &str, trials: u32) {
        let (lab, path) = (if self.routed { self.router() } else { self.switch() }, self.path());
        let text = format!(
            "schema = 1\nname = \"cell\"\ntitle = \"A lab for faults\"\n{lab}\n\
             paths.path = {{ {path}, baseline = true }}\nworkloads.load = {{ {workload} }}\n{factor}\n\
             schedule = {{ trials = {trials} }}\n"
        );
        let _ = sandbox.succeed(&["run", &sandbox.file("cell.toml", &text), "--probe", "none"]);
    }

    fn switch(&self) -> String {
        let wire = self.wire(self.mtus[0]);
        format!(
            r#"
hosts.client = {{}}
hosts.switch = {{}}
hosts.server = {{}}
wires.up = {{ between = ["client:eth0", "switch:p1"], addresses = ["198.18.0.1/24", "none"]{wire} }}
wires.down = {{ between = ["switch:p2", "server:eth0"], addresses = ["none", "198.18.0.2/24"]{wire} }}
bridges.br0 = {{ host = "switch", ports = ["p1", "p2"] }}
{}"#,
            tunnel(self.tunnel.unwrap_or("vxlan"), "server")
        )
    }

    fn router(&self) -> String {
        let [up, down] = self.mtus.map(|mtu| self.wire(mtu));
        let (back, via, tunnel) = match self.tunnel {
            Some(kind) => ("198.18.9.0/24", "198.18.9.2", tunnel(kind, "router")),
            None => ("198.18.0.0/24", "198.18.0.2", String::new()),
        };
        format!(
            r#"
hosts.client = {{}}
hosts.router = {{}}
hosts.server = {{}}
wires.up = {{ between = ["client:eth0", "router:eth0"], addresses = ["198.18.0.1/24", "198.18.0.2/24"]{up} }}
wires.down = {{ between = ["router:eth1", "server:eth0"], addresses = ["198.18.1.1/24", "198.18.1.2/24"]{down} }}
routes = [
    {{ host = "client", to = "198.18.1.0/24", via = "{via}" }},
    {{ host = "server", to = "{back}", via = "198.18.1.1" }},
]
{tunnel}"#
        )
    }

    fn wire(&self, mtu: u32) -> String {
        let rate = self.rate.map(|rate| format!(", rate = \"{rate}\""));
        format!(", mtu = {mtu}{}", rate.unwrap_or_default())
    }

    fn path(&self) -> String {
        let server = if self.tunnel.is_some() && !self.routed { "server:t0" } else { "server:eth0" };
        let bridge = if self.routed { "" } else { ", \"bridge\"" };
        let tunnel = self.tunnel.map(|kind| format!("\"{kind}\", ")).unwrap_or_default();
        let client = self.client_device();
        format!("from = \"{client}\", to = \"{server}\", layers = [{tunnel}\"wire\"{bridge}]")
    }
}

fn tunnel(kind: &str, host: &str) -> String {
    let (table, ends, first) = match kind {
        "vxlan" => ("vxlans.t0", "members", "vni = 7".to_owned()),
        _ => ("tunnels.t0", "ends", format!("kind = \"{kind}\"")),
    };
    format!(
        "{table}.{first}\n\
         {table}.{ends}.client = {{ over = \"eth0\", address = \"198.18.9.1/24\" }}\n\
         {table}.{ends}.{host} = {{ over = \"eth0\", address = \"198.18.9.2/24\" }}\n"
    )
}
