//! Fills the connection tracking table of a guest, because the table's limit is read-only in a namespace.

use crate::{
    measured::{run, scenario},
    sandbox,
};

pub(crate) const MODULE: &str = "CONFIG_NF_CONNTRACK=m";

const FULL: &str = r#"[faults.full]
kind = "conntrack-full"
connections = 16

[factors.table]
vary = "fault"
devices = ["vm0:eth0"]
values = ["full", "none"]

[workloads.requests]
kind = "connect"
duration = "500ms"
clients = 4

[schedule]
trials = 2
pause = "1ms"
"#;

pub(crate) fn full_table_is_named() {
    let sandbox = sandbox();
    let output = run(&sandbox, &sandbox.file("full.toml", &scenario("", FULL)));
    assert_eq!(output.status, Some(0), "{output:?}");
    let findings = sandbox.as_undisturbed(|_| ()).findings("latest");
    let verdict = &findings["verdict"]["conclusion"];
    assert_eq!(verdict["reason"]["finding"], "conntrack-full", "{findings:#}");
    let lead = verdict["reason"]["lead"].as_str().expect("a sentence");
    assert_eq!(lead, "The connection tracking table of vm0 is full");
    let results: Vec<_> =
        findings["results"].as_array().expect("a list").iter().map(|it| &it["id"]).collect();
    assert_eq!(results, ["to-vm/requests/table=none"], "the limit is lifted again");
}
