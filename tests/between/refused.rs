//! Endpoints that cannot be measured, and runs without consent.

use crate::node::Node;

pub(crate) fn endpoints() {
    let mut node = Node::with_bridge();
    node.add("alone");
    node.add("gone");
    let [a, alone, gone] = ["a", "alone", "gone"].map(|name| node.word(name));
    node.end("gone");
    let host = format!("pid:{}", node.node_pid());
    for (from, to, status, message) in [
        (a.as_str(), a.as_str(), 64, "same network namespace"),
        ("local", &host, 64, "same network namespace"),
        (&a, &alone, 1, "the second endpoint has no address besides loopback"),
        (&a, &gone, 1, "no process has the PID"),
        (&a, "netns:/run/netns/no-such-name", 1, "/run/netns/no-such-name"),
        (&a, "netns:/proc/self/ns/mnt", 1, "/proc/self/ns/mnt"),
        (&a, "blue", 64, "`blue` is not an endpoint; use local, netns:PATH"),
        (&a, "ssh:root@rack-1", 64, "is another machine"),
    ] {
        let output = node.plumb(&["between", "--yes", from, to]);
        assert_eq!(output.status, Some(status), "{from} {to}: {output:?}");
        assert!(output.err.contains(message), "{from} {to}: {output:?}");
    }
    node.shell_in("alone", "ip link add d0 type veth; ip addr add 198.19.0.1/24 dev d0; ip link set d0 up");
    let output = node.plumb(&["between", "--yes", &a, &alone]);
    assert!(output.err.contains("no route") && output.err.contains("198.19.0.1/24"), "{output:?}");
}

pub(crate) fn without_consent() {
    let node = Node::with_bridge();
    let [a, b] = ["a", "b"].map(|name| node.word(name));
    let output = node.plumb(&["between", &a, &b]);
    assert_eq!(output.status, Some(64), "{output:?}");
    assert!(output.err.contains("TCP at full rate for up to") && output.err.contains("--yes"), "{output:?}");
    assert!(output.out.contains("node:va"), "the path is shown without loading it: {output:?}");
    assert_eq!(node.sandbox.succeed(&["runs", "--json"]).out.trim(), "[]", "nothing was measured");
}

pub(crate) fn firewalls() {
    for (place, chain, rule) in [
        ("b", "filter hook input priority 0", "meta l4proto { tcp, udp } th dport != 80 drop"),
        ("node", "filter hook forward priority 0", "tcp dport != 22 reject"),
        ("b", "nat hook prerouting priority -100", "meta l4proto tcp redirect to :15006"),
    ] {
        let node = Node::with_bridge();
        routed(&node);
        let script = format!(
            "nft add table ip t; nft 'add chain ip t c {{ type {chain}; }}'; nft 'add rule ip t c {rule}'"
        );
        let _ = if place == "node" { node.shell(&script) } else { node.shell_in(place, &script) };
        let output = node.plumb(&["between", "--yes", &node.word("a"), &node.word("b")]);
        let host = if place == "node" { place.to_owned() } else { format!("pid-{}", node.pid(place)) };
        let wanted = format!("{host}: table ip t chain c: {rule}");
        assert_eq!(output.status, Some(1), "{rule}: {output:?}");
        assert!(output.err.contains(&wanted), "{rule}: {output:?}");
    }
    let node = Node::with_bridge();
    node.shell("nft 'add table ip t; add chain ip t c { type filter hook output priority 0; }; add rule ip t c tcp dport != 22 reject'");
    let output = node.plumb(&["between", "--yes", "local", &node.word("b")]);
    assert!(output.out.contains("node:vb"), "the bridge is in the same namespace: {output:?}");
    assert_eq!(output.err.matches("chain c: tcp dport != 22 reject").count(), 1, "{output:?}");
}

/// Makes the node a router, because its rules do not apply to packets that its bridge forwards.
fn routed(node: &Node) {
    node.shell("ip link del br0; sysctl -qw net.ipv4.ip_forward=1");
    for (name, number) in [("a", 1), ("b", 2)] {
        node.shell(&format!("ip addr add 198.18.{number}.254/24 dev v{name}"));
        node.shell_in(
            name,
            &format!(
                "ip addr flush dev eth0; ip addr add 198.18.{number}.1/24 dev eth0; ip route add default via 198.18.{number}.254"
            ),
        );
    }
}
