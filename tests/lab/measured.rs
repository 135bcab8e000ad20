//! Tests of runs, their records and their reports.

use std::process::Command;

use plumb_tests::{Sandbox, in_one_of_three, wire};
use serde_json::Value;

use crate::sandbox;

pub(crate) fn every_builtin_runs() {
    let sandbox = sandbox();
    for (name, results) in [
        ("quick", 10),
        ("engine-limits", 10),
        ("proxmox-vxlan", 6),
        ("egress-gateway", 18),
        ("bridge-streams", 16),
        ("bridge-queues", 9),
    ] {
        let text = sandbox.succeed(&["scenario", "show", name]).out;
        let short = text.replace("duration = \"1s\"", "duration = \"200ms\"");
        let short = short.replace("duration = \"2s\"", "duration = \"200ms\"");
        let file = if short == text { name.into() } else { sandbox.file(&format!("{name}.toml"), &short) };
        let _ = sandbox.succeed(&["run", &file, "--trials", "1", "--quiet"]);
        let findings = sandbox.findings(&format!("latest:{name}"));
        assert_eq!(findings["run"]["state"], "complete", "{name}");
        assert_eq!(
            findings["results"].as_array().map(Vec::len),
            Some(results),
            "{name}: {}",
            findings["skipped"]
        );
        for result in findings["results"].as_array().expect("results") {
            assert!(result["value"]["estimate"].as_f64() > Some(0.0), "{name}: {result}");
            assert!(result["path_mtu"].is_u64(), "the path MTU is known: {name}: {result}");
            assert!(!result["warnings"].to_string().contains("ends-disagree"), "{name}: {result}");
        }
    }
}

pub(crate) fn run_is_measured() {
    let sandbox = sandbox();
    let text = wire(5, "300ms")
        + "[workloads.latency]\nkind = \"ping-pong\"\nduration = \"200ms\"\nplacement = \"same-cpu\"\n";
    let file = sandbox.file("wire.toml", &text);
    let report = sandbox.home().join("report.md");
    let output = sandbox.succeed(&["run", &file, "--output", report.to_str().expect("plain")]);
    assert!(
        output.err.contains("[20/20]"),
        "a line for each of 2 results and their repetitions: {}",
        output.err
    );
    let markdown = std::fs::read_to_string(&report).expect("was written");
    for part in ["Retransmi", "Gbit/s", "99.9", "<details>", "Congestion"] {
        assert!(markdown.contains(part), "no `{part}` in:\n{markdown}");
    }
    let findings = sandbox.findings("latest");
    let results = findings["results"].as_array().expect("results");
    assert_eq!(results.len(), 2, "{results:?}");
    let throughput = result(&findings, "throughput");
    assert!(throughput["value"]["estimate"].as_f64() > Some(1e8), "{throughput}");
    let received = throughput["measured"]["received"]["estimate"].as_f64();
    assert_eq!(received, throughput["value"]["estimate"].as_f64());
    assert_eq!(throughput["path_mtu"], 1500);
    let latency = result(&findings, "latency");
    assert!(latency["measured"]["round_trips"]["count"].as_u64() > Some(100), "{latency}");
    assert_eq!(findings["noise"].as_array().map(Vec::len), Some(2), "a noise floor for each workload");
    assert_eq!(findings["run"]["state"], "complete");
}

/// With few CPUs, the streams take turns, so rates must not be added up.
pub(crate) fn thousand_streams() {
    const SECONDS: f64 = 0.3;
    let sandbox = sandbox();
    let many = |streams: u32| {
        format!(
            "[workloads.of-{streams}]\nkind = \"stream\"\nstreams = {streams}\nduration = \"300ms\"\nwarmup = \"0ms\"\n"
        )
    };
    let text = wire(2, "200ms") + &many(500) + &many(1000);
    let _ = sandbox.succeed(&["run", &sandbox.file("streams.toml", &text), "--quiet"]);
    let raw = sandbox.succeed(&["report", "--format", "raw"]).out;
    let raw: Value = serde_json::from_str(&raw).expect("a document");
    assert_eq!(raw["skipped"].as_array().map(Vec::len), Some(0), "{}", raw["skipped"]);
    let trials = sandbox.succeed(&["report", "--format", "csv-trials"]).out;
    let mut lines = trials.lines().map(|line| line.split(',').collect::<Vec<_>>());
    let head = lines.next().expect("a head");
    let column = |name: &str| head.iter().position(|it| *it == name).expect("it is a column");
    let number = |line: &[&str], name: &str| line[column(name)].parse::<f64>().expect("a number");
    let mut flows = Vec::new();
    for (line, trial) in lines.zip(raw["trials"].as_array().expect("trials")) {
        let devices = trial["counters"]["devices"].as_array().expect("they were counted");
        let carried = devices.iter().filter_map(|device| device["rx_bytes"].as_f64()).fold(0.0, f64::max);
        let (rate, received) = (number(&line, "value"), number(&line, "received_bytes"));
        assert!(received > 0.0 && received <= carried, "{line:?}: {carried} bytes were carried");
        if line[column("workload")] != "throughput" {
            assert!(rate <= carried * 8.0 / SECONDS, "{line:?}: {carried} bytes were carried");
            flows.push(number(&line, "flows") as u32);
        }
    }
    flows.sort_unstable();
    flows.dedup();
    assert_eq!(flows, [500, 1000]);
}

pub(crate) fn memory_is_touched_at_hosts() {
    let sandbox = sandbox();
    let touch = |name: &str, more: &str| {
        format!(
            "[workloads.{name}]\nkind = \"first-touch\"\nhosts = [\"left\", \"right\"]\nmemory = \"32MiB\"\n\
             duration = \"300ms\"\nwarmup = \"50ms\"\ninterval = \"50ms\"\n{more}\n"
        )
    };
    let text = wire(3, "200ms") + &touch("small", "threads = 2") + &touch("huge", "huge-pages = true");
    let output = sandbox.succeed(&["run", &sandbox.file("memory.toml", &text)]);
    assert!(output.err.contains("left/small") && output.err.contains("iB/s"), "{}", output.err);
    let findings = sandbox.findings("latest");
    let at = |id: &str| {
        let results = findings["results"].as_array().expect("results");
        results
            .iter()
            .find(|result| result["id"] == id)
            .unwrap_or_else(|| panic!("no {id}: {}", findings["skipped"]))
    };
    for host in ["left", "right"] {
        let small = at(&format!("{host}/small"));
        assert_eq!(
            (&small["metric"], &small["layers"]),
            (&"touch-rate".into(), &Value::Array(vec![])),
            "{small}"
        );
        let faults = small["measured"]["faults_per_gib"].as_f64().expect("they were counted");
        assert!((262_144.0..266_000.0).contains(&faults), "a fault for each page of 4 KiB: {small}");
        assert!(small["value"]["estimate"].as_f64() > Some(0.0), "{small}");
        assert_eq!(small["cpu"]["per_work"]["work"], "memory", "{small}");
        assert!(small["path_mtu"].is_null() && small["counters"].is_null(), "it uses no path: {small}");
        assert_eq!(
            (&small["sockets"], &small["devices"]),
            (&Value::Array(vec![]), &Value::Array(vec![])),
            "{small}"
        );
        assert_eq!(small["baseline"], host == "left", "{small}");
        let skipped = findings["skipped"].to_string();
        if !skipped.contains("huge pages") {
            let fewer = at(&format!("{host}/huge"))["measured"]["faults_per_gib"].as_f64();
            assert!(fewer < Some(faults), "{host}: {findings}");
        }
    }
    assert!(at("wire/throughput")["path_mtu"].is_u64(), "paths are measured as well");
    let page = sandbox.succeed(&["report", "latest", "--format", "markdown"]).out;
    for part in
        ["first touch of 32.0 MiB by 2 threads, small pages", "Faults/GiB", "4.00 KiB", "CPU-s/GiB", "iB/s"]
    {
        assert!(page.contains(part), "no `{part}` in:\n{page}");
    }
    let csv = sandbox.succeed(&["report", "latest", "--format", "csv-trials"]).out;
    assert!(csv.lines().next().is_some_and(|heads| heads.contains("touched_bytes")), "{csv}");
}

pub(crate) fn vxlan_offload_off_is_found() {
    in_one_of_three(offloads_are_found);
}

fn offloads_are_found() {
    let sandbox = sandbox();
    let text = sandbox.succeed(&["scenario", "show", "egress-gateway"]).out;
    let file = sandbox.file("egress.toml", &text.replace("duration = \"1s\"", "duration = \"400ms\""));
    let arguments = ["run", &file, "--path", "vxlan-to-vxlan", "--workload", "throughput", "--trials", "7"];
    let _ = sandbox.succeed(&arguments);
    let sandbox = sandbox.as_undisturbed(|_| ());
    let findings = sandbox.findings("latest");
    let effects = findings["effects"].as_array().expect("effects");
    let of_vxlan: Vec<&Value> = effects.iter().filter(|effect| effect["factor"] == "vxlan-offload").collect();
    assert!(!of_vxlan.is_empty(), "{effects:?}");
    for effect in of_vxlan {
        assert_eq!(effect["level"], "off", "{effect}");
        // Competing load widens the interval, so only the ratio is certain.
        assert!(effect["change"]["ratio"].as_f64() < Some(0.9), "{effect}");
    }
    let output = sandbox.succeed(&["report", "latest", "--full"]);
    assert!(output.out.contains("ethtool -K "), "the report has the remedy:\n{}", output.out);
    let claims = findings["findings"].as_array().expect("claims");
    let claim = claims.iter().find(|claim| claim["id"] == "offload-off").expect("a finding");
    let printed = claim.to_string();
    assert!(printed.contains("egress-vxlan") || printed.contains("vx"), "the device is named: {printed}");
}

pub(crate) fn jumbo_path_is_verified() {
    let sandbox = sandbox();
    let text = wire(1, "100ms").replace(
        "[paths.wire]",
        "[devices.\"left:eth0\"]\nmtu = 9000\n[devices.\"right:eth0\"]\nmtu = 9000\n\n[paths.wire]",
    );
    let file = sandbox.file("jumbo.toml", &text);
    let _ = sandbox.succeed(&["run", &file, "--quiet"]);
    assert_eq!(sandbox.succeed(&["scenario", "show", "latest"]).out, text);
    assert_eq!(result(&sandbox.findings("latest"), "throughput")["path_mtu"], 9000);
    let tunnel = "[vxlans.vx0]\nvni = 7\n\
                  [vxlans.vx0.members.left]\nover = \"eth0\"\naddress = \"198.18.9.1/24\"\n\
                  [vxlans.vx0.members.right]\nover = \"eth0\"\naddress = \"198.18.9.2/24\"\n\
                  [paths.tunnel]\nfrom = \"left:vx0\"\nto = \"right:vx0\"\nlayers = [\"vxlan\", \"wire\"]\n";
    let text = text.replace("\"left\"", "\"left:eth0\"").replace("\"right\"", "\"right:eth0\"") + tunnel;
    let file = sandbox.file("jumbo-tunnel.toml", &text);
    let _ = sandbox.succeed(&["run", &file, "--quiet"]);
    let findings = sandbox.findings("latest");
    let results = findings["results"].as_array().expect("results");
    let mtus: Vec<_> =
        results.iter().map(|result| (result["path"].as_str(), result["path_mtu"].as_u64())).collect();
    assert_eq!(
        mtus,
        [(Some("wire"), Some(9000)), (Some("tunnel"), Some(8950))],
        "the tunnel fits its underlay"
    );
}

pub(crate) fn skips_what_the_kernel_lacks() {
    let sandbox = sandbox();
    let text = wire(1, "100ms")
        + "\n[factors.congestion]\nvary = \"congestion\"\nvalues = [\"cubic\", \"no-such-control\"]\n";
    let file = sandbox.file("lacks.toml", &text);
    let output = sandbox.succeed(&["run", &file]);
    assert!(
        output.err.contains("skipped wire/throughput/congestion=no-such-control: cannot set"),
        "{}",
        output.err
    );
    let findings = sandbox.findings("latest");
    assert_eq!(findings["results"].as_array().map(Vec::len), Some(1));
    let skipped = findings["skipped"].to_string();
    assert!(skipped.contains("no-such-control"), "{skipped}");
}

pub(crate) fn run_without_root() {
    let sandbox = sandbox();
    let file = sandbox.file("wire.toml", &wire(1, "100ms"));
    let output = unprivileged(&sandbox, &["run", &file]);
    let printed = String::from_utf8_lossy(&output.stderr).into_owned();
    if output.status.success() {
        assert!(printed.contains("user namespace"), "the page names it: {printed}");
    } else {
        assert!(
            printed.contains("max_user_namespaces") || printed.contains("unprivileged_userns"),
            "{printed}"
        );
    }
}

pub(crate) fn unprivileged(sandbox: &Sandbox, arguments: &[&str]) -> std::process::Output {
    let run = sandbox.command(arguments);
    let mut command = Command::new("setpriv");
    command
        .args(["--reuid=65534", "--regid=65534", "--clear-groups"])
        .arg(run.get_program())
        .args(run.get_args());
    command.env_clear().envs(run.get_envs().filter_map(|(name, value)| Some((name, value?))));
    open_to_all(sandbox.home());
    command.output().expect("setpriv starts")
}

fn open_to_all(folder: &std::path::Path) {
    use std::os::unix::fs::PermissionsExt;
    std::fs::set_permissions(folder, std::fs::Permissions::from_mode(0o777)).expect("own file");
}

fn result<'a>(findings: &'a Value, workload: &str) -> &'a Value {
    let results = findings["results"].as_array().expect("results");
    results.iter().find(|result| result["workload"] == workload).expect("a result of that workload")
}
