//! Tests that `plumb trace --fallback ptrace` works without eBPF programs. setpriv(1) drops the capabilities that
//! loading such programs requires.

use std::{
    process::{Child, Command, Stdio},
    time::Duration,
};

use plumb_tests::{PATIENCE, Sandbox, wait_until};
use serde_json::Value;

use crate::sandbox;

struct Busy(Child);

impl Busy {
    fn start() -> Self {
        let mut command = Command::new("dd");
        command.args(["if=/dev/zero", "of=/dev/null", "bs=1", "status=none"]);
        Self(command.spawn().expect("coreutils"))
    }

    fn pid(&self) -> String {
        self.0.id().to_string()
    }

    fn status(&self, field: &str) -> String {
        let text = std::fs::read_to_string(format!("/proc/{}/status", self.0.id())).expect("it runs");
        let line = text.lines().find_map(|line| line.strip_prefix(field)).expect("every process has it");
        line.trim().to_owned()
    }
}

impl Drop for Busy {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn without_privileges(sandbox: &Sandbox, arguments: &[&str]) -> Command {
    bounded(sandbox, "-bpf,-perfmon,-sys_admin", arguments)
}

/// `set` uses setpriv(1) syntax. The command runs as root.
pub(crate) fn bounded(sandbox: &Sandbox, set: &str, arguments: &[&str]) -> Command {
    let plain = sandbox.command(arguments);
    let mut command = Command::new("setpriv");
    command.args(["--bounding-set", set, "--inh-caps", set, "--"]).arg(plain.get_program()).args(arguments);
    for (name, value) in plain.get_envs() {
        command.env(name, value.expect("it is set"));
    }
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

pub(crate) fn names_and_runs_the_fallback_without_privileges() {
    let sandbox = sandbox();
    let busy = Busy::start();
    let pid = busy.pid();
    let trace = |more: &[&str]| {
        let words = [&["trace", "--pid", pid.as_str(), "--for", "1500ms"], more].concat();
        let output = without_privileges(&sandbox, &words).output().expect("util-linux has it");
        (output.status.code(), String::from_utf8_lossy(&output.stdout).into_owned(), output.stderr)
    };
    let (status, page, _) = trace(&[]);
    assert_eq!(status, Some(0), "{page}");
    assert!(page.contains("Probe syscalls not available") && page.contains("`--fallback ptrace`"), "{page}");
    let (status, _, error) = trace(&["--probe", "syscalls"]);
    assert_eq!(status, Some(3));
    assert!(String::from_utf8_lossy(&error).contains("--fallback ptrace"), "{error:?}");
    let (status, page, error) = trace(&["--fallback", "ptrace"]);
    assert_eq!(status, Some(0), "{page}{}", String::from_utf8_lossy(&error));
    for part in [
        "counted by stopping the process at each one (ptrace)",
        "its rate of reads and writes was",
        "unknown",
        "write",
    ] {
        assert!(page.contains(part), "no `{part}` in:\n{page}");
    }
    let table =
        page.split("System calls\n").nth(1).expect("a section").split("CPU time").next().expect("text");
    assert!(
        !table.contains("Running") && !table.contains("Waiting"),
        "an unknown value is not printed as 0:\n{table}"
    );
    let (_, document, _) = trace(&["--fallback", "ptrace", "--json"]);
    let document: Value = serde_json::from_str(&document).expect("JSON");
    let slices = document["observed"]["ptrace"]["slices"].as_array().expect("a list");
    assert!(slices.iter().any(|slice| slice["counting"] == false), "it paused: {slices:?}");
    assert_eq!(busy.status("TracerPid:"), "0", "it is no longer traced");
    assert!(!busy.status("State:").starts_with(['t', 'T']), "and runs");
}

pub(crate) fn killed_plumb_releases_processes() {
    let sandbox = sandbox();
    let busy = Busy::start();
    let pid = busy.pid();
    let words =
        ["trace", "--pid", pid.as_str(), "--for", "60s", "--fallback", "ptrace", "--probe", "syscalls"];
    let mut plumb = without_privileges(&sandbox, &words).spawn().expect("util-linux has it");
    let watched = wait_until(PATIENCE, || busy.status("TracerPid:") != "0");
    std::thread::sleep(Duration::from_millis(200));
    plumb.kill().expect("SIGKILL can be sent");
    plumb.wait().expect("it was started");
    assert!(watched, "it was traced before");
    assert!(wait_until(PATIENCE, || busy.status("TracerPid:") == "0"), "the kernel detaches from it");
    let moved = || std::fs::read_to_string(format!("/proc/{}/io", busy.pid())).expect("it runs");
    let before = moved();
    assert!(wait_until(PATIENCE, || moved() != before), "it continues as before");
}

pub(crate) fn only_processes_by_pid_can_be_stopped() {
    let sandbox = sandbox();
    for words in [
        &["trace", "--fallback", "ptrace", "--qemu", "x"][..],
        &["trace", "--fallback", "ptrace", "--", "true"],
    ] {
        let output = sandbox.plumb(words);
        assert_eq!(output.status, Some(64), "{words:?}: {output:?}");
        assert!(output.err.contains("cannot be used with"), "{}", output.err);
    }
}
