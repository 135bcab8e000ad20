//! Measures every pair of endpoint kinds, and prints the seconds that each takes.

use std::{
    fs,
    path::Path,
    process::{Command, Stdio},
    time::Instant,
};

use plumb_tests::{Need, Output, PATIENCE, wait_until};

use crate::podman::Podman;

const DOCKER: &[Need] = &[Need::Program("dockerd", "docker.io"), Need::Program("docker", "docker.io")];
const PODS: &[Need] = &[
    Need::Program("containerd", "containerd"),
    Need::Release("crictl", "kubernetes-sigs/cri-tools"),
    Need::File("/usr/lib/cni/bridge", "containernetworking-plugins"),
];
const CONTAINERD: &str = r#"version = 2
root = "HOME/containerd"
state = "HOME/containerd-state"
[grpc]
address = "HOME/containerd.sock"
[plugins."io.containerd.grpc.v1.cri"]
sandbox_image = "localhost/plumb/test:1"
restrict_oom_score_adj = true
containerd.snapshotter = "native"
cni.bin_dir = "/usr/lib/cni"
cni.conf_dir = "HOME/cni"
"#;
const CNI: &str = r#"{"cniVersion": "0.4.0", "name": "pods", "plugins": [{"type": "bridge", "bridge": "cni0",
"isGateway": true, "ipam": {"type": "host-local", "dataDir": "HOME/cni-data",
"ranges": [[{"subnet": "198.18.50.0/24"}]], "routes": [{"dst": "0.0.0.0/0"}]}}]}"#;

struct Kind {
    name: &'static str,
    /// Two endpoints of this kind, or one for `local`.
    words: Vec<String>,
}

/// The containers of all runtimes on one node, which forwards between their networks.
struct Runtimes {
    podman: Podman,
    home: String,
    kinds: Vec<Kind>,
    /// Shell scripts for the runtimes that were started with their own sockets.
    cleanups: Vec<&'static str>,
}

pub(crate) fn every_pair() {
    let Some(podman) = Podman::start(None, "") else { return };
    let mut runtimes = Runtimes::start(podman);
    runtimes.start_docker();
    runtimes.start_pods();
    let kinds = &runtimes.kinds;
    for (place, from) in kinds.iter().enumerate() {
        for to in &kinds[place..] {
            let Some(last) = to.words.get(usize::from(std::ptr::eq(from, to))) else { continue };
            runtimes.measure([from.name, to.name], [&from.words[0], last]);
        }
    }
}

impl Runtimes {
    fn start(mut podman: Podman) -> Self {
        let home = podman.node.sandbox.home().display().to_string();
        podman.node.add_bridge();
        podman.node.shell("sysctl -qw net.ipv4.ip_forward=1");
        let mut kinds = vec![Kind { name: "local", words: vec!["local".to_owned()] }];
        for name in ["a", "b"] {
            podman.node.shell_in(name, "ip route add default via 198.18.0.254");
        }
        let pids = ["a", "b"].map(|name| podman.node.pid(name));
        let spaces = pids.map(|pid| format!("netns:/proc/{pid}/ns/net"));
        kinds.push(Kind { name: "netns", words: spaces.to_vec() });
        // The pair of `netns` and `pid` needs different namespaces.
        let processes = [pids[1], pids[0]].map(|pid| format!("pid:{pid}"));
        kinds.push(Kind { name: "pid", words: processes.to_vec() });
        let containers = ["web", "db"].map(|name| format!("container:{name}"));
        kinds.push(Kind { name: "podman", words: containers.to_vec() });
        Self { podman, home, kinds, cleanups: Vec::new() }
    }

    fn start_docker(&mut self) {
        let home = &self.home;
        self.podman.node.program("docker", "exit 1");
        if is_missing("docker", DOCKER) {
            return;
        }
        let docker = path_of("docker");
        self.podman.node.program("docker", &format!("exec {docker} -H unix://{home}/docker.sock \"$@\""));
        self.podman.node.start(&format!(
            "dockerd --data-root {home}/docker --exec-root {home}/docker-exec --pidfile {home}/docker.pid \
             --host unix://{home}/docker.sock --bip 198.18.60.1/24 --iptables=false --storage-driver vfs"
        ));
        self.cleanups.push(
            "docker rm --force one two; daemon=$(cat docker.pid) && kill $daemon && \
             while [ -e docker.pid ]; do sleep 0.1; done; umount docker-exec/netns/*",
        );
        let run = |name: &str| format!("docker run --detach --name {name} plumb/test:1 sleep 1000000");
        let script =
            format!("podman export web | docker import - plumb/test:1 && {} && {}", run("one"), run("two"));
        let containers = ["one", "two"].map(|name| format!("container:{name}"));
        self.add("docker", "docker version", &script, containers);
    }

    fn start_pods(&mut self) {
        if is_missing("pod", PODS) {
            return;
        }
        let home = &self.home;
        fs::create_dir_all(Path::new(home).join("cni")).expect("own folder");
        for (name, text) in [("containerd.toml", CONTAINERD), ("cni/pods.conflist", CNI)] {
            let _ = self.podman.node.sandbox.file(name, &text.replace("HOME", home));
        }
        let crictl = path_of("crictl");
        let socket = format!("{home}/containerd.sock");
        self.podman.node.program(
            "crictl",
            &format!(
                "exec {crictl} --runtime-endpoint unix://{socket} --image-endpoint unix://{socket} \"$@\""
            ),
        );
        self.podman.node.start(&format!("containerd --config {home}/containerd.toml"));
        self.cleanups.push("crictl rmp --force $(crictl pods --quiet --namespace shop)");
        let pod = |name: &str| {
            let config = format!(
                "{{\"metadata\": {{\"name\": \"{name}\", \"namespace\": \"shop\", \"uid\": \"{name}\"}}}}"
            );
            format!("crictl runp {}", self.podman.node.sandbox.file(&format!("{name}.json"), &config))
        };
        let script = format!(
            "podman commit --change 'CMD [\"/bin/sleep\", \"1000000\"]' web localhost/plumb/test:1 && \
             podman save --format oci-archive --output {home}/image.tar localhost/plumb/test:1 && \
             ctr --address {socket} --namespace k8s.io images import {home}/image.tar && {} && {}",
            pod("cart"),
            pod("stock")
        );
        self.add("pod", "crictl info", &script, ["pod:shop/cart", "pod:shop/stock"].map(str::to_owned));
    }

    fn add(&mut self, name: &'static str, ready: &str, script: &str, words: [String; 2]) {
        let is_ready = || self.podman.shell(ready).status == Some(0);
        let started = wait_until(PATIENCE, is_ready);
        let output = self.podman.shell(if started { script } else { ready });
        if output.status == Some(0) {
            self.kinds.push(Kind { name, words: words.to_vec() });
        } else {
            println!("  skipped: {name}: {}", output.err.trim());
        }
    }

    fn measure(&self, kinds: [&str; 2], [from, to]: [&str; 2]) {
        let mut command = self.podman.node.command(&["between", "--yes", from, to]);
        command.env_remove("PLUMB_KEEP_DISTURBED");
        let began = Instant::now();
        let output = command.output().map(Output::from).expect("plumb was built");
        let (seconds, [first, second]) = (began.elapsed().as_secs_f64(), kinds);
        println!("  {first:6} {second:6} {seconds:5.1} s, load {}", load());
        assert!(output.status == Some(0) && output.out.contains("bit/s"), "{from} {to}: {output:?}");
    }
}

impl Drop for Runtimes {
    /// A killed daemon leaves behind its containers, processes and mounts.
    fn drop(&mut self) {
        for script in &self.cleanups {
            let _ = self.podman.shell(script);
        }
    }
}

fn is_missing(kind: &str, needs: &[Need]) -> bool {
    let unmet = needs.iter().find_map(|need| need.unmet());
    unmet.inspect(|reason| println!("  skipped: {kind}: {reason}")).is_some()
}

fn path_of(program: &str) -> String {
    let output = Command::new("which").arg(program).stderr(Stdio::null()).output().expect("which starts");
    String::from_utf8_lossy(&output.stdout).trim().to_owned()
}

fn load() -> String {
    let load = fs::read_to_string("/proc/loadavg").expect("a file of the kernel");
    load.split_whitespace().next().unwrap_or_default().to_owned()
}
