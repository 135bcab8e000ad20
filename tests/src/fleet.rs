//! A fleet: members on some hosts of a network, and a NATS server where the bridge is. Keys and configuration are what `plumb
//! fleet` makes of them.

use std::{
    fs::{self, File},
    process::Stdio,
};

use crate::{Network, PATIENCE, ProcessGuard, certificate, signal, wait_until};

/// Where members serve their numbers, each in a network of its own.
const METRICS: &str = "0.0.0.0:9464";

/// The members' server, where the bridge is.
pub const NATS_SERVER: &str = "nats://198.18.0.254:4222";
const ENCRYPTED: &str = "tls://198.18.0.254:4222";

/// Members on hosts of a network, `m0` on `h0`; its user measures as the controller `ops`.
pub struct Fleet {
    // Ended before the hosts are.
    /// By the order of their hosts.
    pub members: Vec<ProcessGuard>,
    /// Where it runs.
    pub server: Option<ProcessGuard>,
    /// The hosts.
    pub network: Network,
}

impl Fleet {
    /// The members wait for the server at first.
    #[must_use]
    pub fn of(network: Network, hosts: std::ops::Range<usize>) -> Self {
        let fleet = Self { members: Vec::new(), server: None, network };
        fleet.register(&["init", NATS_SERVER]);
        fleet.raised(hosts, "")
    }

    /// The same where nothing but the server's own certificate is believed.
    #[must_use]
    pub fn encrypted(network: Network, hosts: std::ops::Range<usize>) -> Self {
        let fleet = Self { members: Vec::new(), server: None, network };
        fleet.register(&["init", ENCRYPTED]);
        let files = certificate(&fleet.network.sandbox, "nats", "IP:198.18.0.254");
        for (file, name) in files.iter().zip(["cert.pem", "key.pem"]) {
            fs::copy(file, fleet.path(&format!("fleet/{name}"))).expect("it was made");
        }
        let ca = format!("ca = \"{}\"\n", files[0]);
        fleet.raised(hosts, &ca)
    }

    /// With members, and so many lines more in the file of each and of the controller.
    fn raised(self, hosts: std::ops::Range<usize>, more: &str) -> Self {
        let mut fleet = self;
        let names: Vec<String> = hosts.clone().map(|host| format!("m{host}")).collect();
        fleet.register(&["add", "ops", "--controller"]);
        names.iter().for_each(|name| fleet.register(&["add", name]));
        for name in names.iter().map(String::as_str).chain(["ops"]) {
            let file = fleet.path(&format!("fleet/{name}.toml"));
            let text = fs::read_to_string(&file).expect("it was made");
            fs::write(&file, text + more).expect("it is ours");
        }
        fs::create_dir_all(fleet.path(".config/plumb")).expect("it is ours");
        fs::copy(fleet.path("fleet/ops.toml"), fleet.path(".config/plumb/fleet.toml")).expect("it was made");
        fs::copy(fleet.path("fleet/ops.nk"), fleet.path(".config/plumb/ops.nk")).expect("it was made");
        fleet.members = hosts.clone().zip(&names).map(|(host, name)| fleet.member(host, name)).collect();
        for host in hosts {
            let waits = || fleet.log(host).contains("cannot be reached");
            assert!(wait_until(PATIENCE, waits), "{}", fleet.log(host));
        }
        fleet.start_server();
        fleet.is_there(&names.iter().map(String::as_str).collect::<Vec<_>>());
        fleet
    }

    /// `plumb fleet` in the folder of this fleet's keys.
    pub fn register(&self, words: &[&str]) {
        let folder = self.path("fleet");
        let _ = self.network.succeed(&[&["fleet"], words, &["--folder", &folder]].concat());
    }

    /// A file of the sandbox.
    #[must_use]
    pub fn path(&self, name: &str) -> String {
        self.network.sandbox.home().join(name).display().to_string()
    }

    /// Starts it, or starts it again.
    pub fn start_server(&mut self) {
        let config = self.path("fleet/nats.conf");
        let log = File::create(self.path("nats.log")).expect("it is ours");
        let mut command = self.network.at_switch(&["nats-server", "-c", &config]);
        let server = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(log).spawn();
        self.server = Some(ProcessGuard(server.expect("it is installed")));
    }

    /// Starts the member `name` on a host.
    #[must_use]
    pub fn member(&self, host: usize, name: &str) -> ProcessGuard {
        let log = File::create(self.path(&format!("member{host}.log"))).expect("it is ours");
        let file = self.path(&format!("fleet/{name}.toml"));
        let mut command = self.network.on_host(host, &["member", &file, "--metrics", METRICS]);
        ProcessGuard(command.stdout(Stdio::null()).stderr(log).spawn().expect("plumb was built"))
    }

    /// What Prometheus would read of the member on a host.
    #[must_use]
    pub fn metrics(&self, host: usize) -> String {
        let port = METRICS.replace(':', "/").replace("0.0.0.0", "127.0.0.1");
        let ask = r"GET /metrics HTTP/1.1\r\nHost: member\r\nConnection: close\r\n\r\n";
        let script = format!(
            "ip link set lo up; exec bash -c \"exec 3<>/dev/tcp/{port}; printf '{ask}' >&3; cat <&3\""
        );
        self.network.on(host, &script)
    }

    /// What the member on a host said.
    #[must_use]
    pub fn log(&self, host: usize) -> String {
        fs::read_to_string(self.path(&format!("member{host}.log"))).unwrap_or_default()
    }

    /// What `plumb fleet list` shows.
    #[must_use]
    pub fn listed(&self) -> Vec<serde_json::Value> {
        let output = self.network.plumb(&["fleet", "list", "--json"]);
        serde_json::from_str(&output.out).unwrap_or_default()
    }

    /// Waits until these members are there, and no others.
    #[track_caller]
    pub fn is_there(&self, names: &[&str]) {
        let there = || self.listed().iter().map(|member| member["name"].clone()).collect::<Vec<_>>() == names;
        assert!(wait_until(PATIENCE, there), "{names:?} are not there: {:?}", self.listed());
    }

    /// Ends the members, as they are asked to, and the server.
    ///
    /// # Panics
    /// When a member has ended before.
    pub fn end(&mut self) {
        for (host, mut member) in std::mem::take(&mut self.members).into_iter().enumerate() {
            assert!(member.0.try_wait().is_ok_and(|ended| ended.is_none()), "{}", self.log(host));
            signal(member.0.id(), "TERM");
            assert!(member.0.wait().is_ok_and(|status| status.success()), "{}", self.log(host));
        }
        self.server = None;
    }
}
