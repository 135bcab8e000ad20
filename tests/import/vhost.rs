//! Tests a published measurement with vhost-net on and off over four paths.

use std::process::Stdio;

use serde_json::Value;

use crate::{data, sandbox};

/// The ratios between the summaries that iperf3 printed with vhost on and off.
const SPEED_UPS: &[(&str, f64, &str)] = &[
    ("host-to-vm", 27.4 / 16.2, "higher"),
    ("vm-to-host", 21.8 / 17.7, "higher"),
    ("vm0-to-vm1", 17.8 / 15.3, "unclear"),
    ("vm1-to-vm0", 6.35 / 16.0, "lower"),
];

pub(crate) fn speed_up_by_path() {
    let sandbox = sandbox();
    let reported = sandbox.succeed(&["import", "--sources", &data("vhost-net.md")]).out;
    for heading in ["\"with vhost-net + Host->VM\"", "\"without vhost-net + VM1->VM0\"", "both ends"] {
        assert!(reported.contains(heading), "{heading} is missing in:\n{reported}");
    }
    assert!(reported.contains("imported 8 trials in 8 results"), "{reported}");
    let findings = sandbox.findings("latest");
    let effects = findings["effects"].as_array().expect("a list");
    assert_eq!(effects.len(), 4);
    for (path, ratio, verdict) in SPEED_UPS {
        let effect = effects.iter().find(|effect| effect["path"] == *path).expect("an effect a path");
        assert_eq!((effect["factor"].as_str(), effect["level"].as_str()), (Some("vhost-net"), Some("on")));
        let change = &effect["change"];
        let got = change["ratio"].as_f64().expect("a number");
        assert!((got / ratio - 1.0).abs() < 0.01, "{path}: {got} and not {ratio}");
        assert_eq!(change["verdict"], *verdict, "{path}");
        let end = |which: &str| change["ratio_interval"][which].as_f64().expect("an interval");
        assert!(end("low") < got && got < end("high"), "{path}: {change}");
        assert_eq!(change["basis"], "intervals", "{path}: one trial each");
    }
    let report = sandbox.succeed(&["report"]).out;
    for shown in ["1.69x", "1.24x", "1.17x", "0.40x"] {
        assert!(report.contains(shown), "{shown} is not in:\n{report}");
    }
    let bounded = sandbox.succeed(&["report", "--require", "throughput>15Gbit/s"]).out;
    assert!(bounded.contains("6.35 Gbit/s, missed"), "{bounded}");
    for (flags, printed) in [
        (["--require", "throughput>1Gbit/s", "-f", "csv"], "use terminal, markdown, html or json"),
        (["--require", "p98<1ms", "-f", "markdown"], "p99.9"),
        (["--at-most", "queues=2", "-f", "json"], "its factors: vhost-net"),
    ] {
        let output = sandbox.plumb(&[&["report"], &flags[..]].concat());
        assert!(output.status == Some(64) && output.err.contains(printed), "{output:?}");
    }
}

pub(crate) fn jumps_and_asymmetry() {
    let sandbox = sandbox();
    let _ = sandbox.succeed(&["import", &data("vhost-net.md")]);
    let findings = sandbox.findings("latest");
    let claims: Vec<&str> = findings["findings"]
        .as_array()
        .expect("a list")
        .iter()
        .filter_map(|claim| claim["id"].as_str())
        .collect();
    for id in ["direction-asymmetry", "level-shift", "imported"] {
        assert!(claims.contains(&id), "{id} is not in {claims:?}");
    }
    let results = findings["results"].as_array().expect("a list");
    let result = |id: &str| results.iter().find(|result| result["id"] == id).expect("the result exists");
    let shifts = |result: &Value| result["shifts"].as_array().map_or(0, Vec::len);
    assert_eq!(shifts(result("vm1-to-vm0/tcp-stream/vhost-net=off")), 2, "12.4 to 20.1 to 14.8 Gbit/s");
    assert_eq!(shifts(result("host-to-vm/tcp-stream/vhost-net=on")), 0, "this stream is steady");
}

pub(crate) fn run_like_any_other() {
    let sandbox = sandbox();
    let reported = sandbox.succeed(&["import", "--quiet", "--name", "vhost", &data("vhost-net.md")]).out;
    let run = reported.trim();
    assert!(run.starts_with("vhost-") && reported.lines().count() == 1, "{reported}");
    let list = sandbox.succeed(&["runs"]).out;
    assert!(list.contains(run) && list.contains("imported") && list.contains("  8  "), "{list}");
    let raw = sandbox.succeed(&["report", "latest:vhost", "--format", "raw"]).out;
    let record: Value = serde_json::from_str(&raw).expect("a record is JSON");
    assert_eq!(record["header"]["origin"]["kind"], "imported");
    assert_eq!(record["header"]["environment"], Value::Null, "no load was reported");
    let again = sandbox.succeed(&["import", "--quiet", "--name", "vhost", &data("vhost-net.md")]).out;
    assert_ne!(again.trim(), run, "importing a file again creates another run");
}

pub(crate) fn from_standard_input() {
    let sandbox = sandbox();
    let file = std::fs::File::open(data("iperf3/tcp.client.txt")).expect("a capture");
    let output = sandbox
        .command(&["import", "-", "--sources"])
        .stdin(Stdio::from(file))
        .output()
        .expect("plumb was built");
    let reported = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success() && reported.contains("standard input:1-"), "{reported}");
}
