//! A fleet with members on some of a network's hosts, and a NATS server on the bridge.

use std::{
    fs::{self, File},
    process::Stdio,
};

use crate::{Network, PATIENCE, ProcessGuard, certificate, signal, wait_until};

/// Members can share the port, because each has its own network.
const METRICS: &str = "0.0.0.0:9464";

pub const NATS_SERVER: &str = "nats://198.18.0.254:4222";
const NATS_BY_IPV6: &str = "nats://[2001:2::fe]:4222";
const TLS_BY_IPV6: &str = "tls://[2001:2::fe]:4222";

pub struct Fleet {
    pub members: Vec<ProcessGuard>,
    pub server: Option<ProcessGuard>,
    pub network: Network,
}

impl Fleet {
    /// Starts the members before the server, so that they wait for it.
    #[must_use]
    pub fn of(network: Network, hosts: std::ops::Range<usize>) -> Self {
        Self::at(NATS_SERVER, network).raised(hosts, "")
    }

    #[must_use]
    pub fn by_ipv6(network: Network, hosts: std::ops::Range<usize>) -> Self {
        network.use_ipv6();
        Self::at(NATS_BY_IPV6, network).raised(hosts, "")
    }

    fn at(server: &str, network: Network) -> Self {
        let fleet = Self { members: Vec::new(), server: None, network };
        fleet.register(&["init", server]);
        fleet
    }

    #[must_use]
    pub fn encrypted_by_ipv6(network: Network, hosts: std::ops::Range<usize>) -> Self {
        network.use_ipv6();
        let fleet = Self::at(TLS_BY_IPV6, network);
        let files = certificate(&fleet.network.sandbox, "nats", "IP:2001:2::fe");
        for (file, name) in files.iter().zip(["cert.pem", "key.pem"]) {
            fs::copy(file, fleet.path(&format!("fleet/{name}"))).expect("the file exists");
        }
        let ca = format!("ca = \"{}\"\n", files[0]);
        fleet.raised(hosts, &ca)
    }

    fn raised(self, hosts: std::ops::Range<usize>, more: &str) -> Self {
        let mut fleet = self;
        let names: Vec<String> = hosts.clone().map(|host| format!("m{host}")).collect();
        fleet.register(&["add", "ops", "--controller"]);
        names.iter().for_each(|name| fleet.register(&["add", name]));
        for name in names.iter().map(String::as_str).chain(["ops"]) {
            let file = fleet.path(&format!("fleet/{name}.toml"));
            let text = fs::read_to_string(&file).expect("the file exists");
            fs::write(&file, text + more).expect("own file");
        }
        fs::create_dir_all(fleet.path(".config/plumb")).expect("own file");
        fs::copy(fleet.path("fleet/ops.toml"), fleet.path(".config/plumb/fleet.toml"))
            .expect("the file exists");
        fs::copy(fleet.path("fleet/ops.nk"), fleet.path(".config/plumb/ops.nk")).expect("the file exists");
        fleet.members = hosts.clone().zip(&names).map(|(host, name)| fleet.member(host, name)).collect();
        for host in hosts {
            let waits = || fleet.log(host).contains("cannot reach");
            assert!(wait_until(PATIENCE, waits), "{}", fleet.log(host));
        }
        fleet.start_server();
        fleet.is_there(&names.iter().map(String::as_str).collect::<Vec<_>>());
        fleet
    }

    pub fn register(&self, words: &[&str]) {
        let folder = self.path("fleet");
        let _ = self.network.succeed(&[&["fleet"], words, &["--folder", &folder]].concat());
    }

    #[must_use]
    pub fn path(&self, name: &str) -> String {
        self.network.sandbox.home().join(name).display().to_string()
    }

    pub fn start_server(&mut self) {
        let config = self.path("fleet/nats.conf");
        let log = File::create(self.path("nats.log")).expect("own file");
        let mut command = self.network.at_switch(&["nats-server", "-c", &config]);
        let server = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(log).spawn();
        self.server = Some(ProcessGuard(server.expect("it is installed")));
    }

    #[must_use]
    pub fn member(&self, host: usize, name: &str) -> ProcessGuard {
        let log = File::create(self.path(&format!("member{host}.log"))).expect("own file");
        let file = self.path(&format!("fleet/{name}.toml"));
        let mut command = self.network.on_host(host, &["member", &file, "--metrics", METRICS]);
        ProcessGuard(command.stdout(Stdio::null()).stderr(log).spawn().expect("plumb was built"))
    }

    #[must_use]
    pub fn metrics(&self, host: usize) -> String {
        let port = METRICS.replace(':', "/").replace("0.0.0.0", "127.0.0.1");
        let ask = r"GET /metrics HTTP/1.1\r\nHost: member\r\nConnection: close\r\n\r\n";
        let script = format!(
            "ip link set lo up; exec bash -c \"exec 3<>/dev/tcp/{port}; printf '{ask}' >&3; cat <&3\""
        );
        self.network.on(host, &script)
    }

    #[must_use]
    pub fn log(&self, host: usize) -> String {
        fs::read_to_string(self.path(&format!("member{host}.log"))).unwrap_or_default()
    }

    #[must_use]
    pub fn listed(&self) -> Vec<serde_json::Value> {
        let output = self.network.plumb(&["fleet", "list", "--json"]);
        serde_json::from_str(&output.out).unwrap_or_default()
    }

    #[track_caller]
    pub fn is_there(&self, names: &[&str]) {
        let there = || self.listed().iter().map(|member| member["name"].clone()).collect::<Vec<_>>() == names;
        assert!(wait_until(PATIENCE, there), "{names:?} are not there: {:?}", self.listed());
    }

    pub fn end(&mut self) {
        for (host, mut member) in std::mem::take(&mut self.members).into_iter().enumerate() {
            assert!(member.0.try_wait().is_ok_and(|ended| ended.is_none()), "{}", self.log(host));
            signal(member.0.id(), "TERM");
            assert!(member.0.wait().is_ok_and(|status| status.success()), "{}", self.log(host));
        }
        self.server = None;
    }
}
