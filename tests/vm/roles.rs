//! Tests a guest measured with probes: its monitor's CPU time and system calls by thread role.

use std::collections::BTreeSet;

use plumb_tests::{Sandbox, trials};
use serde_json::Value;

use crate::{
    measured::{number, scenario, streams},
    sandbox,
};

/// The server is in the only guest, and the client is on the guest's host.
pub(crate) fn distinguishes_a_monitor_s_threads() {
    let sandbox = sandbox();
    let file = sandbox.file("roles.toml", &scenario("vcpus = 2", &streams(2, "700ms", 1)));
    let output = sandbox.plumb(&["run", &file, "--probe", "cpu,syscalls"]);
    assert_eq!(output.status, Some(0), "{output:?}");
    let record = sandbox.record();
    let watched: Vec<&Value> = trials(&record).iter().filter(|trial| trial["arm"] == "probed").collect();
    assert!(!watched.is_empty(), "{}", output.err);
    for trial in watched {
        check_owners(&trial["observed"]["cpu"]["shares"]);
        check_calls(&trial["observed"]["syscalls"]);
        check_guest(&trial["cpu"]);
    }
    check_page(&sandbox);
}

fn threads<'a>(shares: &'a Value, consumer: &str, process: &str) -> BTreeSet<&'a str> {
    let shares = shares.as_array().expect("a list").iter();
    let of_owner = shares.filter(|share| share["consumer"] == consumer && named(&share["process"], process));
    of_owner.map(|share| share["thread"].as_str().unwrap_or("unnamed")).collect()
}

fn named(process: &Value, begins: &str) -> bool {
    process.as_str().is_some_and(|name| name.starts_with(begins))
}

fn check_owners(shares: &Value) {
    let cpus = threads(shares, "server-vm", "qemu");
    assert!(!cpus.is_empty() && cpus.iter().all(|thread| thread.starts_with("CPU ")), "{shares:#}");
    let others = threads(shares, "vmm", "qemu");
    assert!(!others.is_empty() && !others.iter().any(|thread| thread.starts_with("CPU ")), "{shares:#}");
    assert!(!threads(shares, "client", "plumb").is_empty(), "{shares:#}");
    for consumer in ["client", "server", "client-vm"] {
        assert_eq!(threads(shares, consumer, "qemu"), BTreeSet::new(), "{consumer}: {shares:#}");
    }
}

fn check_calls(calls: &Value) {
    let calls = calls.as_array().expect("a list");
    let of_monitor: Vec<&Value> = calls.iter().filter(|call| named(&call["process"], "qemu")).collect();
    assert!(
        of_monitor.iter().all(|call| call["end"] == "server" && number(&call["calls"]) > 0),
        "{calls:#?}"
    );
    let begins = |thread: &str| of_monitor.iter().any(|call| named(&call["thread"], thread));
    assert!(begins("CPU ") && begins("qemu"), "{of_monitor:#?}");
    assert!(
        calls.iter().any(|call| call["end"] == "client" && named(&call["process"], "plumb")),
        "{calls:#?}"
    );
}

fn check_guest(cpu: &Value) {
    let guests = cpu["guests"].as_array().expect("one end is in a guest");
    let [guest] = guests.as_slice() else { panic!("{guests:#?}") };
    assert_eq!((guest["end"].as_str(), number(&guest["cpu"]["cpus"])), (Some("server"), 2), "{guest:#}");
    assert!(number(&guest["cpu"]["elapsed"]) > 0, "{guest:#}");
    assert!(number(&cpu["machine"]["elapsed"]) > 0, "the client sees the machine: {cpu:#}");
}

fn check_page(sandbox: &Sandbox) {
    let page = sandbox.succeed(&["report", "latest", "--full"]).out;
    for printed in
        ["CPU time of virtual machines", "Server VM", "Hypervisor", "server's VM (vCPUs)", "VMM, I/O"]
    {
        assert!(page.contains(printed), "`{printed}` is not in:\n{page}");
    }
    assert!(!page.contains("Client VM"), "{page}");
    let findings = sandbox.findings("latest");
    let result = &findings["results"][0];
    let cpu = &result["probed"]["cpu"];
    assert!(cpu["machines"]["server"].is_f64() && cpu["machines"]["client"].is_null(), "{cpu:#}");
    assert_eq!((&result["guests"][0]["end"], &cpu["guests"][0]["end"]), (&"server".into(), &"server".into()));
    let ends = result["probed"]["calls"]["ends"].as_array().expect("calls were counted");
    let of_server = ends.iter().find(|end| end["end"] == "server").expect("the monitor makes calls");
    assert!(named(&of_server["process"], "qemu"), "{of_server}");
}
