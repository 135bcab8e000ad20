//! A machine with workloads: a network namespace for the node, and one for each endpoint.

use std::{
    ffi::OsString,
    fs,
    os::unix::fs::PermissionsExt,
    process::{Command, Stdio},
};

use plumb_tests::{Output, PATIENCE, ProcessGuard, Sandbox, wait_until};

pub(crate) struct Node {
    pub(crate) sandbox: Sandbox,
    node: ProcessGuard,
    endpoints: Vec<(String, ProcessGuard)>,
    daemons: Vec<ProcessGuard>,
    pub(crate) user: Option<u32>,
}

fn sleeper(what: &str) -> ProcessGuard {
    let mut command = Command::new("unshare");
    command.args(["--net", "sh", "-c", "ip link set lo up; exec sleep 1000000"]);
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let process = ProcessGuard(sys::child::spawn_in(&mut command, None, what).expect("unshare starts"));
    let pid = process.0.id();
    assert!(wait_until(PATIENCE, || plumb_tests::name(pid) == "sleep"), "{what} does not start");
    process
}

impl Node {
    pub(crate) fn new() -> Self {
        let sandbox = Sandbox::new(env!("CARGO_BIN_EXE_plumb"));
        Self { sandbox, node: sleeper("the node"), endpoints: Vec::new(), daemons: Vec::new(), user: None }
    }

    /// Two endpoints `a` and `b` on a bridge of the node, 198.18.0.1 and 198.18.0.2. The node has 198.18.0.254.
    pub(crate) fn with_bridge() -> Self {
        let mut node = Self::new();
        node.add_bridge();
        node
    }

    pub(crate) fn add_bridge(&mut self) {
        self.shell("ip link add br0 type bridge; ip addr add 198.18.0.254/24 dev br0; ip link set br0 up");
        for (number, name) in [(1, "a"), (2, "b")] {
            self.add(name);
            self.connect(name, &format!("v{name}"));
            self.shell(&format!("ip link set v{name} master br0"));
            self.shell_in(name, &format!("ip addr add 198.18.0.{number}/24 dev eth0"));
        }
    }

    /// Moves `b` to another node, connected by VXLAN.
    pub(crate) fn join_by_vxlan(&mut self) {
        self.add("other");
        self.shell("ip link del vb");
        let (other, b) = (self.pid("other"), self.pid("b"));
        self.shell(&format!(
            "ip link add u1 type veth peer name u2 netns {other}; ip addr add 198.19.0.1/24 dev u1; ip link set u1 up; \
             ip link add vx0 type vxlan id 7 dstport 4789 local 198.19.0.1 remote 198.19.0.2; ip link set vx0 master br0 up"
        ));
        self.shell_in(
            "other",
            &format!(
                "ip addr add 198.19.0.2/24 dev u2; ip link set u2 up; ip link add br0 type bridge; ip link set br0 up; \
                 ip link add vx0 type vxlan id 7 dstport 4789 local 198.19.0.2 remote 198.19.0.1; \
                 ip link set vx0 master br0 up; ip link add vb type veth peer name eth0 netns {b}; ip link set vb master br0 up"
            ),
        );
        self.shell_in("b", "ip addr add 198.18.0.2/24 dev eth0; ip link set eth0 up");
    }

    /// Replaces the bridge with routes and source NAT. `b` is 198.18.9.2.
    pub(crate) fn masquerade(&self) {
        self.shell(
            "ip link set va nomaster; ip link set vb nomaster; ip link del br0; ip addr add 198.18.0.254/24 dev va; \
             ip addr add 198.18.9.254/24 dev vb; sysctl -qw net.ipv4.ip_forward=1; \
             nft add table ip t; nft add chain ip t post '{ type nat hook postrouting priority 100; }'; \
             nft add rule ip t post oifname vb masquerade",
        );
        self.shell_in("a", "ip route add default via 198.18.0.254");
        self.shell_in(
            "b",
            "ip addr flush dev eth0; ip addr add 198.18.9.2/24 dev eth0; ip route add default via 198.18.9.254",
        );
    }

    /// Replaces the veth pairs with macvlan devices. `b` is 198.18.5.2.
    pub(crate) fn replace_by_macvlan(&self) {
        self.shell(
            "ip link add parent type veth peer name outside; ip link set parent up; ip link set outside up",
        );
        for (number, name) in [(1, "a"), (2, "b")] {
            let pid = self.pid(name);
            self.shell_in(name, "ip link del eth0");
            self.shell(&format!("ip link add m{number} link parent type macvlan mode bridge; ip link set m{number} netns {pid} name eth0"));
            self.shell_in(name, &format!("ip addr add 198.18.5.{number}/24 dev eth0; ip link set eth0 up"));
        }
    }

    pub(crate) fn add(&mut self, name: &str) {
        self.endpoints.push((name.to_owned(), sleeper(name)));
    }

    pub(crate) fn connect(&self, name: &str, port: &str) {
        let pid = self.pid(name);
        self.shell(&format!(
            "ip link add {port} type veth peer name eth0 netns {pid}; ip link set {port} up"
        ));
        self.shell_in(name, "ip link set eth0 up");
    }

    pub(crate) fn pid(&self, name: &str) -> u32 {
        let endpoint = self.endpoints.iter().find(|(known, _)| known == name);
        endpoint.unwrap_or_else(|| panic!("no endpoint {name}")).1.0.id()
    }

    pub(crate) fn word(&self, name: &str) -> String {
        format!("pid:{}", self.pid(name))
    }

    pub(crate) fn node_pid(&self) -> u32 {
        self.node.0.id()
    }

    pub(crate) fn end(&mut self, name: &str) {
        self.endpoints.retain(|(known, _)| known != name);
    }

    pub(crate) fn shell(&self, script: &str) -> String {
        shell_at(self.node_pid(), script)
    }

    pub(crate) fn shell_in(&self, name: &str, script: &str) -> String {
        shell_at(self.pid(name), script)
    }

    pub(crate) fn start(&mut self, program: &str) {
        let mut command = Command::new("nsenter");
        command.arg(format!("--net=/proc/{}/ns/net", self.node_pid()));
        command.args(["--", "sh", "-c", &format!("exec {program}")]).envs(self.environment());
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        let child = sys::child::spawn_in(&mut command, None, program).expect("nsenter starts");
        self.daemons.push(ProcessGuard(child));
    }

    pub(crate) fn program(&self, name: &str, script: &str) {
        fs::create_dir_all(self.sandbox.home().join("bin")).expect("own folder");
        let file = self.sandbox.file(&format!("bin/{name}"), &format!("#!/bin/sh\n{script}\n"));
        fs::set_permissions(file, fs::Permissions::from_mode(0o755)).expect("own file");
    }

    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        let plumb = self.sandbox.command(arguments);
        let mut command = self.enter();
        command.arg(plumb.get_program()).args(plumb.get_args());
        command.envs(self.environment()).stdin(Stdio::null());
        command
    }

    pub(crate) fn enter(&self) -> Command {
        let mut command = Command::new("nsenter");
        command.arg(format!("--net=/proc/{}/ns/net", self.node_pid())).arg("--");
        if let Some(user) = self.user.map(|user| user.to_string()) {
            command.args(["setpriv", "--reuid", &user, "--regid", &user, "--clear-groups"]);
        }
        command
    }

    pub(crate) fn environment(&self) -> Vec<(OsString, OsString)> {
        let plumb = self.sandbox.command(&[]);
        let variables =
            plumb.get_envs().filter_map(|(name, value)| Some((name.to_owned(), value?.to_owned())));
        let mut variables: Vec<_> = variables.collect();
        for (_, path) in variables.iter_mut().filter(|(name, _)| name == "PATH") {
            let mut replaced = self.sandbox.home().join("bin").into_os_string();
            replaced.push(":");
            replaced.push(&path);
            *path = replaced;
        }
        variables
    }

    pub(crate) fn plumb(&self, arguments: &[&str]) -> Output {
        self.command(arguments).output().map(Output::from).expect("plumb was built")
    }

    pub(crate) fn between(&self, arguments: &[&str]) -> Output {
        let output = self.plumb(&[&["between", "--yes", "--trials", "1"], arguments].concat());
        assert_eq!(output.status, Some(0), "plumb between {arguments:?}: {output:?}");
        output
    }

    pub(crate) fn settings(&self) -> Vec<String> {
        let script = "ip -oneline link; ip -4 -oneline addr; ip -4 route show table all; tc qdisc; cd /proc/sys/net/ipv4; \
                      grep . ip_forward tcp_tw_reuse conf/*/arp_ignore conf/*/rp_filter";
        let pids = [self.node_pid()].into_iter().chain(self.endpoints.iter().map(|(_, it)| it.0.id()));
        pids.flat_map(|pid| shell_at(pid, script).lines().map(str::to_owned).collect::<Vec<_>>()).collect()
    }
}

pub(crate) fn shell_at(pid: u32, script: &str) -> String {
    let mut command = Command::new("nsenter");
    command.arg(format!("--net=/proc/{pid}/ns/net")).args(["--", "sh", "-ec", script]);
    let output = command.output().expect("nsenter starts");
    assert!(output.status.success(), "{script}: {output:?}");
    String::from_utf8_lossy(&output.stdout).into_owned()
}
