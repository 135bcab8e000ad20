//! Tests `plumb client`'s hints about the sending device, between two hosts of a running lab.

use std::process::Child;

use plumb_tests::{Sandbox, wait_until, wire};
use serde_json::Value;

use crate::{PATIENCE, evidence::Standing, sandbox};

const SERVER: &str = "198.18.0.2";
const NOBODY: &[&str] = &["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"];

pub(crate) fn names_a_disabled_offload() {
    let sandbox = sandbox();
    let file = sandbox.file("wire.toml", &wire(1, "100ms"));
    let lab = Standing::of(&sandbox, &file, "hint");
    let _server = Server::start(&sandbox, &lab);
    assert_eq!(hint(&sandbox, &[]), None, "every offload of a new pair is on");

    let _ = sandbox.inside("left", &["ethtool", "-K", "eth0", "tso", "off", "gso", "off"]);
    for user in [&[], NOBODY] {
        let hint = hint(&sandbox, user).expect("two offloads are off");
        assert_eq!(hint["evidence"][0]["label"], "off on eth0", "{user:?}: {hint}");
        assert_eq!(hint["remedy"]["commands"][0], "ethtool -k eth0", "{user:?}: {hint}");
    }
    // The trial is not stored, so the client prints all hints.
    let printed = sandbox.inside("left", &client(&["--no-keep"]));
    assert!(printed.contains("Offloads of eth0 are off"), "{printed}");
    assert!(!printed.contains("ethtool -K"), "there is no comparison, so no advice: {printed}");

    let _ = sandbox.inside("left", &["ethtool", "-K", "eth0", "tso", "on", "gso", "on"]);
    assert_eq!(hint(&sandbox, &[]), None, "all offloads are on again");
}

fn hint(sandbox: &Sandbox, user: &[&str]) -> Option<Value> {
    let printed = sandbox.inside("left", &[user, &client(&["--json"])].concat());
    let document: Value = serde_json::from_str(&printed).expect("JSON");
    let own = &document["plumb"];
    assert!(own["outcome"].is_object(), "{own}");
    let hints = own["hints"].as_array().expect("a list");
    hints.iter().find(|hint| hint["id"] == "offload-off").cloned()
}

fn client<'a>(flags: &[&'a str]) -> Vec<&'a str> {
    [&[env!("CARGO_BIN_EXE_plumb"), "client", SERVER, "-t", "300ms"], flags].concat()
}

struct Server(Child);

impl Server {
    fn start(sandbox: &Sandbox, lab: &Standing<'_>) -> Self {
        let server = lab.start("right", &[env!("CARGO_BIN_EXE_plumb"), "server", "-B", SERVER]);
        let server = Self(server);
        // Port 5201 in state LISTEN.
        let listens = |line: &str| line.contains(":1451 ") && line.contains(" 0A ");
        let there = || sandbox.inside("right", &["cat", "/proc/net/tcp"]).lines().any(listens);
        assert!(wait_until(PATIENCE, there), "the server listens");
        server
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}
