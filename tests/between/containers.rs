//! Podman containers, and scripts that replace other container runtimes.

use plumb_tests::trials;

use crate::{node::Node, podman::Podman};

/// Requires root, because version 1 cgroups belong to root.
const QUOTA: &str = "--cpus 0.5";

pub(crate) fn two_containers() {
    let Some(podman) = Podman::start(None, QUOTA) else { return };
    let output = podman.node.between(&["container:web", "container:db"]);
    let shown = &output.out;
    assert!(shown.contains("web:eth0") && shown.contains("db:eth0"), "{output:?}");
    assert!(shown.contains("port of podman1"), "{output:?}");
    let explained = podman.node.sandbox.succeed(&["explain", "latest"]).out;
    assert!(explained.contains("container:web may use 0.5 CPUs"), "{explained}");
    let record = podman.node.sandbox.record();
    assert_eq!(trials(&record)[0]["devices"].as_array().map(Vec::len), Some(4), "{record}");
    for name in ["web", "db"] {
        assert_eq!(podman.inspect(name, ".State.Running"), "true");
    }
    let id = podman.inspect("web", ".Id");
    let output = podman.node.between(&[&format!("container:{}", &id[..12]), "local"]);
    assert!(output.out.contains("local:podman1"), "{output:?}");
}

/// Other users may not enter the containers' user namespace and network.
pub(crate) fn rootless_containers() {
    const USER: u32 = 65_533;
    let Some(mut podman) = Podman::start(Some(USER), "") else { return };
    let output = podman.node.between(&["container:web", "container:db"]);
    for device in ["web:eth0", "port of podman1", "db:eth0"] {
        assert!(output.out.contains(device), "{device}: {output:?}");
    }
    assert!(!output.out.contains("not visible"), "{output:?}");
    let [web, db] = ["web", "db"].map(|name| format!("pid:{}", podman.inspect(name, ".State.Pid")));
    podman.node.user = Some(USER - 1);
    let output = podman.node.plumb(&["between", "--yes", &web, &db]);
    podman.node.user = Some(USER);
    assert!(output.status == Some(1) && output.err.contains("run plumb as root"), "{output:?}");
}

pub(crate) fn containers_that_cannot_be_measured() {
    let Some(podman) = Podman::start(None, QUOTA) else { return };
    let node = &podman.node;
    let _ = podman.shell(
        "podman run --detach --name host --ulimit nofile=1024:1024 --ulimit nproc=1024:1024 --network host plumb/test:1 sleep \
         1000000; podman stop --time 0 db",
    );
    for (from, to, status, message) in [
        ("container:web", "container:none", 1, "no container is called `none`; running: "),
        ("container:web", "container:db", 1, "container `db` is exited, not running; start it first"),
        ("container:host", "local", 64, "same network namespace"),
        ("container:web", "container:web", 64, "same network namespace"),
    ] {
        let output = node.plumb(&["between", "--yes", from, to]);
        assert_eq!(output.status, Some(status), "{from} {to}: {output:?}");
        assert!(output.err.contains(message), "{from} {to}: {output:?}");
    }
    let answer = "[{\"Id\":\"other\",\"State\":{\"Status\":\"running\",\"Pid\":1}}]";
    node.program("docker", &format!("echo '{answer}'"));
    let output = node.plumb(&["between", "--yes", "container:web", "local"]);
    assert!(output.err.contains("both docker and podman have a container `web`"), "{output:?}");
}

pub(crate) fn runtimes_that_fail() {
    let node = Node::with_bridge();
    let a = node.word("a");
    let cases = [
        (
            "echo 'permission denied while trying to connect to the Docker daemon socket' >&2; exit 1",
            "run plumb as root",
        ),
        (
            "echo 'Cannot connect to the Docker daemon' >&2; exit 1",
            "check that the container runtime is running",
        ),
        ("echo 'not JSON'", "printed unexpected output"),
    ];
    for (script, message) in cases {
        node.program("podman", script);
        node.program("docker", script);
        let output = node.plumb(&["between", "--yes", &a, "container:web"]);
        assert_eq!(output.status, Some(1), "{output:?}");
        assert!(output.err.contains(message), "{script}: {output:?}");
    }
    let pid = node.pid("b");
    let pods = "{\"items\":[{\"id\":\"9f2\",\"metadata\":{\"name\":\"cart-7d9\",\"namespace\":\"shop\"}}]}";
    node.program(
        "crictl",
        &format!("case $1 in pods) echo '{pods}';; inspectp) echo '{{\"info\":{{\"pid\":{pid}}}}}';; esac"),
    );
    let output = node.plumb(&["between", "--yes", &a, "pod:shop/cart"]);
    let message = "no pod is called `cart` in the namespace `shop` on this node; ready: shop/cart-7d9";
    assert!(output.err.contains(message), "{output:?}");
    let output = node.between(&[&a, "pod:shop/cart-7d9"]);
    assert!(output.out.contains("cart-7d9:eth0"), "{output:?}");
}
