//! Podman containers in the namespace of a node.

use std::{fs, os::unix::fs::chown, process::Stdio};

use plumb_tests::{Output, kill, processes};

use crate::node::Node;

/// Podman with its own storage, in the node's namespace. Dropping it removes the containers.
pub(crate) struct Podman {
    pub(crate) node: Node,
}

impl Podman {
    pub(crate) fn start(user: Option<u32>, arguments: &str) -> Option<Self> {
        let mut node = Node::new();
        fs::create_dir_all(node.sandbox.run()).expect("own folder");
        node.user = user;
        for folder in [node.sandbox.home().to_owned(), node.sandbox.run()] {
            chown(folder, user, user).expect("as root");
        }
        let home = node.sandbox.home().display().to_string();
        node.program(
            "podman",
            &format!(
                "exec /usr/bin/podman --root {home}/root --runroot {home}/runroot --tmpdir {home}/tmp --cgroup-manager \
                 cgroupfs --runtime runc --storage-driver vfs --events-backend none --network-backend netavark \
                 --network-config-dir {home}/networks \"$@\""
            ),
        );
        let podman = Self { node };
        let image = "mkdir -p \"$HOME/rootfs/bin\" && cp /bin/busybox \"$HOME/rootfs/bin/sleep\" && \
                     tar --owner=0 --group=0 -C \"$HOME/rootfs\" -c . | podman import - plumb/test:1 && \
                     podman network create --subnet 198.18.40.0/24 test";
        for script in [image, &run("web", arguments), &run("db", arguments)] {
            let output = podman.shell(script);
            if output.status != Some(0) {
                println!("skipped: podman cannot start containers here: {}", output.err.trim());
                return None;
            }
        }
        Some(podman)
    }

    pub(crate) fn shell(&self, script: &str) -> Output {
        let mut command = self.node.enter();
        command.args(["sh", "-c", script]).envs(self.node.environment()).stdin(Stdio::null());
        command.current_dir(self.node.sandbox.home());
        command.output().map(Output::from).expect("nsenter starts")
    }

    pub(crate) fn inspect(&self, name: &str, what: &str) -> String {
        self.shell(&format!("podman inspect --format '{{{{{what}}}}}' {name}")).out.trim().to_owned()
    }
}

impl Drop for Podman {
    fn drop(&mut self) {
        let _ = self.shell("podman rm --force --all --time 0");
        // Rootless Podman leaves behind processes that hold its namespaces.
        for pid in processes(&self.node.sandbox) {
            let _ = kill(pid);
        }
    }
}

/// Sets limits, because on some hosts root may not raise them.
fn run(name: &str, arguments: &str) -> String {
    format!(
        "podman run --detach --name {name} {arguments} --ulimit nofile=1024:1024 --ulimit nproc=1024:1024 --network test \
         plumb/test:1 sleep 1000000"
    )
}
