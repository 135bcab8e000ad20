//! Tests that scenario variants can be listed, shown, run under their own names and resumed, and that a missing
//! variant is reported.

use plumb_tests::{PATIENCE, kills::kept, wait_until};

use super::sandbox;

const WIRE: &str = r#"schema = 1
name = "wire"
title = "One wire"

[hosts.a]

[hosts.b]

[wires.w]
between = ["a:eth0", "b:eth0"]
addresses = ["198.18.0.1/24", "198.18.0.2/24"]

[paths.a-to-b]
from = "a"
to = "b"
layers = ["wire"]
baseline = true

# So that it can be interrupted.
[workloads.latency]
kind = "ping-pong"
duration = "250ms"
warmup = "10ms"

[schedule]
trials = 2

[variants.twice.schedule]
trials = 4
"#;

pub(super) fn shown_and_checked() {
    let sandbox = sandbox();
    for (plain, flags) in [
        ("proxmox-vxlan", &["--guests", "vm"][..]),
        ("egress-gateway", &["--variant", "vm"]),
        ("bridge-multiqueue", &["--full"]),
    ] {
        let variant = if flags == ["--full"] { "full" } else { "vm" };
        let list = sandbox.succeed(&["scenario", "list"]).out;
        let row = list.lines().find(|line| line.trim_start().starts_with(plain)).expect("it is shipped");
        assert!(row.split_whitespace().nth(1) == Some(variant), "{row}");
        let shown = sandbox.succeed(&[&["scenario", "show", plain], flags].concat()).out;
        assert!(shown.contains(&format!("name = \"{plain}-{variant}\"")), "{shown}");
        assert!(!shown.contains("[variants"), "the shown scenario is self-contained: {shown}");
        let file = sandbox.file("variant.toml", &shown);
        let checked = sandbox.succeed(&["scenario", "check", &file]).out;
        assert_eq!(checked, sandbox.succeed(&[&["scenario", "check", plain], flags].concat()).out);
        assert_eq!(checked, sandbox.succeed(&[&["run", plain, "--dry-run"], flags].concat()).out);
    }
}

pub(super) fn missing_variants() {
    let sandbox = sandbox();
    for (words, printed, hint) in [
        (&["quick", "--full"][..], "no variant `full`", "already at full size"),
        (&["engine-limits", "--guests", "vm"], "no variant `vm`", "it has no guests"),
        (&["bridge-multiqueue", "--guests", "vm"], "no variant `vm`", "already virtual machines"),
        (&["bridge-multiqueue", "--variant", "ful"], "no variant `ful`", "its variants: full"),
    ] {
        for command in [&["run"][..], &["scenario", "show"], &["scenario", "check"]] {
            let output = sandbox.plumb(&[command, words].concat());
            assert_eq!(output.status, Some(64), "{command:?} {words:?}: {output:?}");
            assert!(output.err.contains(printed) && output.err.contains(hint), "{}", output.err);
        }
    }
    let file = sandbox.file("wrong.toml", &WIRE.replace("trials = 4", "trails = 4"));
    let output = sandbox.plumb(&["scenario", "check", &file, "--format", "short"]);
    assert_eq!(output.status, Some(64), "{output:?}");
    assert!(output.out.contains("wrong.toml as variant twice:"), "{}", output.out);
    assert!(output.out.contains("unknown key `trails`"), "{}", output.out);
}

pub(super) fn resumed() {
    let sandbox = sandbox();
    let file = sandbox.file("wire.toml", WIRE);
    for by in [&["run"][..], &["run", &file, "--variant", "twice"]] {
        let mut run = sandbox.start(&["run", &file, "--variant", "twice", "--probe", "none"]);
        assert!(wait_until(PATIENCE, || kept(&sandbox) >= 1), "no trial was stored");
        run.kill().expect("SIGKILL can be sent");
        run.wait().expect("it was started");
        let there = kept(&sandbox);
        assert!((1..8).contains(&there), "{there} trials are stored");
        let plain = sandbox.plumb(&["run", &file, "--resume"]);
        assert_eq!(plain.status, Some(64), "the plain scenario has no run: {plain:?}");
        let _ = sandbox.succeed(&[by, &["--resume", "--quiet"]].concat());
        assert_eq!(kept(&sandbox), 8);
        assert_eq!(sandbox.findings("latest")["run"]["scenario"], "wire-twice");
        let _ = sandbox.succeed(&["runs", "remove", "latest"]);
    }
}
