//! Labs for faults, with settings drawn from a seed.

use plumb_tests::Sandbox;

/// Findings that name a fault.
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
    /// Through a router, which sends ICMP errors. Otherwise, through a switch.
    pub(crate) routed: bool,
    pub(crate) tunnel: bool,
    /// Of both wires. A switch uses only the first.
    pub(crate) mtus: [u32; 2],
    pub(crate) rate: Option<&'static str>,
}

impl Lab {
    pub(crate) fn client_device(&self) -> &'static str {
        if self.tunnel { "client:vx0" } else { "client:eth0" }
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
            tunnel_to("server")
        )
    }

    fn router(&self) -> String {
        let [up, down] = self.mtus.map(|mtu| self.wire(mtu));
        let (back, via, tunnel) = match self.tunnel {
            true => ("198.18.9.0/24", "198.18.9.2", tunnel_to("router")),
            false => ("198.18.0.0/24", "198.18.0.2", String::new()),
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

    fn path(&self) -> &'static str {
        match (self.routed, self.tunnel) {
            (false, false) => "from = \"client:eth0\", to = \"server:eth0\", layers = [\"wire\", \"bridge\"]",
            (false, true) => {
                "from = \"client:vx0\", to = \"server:vx0\", layers = [\"vxlan\", \"wire\", \"bridge\"]"
            }
            (true, false) => "from = \"client:eth0\", to = \"server:eth0\", layers = [\"wire\"]",
            (true, true) => "from = \"client:vx0\", to = \"server:eth0\", layers = [\"vxlan\", \"wire\"]",
        }
    }
}

fn tunnel_to(host: &str) -> String {
    format!(
        "vxlans.vx0.vni = 7\n\
         vxlans.vx0.members.client = {{ over = \"eth0\", address = \"198.18.9.1/24\" }}\n\
         vxlans.vx0.members.{host} = {{ over = \"eth0\", address = \"198.18.9.2/24\" }}\n"
    )
}
