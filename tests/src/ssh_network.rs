//! Hosts, each with an sshd, in network namespaces connected by a bridge.

use std::{
    fs,
    net::UdpSocket,
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use sys::netns::NetNs;

use crate::{Output, PATIENCE, ProcessGuard, Sandbox, name, wait_until};

/// The hosts `h0` (198.18.0.1), `h1` (198.18.0.2) etc., and the machine that runs `plumb` (198.18.0.254).
pub struct Network {
    pub sandbox: Sandbox,
    switch: Place,
    hosts: Vec<Place>,
}

struct Place {
    process: ProcessGuard,
}

impl Place {
    fn start(script: &str, what: &str) -> Self {
        let mut command = Command::new("unshare");
        command.args(["--net", "--mount", "sh", "-c", script]);
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        let process = sys::child::spawn_in(&mut command, None, what).expect("unshare starts");
        let place = Self { process: ProcessGuard(process) };
        let own = namespace_of(std::process::id());
        assert!(wait_until(PATIENCE, || namespace_of(place.pid()) != own), "{what} has no namespace");
        place
    }

    fn pid(&self) -> u32 {
        self.process.0.id()
    }

    fn command(&self) -> Command {
        let mut command = Command::new("nsenter");
        command.arg(format!("--net=/proc/{}/ns/net", self.pid())).arg("--");
        command
    }

    fn shell(&self, script: &str) {
        let mut command = self.command();
        let output = command.args(["sh", "-ec", script]).output().expect("nsenter starts");
        assert!(output.status.success(), "{script}: {output:?}");
    }
}

fn namespace_of(pid: u32) -> Option<PathBuf> {
    fs::read_link(format!("/proc/{pid}/ns/net")).ok()
}

impl Network {
    /// `plumb` is `env!("CARGO_BIN_EXE_plumb")`.
    #[must_use]
    pub fn of(plumb: &str, hosts: usize) -> Self {
        let sandbox = Sandbox::new(plumb);
        let switch = Place::start("exec sleep 1000000", "the switch");
        switch.shell("ip link set lo up; ip link add br0 type bridge; ip addr add 198.18.0.254/24 dev br0; ip link set br0 up");
        let mut network = Self { sandbox, switch, hosts: Vec::new() };
        network.make_keys();
        for number in 0..hosts {
            network.add(number);
        }
        network
    }

    fn folder(&self) -> &Path {
        self.sandbox.home()
    }

    fn make_keys(&self) {
        let folder = self.folder().display().to_string();
        for key in ["key", "hostkey"] {
            let mut make = Command::new("ssh-keygen");
            make.args(["-q", "-t", "ed25519", "-N", "", "-f"]).arg(self.folder().join(key));
            let status = make.status().expect("ssh-keygen comes with the client");
            assert!(status.success(), "a key of the test");
        }
        fs::copy(self.folder().join("key.pub"), self.folder().join("authorized_keys")).expect("own file");
        let _ = self.sandbox.file("sshd_config", &format!(
            "Port 22\nHostKey {folder}/hostkey\nAuthorizedKeysFile {folder}/authorized_keys\nStrictModes no\nUsePAM no\n\
             PasswordAuthentication no\nKbdInteractiveAuthentication no\nPermitRootLogin yes\nPidFile none\n"
        ));
        let _ = self.sandbox.file("ssh_config", &format!(
            "Host h*\n  User root\n  HostKeyAlias any\nHost *\n  IdentityFile {folder}/key\n  IdentitiesOnly yes\n  \
             UserKnownHostsFile {folder}/known_hosts\n  GlobalKnownHostsFile /dev/null\n  StrictHostKeyChecking yes\n"
        ));
        let public = fs::read_to_string(self.folder().join("hostkey.pub")).expect("the file exists");
        let _ = self.sandbox.file("known_hosts", &format!("any {public}"));
        // ssh finds a user's configuration by user name rather than by HOME.
        fs::create_dir(self.folder().join("bin")).expect("own file");
        let _ = self
            .sandbox
            .file("bin/ssh", &format!("#!/bin/sh\nexec /usr/bin/ssh -F {folder}/ssh_config \"$@\"\n"));
        fs::set_permissions(self.folder().join("bin/ssh"), fs::Permissions::from_mode(0o755))
            .expect("own file");
    }

    fn add(&mut self, number: usize) {
        let of_host = self.folder().join(format!("h{number}"));
        for folder in ["home", "run/sshd", "mounts"] {
            fs::create_dir_all(of_host.join(folder)).expect("own file");
        }
        let script = format!(
            "mount --bind {0}/home /root && mount --bind {0}/run /run && exec $(command -v sshd || echo /usr/sbin/sshd) -D \
             -f {1}/sshd_config",
            of_host.display(),
            self.folder().display()
        );
        let host = Place::start(&script, "sshd");
        let (pid, switch) = (host.pid(), self.switch.pid());
        let add = format!("ip link add eth0 netns {pid} type veth peer name p{number} netns {switch}");
        assert!(Command::new("sh").args(["-c", &add]).status().expect("sh").success(), "{add}");
        self.switch.shell(&format!("ip link set p{number} master br0 up"));
        host.shell(&format!(
            "ip link set lo up; ip addr add 198.18.0.{}/24 dev eth0; ip link set eth0 up",
            number + 1
        ));
        let config = self.folder().join("ssh_config");
        let known = fs::read_to_string(&config).expect("it was written");
        let entry = format!("Host h{number}\n  HostName 198.18.0.{}\n", number + 1);
        fs::write(config, entry + &known).expect("own file");
        let answers = || {
            let ssh = format!("exec {}/bin/ssh -oBatchMode=yes h{number} true", self.folder().display());
            self.switch
                .command()
                .args(["sh", "-c", &ssh])
                .output()
                .is_ok_and(|output| output.status.success())
        };
        assert!(wait_until(PATIENCE, answers), "sshd of h{number} does not answer");
        self.hosts.push(host);
    }

    /// Gives the hosts IPv6 addresses instead of IPv4, also for SSH: `h0` has 2001:2::1, and the machine that runs
    /// `plumb` has 2001:2::fe.
    pub fn use_ipv6(&self) {
        self.switch.shell("ip addr add 2001:2::fe/64 dev br0 nodad");
        for (number, host) in (1..).zip(&self.hosts) {
            host.shell(&format!("ip -4 addr flush dev eth0; ip addr add 2001:2::{number}/64 dev eth0 nodad"));
        }
        let config = self.folder().join("ssh_config");
        let known = fs::read_to_string(&config).expect("it was written");
        fs::write(config, known.replace("HostName 198.18.0.", "HostName 2001:2::")).expect("own file");
    }

    #[must_use]
    pub fn on_host(&self, host: usize, arguments: &[&str]) -> Command {
        self.started_in(&self.hosts[host], arguments)
    }

    #[must_use]
    pub fn command(&self, arguments: &[&str]) -> Command {
        self.started_in(&self.switch, arguments)
    }

    fn started_in(&self, place: &Place, arguments: &[&str]) -> Command {
        let plumb = self.sandbox.command(arguments);
        let mut command = place.command();
        command.arg(plumb.get_program()).args(plumb.get_args()).stdin(Stdio::null());
        command.envs(plumb.get_envs().filter_map(|(name, value)| Some((name, value?))));
        let path = std::env::var("PATH").unwrap_or_default();
        command.env("PATH", format!("{}:{path}", self.folder().join("bin").display()));
        command
    }

    #[must_use]
    pub fn plumb(&self, arguments: &[&str]) -> Output {
        self.command(arguments).output().map(Output::from).expect("plumb was built")
    }

    #[must_use]
    pub fn succeed(&self, arguments: &[&str]) -> Output {
        let output = self.plumb(arguments);
        assert_eq!(output.status, Some(0), "plumb {arguments:?}: {output:?}");
        output
    }

    pub fn limit(&self, host: usize, rate: &str) {
        let shape = |device: &str| {
            format!("tc qdisc replace dev {device} root tbf rate {rate} burst 256kb latency 50ms")
        };
        self.at(host, &shape("eth0"));
        self.switch.shell(&shape(&format!("p{host}")));
    }

    pub fn lose(&self, percent: u32, [from, to]: [usize; 2]) {
        self.at(
            to,
            &format!(
                "nft 'add table ip lossy; add chain ip lossy in {{ type filter hook input priority 0; }}; \
                 add rule ip lossy in ip saddr 198.18.0.{} tcp dport != 22 numgen random mod 100 < {percent} drop'",
                from + 1
            ),
        );
    }

    pub fn part(&self, halves: [&[usize]; 2]) {
        for (half, others) in [(halves[0], halves[1]), (halves[1], halves[0])] {
            let others: Vec<String> = others.iter().map(|host| format!("198.18.0.{}", host + 1)).collect();
            let wall = format!(
                "nft 'add table ip parted; add chain ip parted in {{ type filter hook input priority 0; }}; \
                 add rule ip parted in ip saddr {{ {} }} drop'",
                others.join(", ")
            );
            half.iter().for_each(|host| self.at(*host, &wall));
        }
    }

    pub fn join(&self) {
        (0..self.hosts.len()).for_each(|host| self.at(host, "nft 'delete table ip parted'"));
    }

    pub fn cable(&self, host: usize, state: &str) {
        self.switch.shell(&format!("ip link set p{host} {state}"));
    }

    #[must_use]
    pub fn at_switch(&self, words: &[&str]) -> Command {
        let mut command = self.switch.command();
        command.args(words);
        command
    }

    pub fn lose_udp(&self, host: usize) {
        self.at(
            host,
            "nft 'add table ip wall; add chain ip wall in { type filter hook input priority 0; }; \
             add rule ip wall in udp dport 4789 drop'",
        );
    }

    #[must_use]
    pub fn udp(&self, host: usize, port: u16) -> UdpSocket {
        let namespace = NetNs::open(format!("/proc/{}/ns/net", self.hosts[host].pid())).expect("it runs");
        namespace.run_in(|| UdpSocket::bind(("0.0.0.0", port))).expect("as root").expect("the port is free")
    }

    #[must_use]
    pub fn holds(&self, host: usize, script: &str) -> bool {
        let mut command = self.hosts[host].command();
        command.args(["sh", "-c", script]).status().expect("nsenter starts").success()
    }

    #[must_use]
    pub fn at_host(&self, host: usize, words: &[&str]) -> Command {
        let mut command = self.hosts[host].command();
        command.args(words);
        command
    }

    pub fn at(&self, host: usize, script: &str) {
        self.hosts[host].shell(script);
    }

    pub fn on(&self, host: usize, script: &str) -> String {
        let mut command = Command::new("nsenter");
        let target = self.hosts[host].pid().to_string();
        let output = command.args(["-t", &target, "--net", "--mount", "--", "sh", "-ec", script]).output();
        let output = output.expect("nsenter starts");
        assert!(output.status.success(), "{script}: {output:?}");
        String::from_utf8_lossy(&output.stdout).into_owned()
    }

    #[must_use]
    pub fn agents(&self, host: usize) -> Vec<u32> {
        self.processes(host).into_iter().filter(|pid| name(*pid) == "plumb-agent").collect()
    }

    #[must_use]
    pub fn processes(&self, host: usize) -> Vec<u32> {
        let there = namespace_of(self.hosts[host].pid());
        let all = fs::read_dir("/proc").expect("Linux").filter_map(Result::ok);
        let pids = all.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
        pids.filter(|pid| namespace_of(*pid) == there).collect()
    }

    pub fn agents_are_gone(&self) {
        let count = || (0..self.hosts.len()).map(|host| self.agents(host).len()).sum::<usize>();
        assert!(wait_until(PATIENCE, || count() == 0), "{} agents still run", count());
    }

    #[must_use]
    pub fn files(&self, host: usize) -> Vec<String> {
        let home = self.folder().join(format!("h{host}/home"));
        let mut found = Vec::new();
        let mut folders = vec![home.clone()];
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(folder).expect("own file").filter_map(Result::ok) {
                if entry.path().is_dir() {
                    folders.push(entry.path());
                } else {
                    let path = entry.path().strip_prefix(&home).expect("it is below").display().to_string();
                    found.push(path);
                }
            }
        }
        found
    }
}
