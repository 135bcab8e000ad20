//! Tests how runs and labs end when they are disturbed.

use std::{fs, process::Command, thread, time::Duration};

use plumb_tests::{
    Leftovers,
    kills::{self, kept},
    signal, wait_until, wire,
};

use crate::{PATIENCE, sandbox};

/// A short version of `make soak ARGS=kills`.
pub(crate) fn few_kills() {
    let sandbox = sandbox();
    let file = sandbox.file("wire.toml", &wire(30, "100ms"));
    let _ = kills::runs_survive(&sandbox, &file, 6, Duration::from_secs(3));
    let _ = kills::servers_survive(&sandbox, 3);
}

pub(crate) fn killed_controller_leaves_nothing() {
    let sandbox = sandbox();
    let before = Leftovers::of(&sandbox);
    let file = sandbox.file("long.toml", &wire(8, "400ms"));
    let mut run = sandbox.start(&["run", &file]);
    assert!(wait_until(PATIENCE, || kept(&sandbox) >= 2), "no trial was stored");
    let second = sandbox.plumb(&["run", "--resume"]);
    assert!(second.status == Some(1) && second.err.contains("in progress"), "{second:?}");
    thread::sleep(Duration::from_millis(150));
    run.kill().expect("SIGKILL can be sent");
    run.wait().expect("it was started");
    before.are_gone_within(PATIENCE);
    let there = kept(&sandbox);
    assert!((2..16).contains(&there), "{there} trials are stored");
    let resumed = sandbox.succeed(&["run", "--resume"]);
    assert!(resumed.err.contains("[16/16]"), "{}", resumed.err);
    assert!(!resumed.err.contains("[1/16]"), "finished trials are not repeated: {}", resumed.err);
    assert_eq!(kept(&sandbox), 16);
    assert_eq!(sandbox.findings("latest")["run"]["state"], "complete");
    let again = sandbox.plumb(&["run", "--resume"]);
    assert_eq!(again.status, Some(64), "there is nothing left to resume: {again:?}");
}

pub(crate) fn ctrl_c_removes_the_lab() {
    let sandbox = sandbox();
    let before = Leftovers::of(&sandbox);
    for name in ["INT", "TERM"] {
        let file = sandbox.file("long.toml", &wire(50, "400ms"));
        let mut run = sandbox.start(&["run", &file]);
        assert!(wait_until(PATIENCE, || kept(&sandbox) >= 1), "no trial was stored");
        signal(run.id(), name);
        let status = run.wait().expect("it was started");
        assert_eq!(status.code(), Some(130), "{name}");
        before.are_gone_within(PATIENCE);
        assert!(kept(&sandbox) >= 1);
        let _ = sandbox.succeed(&["runs", "remove", "latest"]);
    }
}

pub(crate) fn agent_killed_is_named() {
    let sandbox = sandbox();
    let before = Leftovers::of(&sandbox);
    let file = sandbox.file("long.toml", &wire(50, "400ms"));
    let run = sandbox
        .command(&["run", &file])
        .stderr(std::process::Stdio::piped())
        .spawn()
        .expect("plumb was built");
    assert!(wait_until(PATIENCE, || kept(&sandbox) >= 1), "no trial was stored");
    let ours: Vec<u32> = Leftovers::of(&sandbox).processes.difference(&before.processes).copied().collect();
    let agent = ours.iter().copied().find(|pid| is_agent(*pid)).expect("an agent runs");
    signal(agent, "KILL");
    let output = run.wait_with_output().expect("it was started");
    let printed = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(1), "{printed}");
    assert!(printed.contains("the agent of host") && printed.contains("--resume"), "{printed}");
    before.are_gone_within(PATIENCE);
}

fn is_agent(pid: u32) -> bool {
    fs::read(format!("/proc/{pid}/cmdline")).is_ok_and(|line| line.ends_with(b"\0agent\0"))
}

pub(crate) fn killed_holder() {
    let sandbox = sandbox();
    let before = Leftovers::of(&sandbox);
    let up = sandbox.succeed(&["lab", "up", "quick"]).out;
    let holder = up
        .split("process ")
        .nth(1)
        .and_then(|rest| rest.split(')').next()?.parse().ok())
        .expect("it is named");
    signal(holder, "KILL");
    before.are_gone_within(PATIENCE);
    assert!(wait_until(PATIENCE, || sandbox.succeed(&["lab", "list"]).out.contains("gone")));
    assert!(sandbox.succeed(&["lab", "gc"]).out.contains("cleaned up lab quick"));
    assert!(sandbox.succeed(&["lab", "list"]).out.contains("no lab is up"));
}

pub(crate) fn full_disk() {
    let sandbox = sandbox();
    let file = sandbox.file("wire.toml", &wire(400, "20ms"));
    let disk = sandbox.home().join("disk");
    fs::create_dir(&disk).expect("the sandbox can be written");
    // The mount disappears with the shell's mount namespace.
    let script = format!(
        "mount -t tmpfs -o size=400k tmpfs {disk}; {plumb} run {file} --db {disk}/runs.db; status=$?; \
         {plumb} runs --db {disk}/runs.db; exit $status",
        disk = disk.display(),
        plumb = env!("CARGO_BIN_EXE_plumb"),
    );
    let mut command = Command::new("unshare");
    let output = command.args(["--mount", "sh", "-c", &script]).output().expect("unshare starts");
    let printed = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(1), "{printed}");
    assert!(printed.contains("no space left") && printed.contains("runs.db"), "{printed}");
    let reported = printed.lines().filter(|line| line.contains("/800]")).count();
    let list = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(
        reported > 5 && list.contains(&format!(" {reported}/800 ")),
        "{reported} trials were reported, stored are: {list}"
    );
}
