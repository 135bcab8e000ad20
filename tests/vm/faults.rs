//! Tests runs with failing guests: the error, the cleanup, and the stored trials.

use std::{
    io::{BufRead, BufReader, Read},
    process::{Child, ChildStderr, Command, Stdio},
};

use plumb_tests::{Leftovers, PATIENCE, Sandbox, signal, trials, wait_until};

use crate::{
    measured::{scenario, streams},
    remains::{Remains, monitor, processes},
    sandbox,
};

const PLANNED: u32 = 40;

struct Run {
    sandbox: Sandbox,
    before: (Leftovers, Remains),
    controller: Child,
    lines: BufReader<ChildStderr>,
    printed: String,
}

impl Run {
    fn in_its_trials() -> Self {
        let sandbox = sandbox();
        let before = (Leftovers::of(&sandbox), Remains::now());
        let file = sandbox.file("run.toml", &scenario("", &streams(1, "500ms", PLANNED)));
        let mut command = sandbox.command(&["run", &file, "--probe", "none"]);
        let mut controller =
            command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().expect("plumb was built");
        let lines = BufReader::new(controller.stderr.take().expect("stderr is piped"));
        let mut run = Self { sandbox, before, controller, lines, printed: String::new() };
        run.read_until("[2/");
        run
    }

    fn read_until(&mut self, mark: &str) {
        let mut line = String::new();
        while !line.contains(mark) {
            line.clear();
            assert!(self.lines.read_line(&mut line).expect("text") > 0, "no {mark}: {}", self.printed);
            self.printed.push_str(&line);
        }
    }

    fn monitor(&self) -> u32 {
        monitor(&self.sandbox).expect("the guest is running its trials")
    }

    fn fails_with(mut self, expected: &[&str]) {
        self.lines.read_to_string(&mut self.printed).expect("text");
        let printed = &self.printed;
        assert_eq!(self.controller.wait().expect("it was started").code(), Some(1), "{printed}");
        for expected in expected.iter().chain(&["--resume"]) {
            assert!(printed.contains(expected), "`{expected}` is missing in {printed}");
        }
        self.leaves_its_trials();
    }

    fn leaves_its_trials(self) {
        let left = || processes(&self.sandbox);
        assert!(wait_until(PATIENCE, || left().is_empty()), "{:?}", left());
        let (processes_and_devices, files) = self.before;
        processes_and_devices.are_gone_within(PATIENCE);
        let kept = trials(&self.sandbox.record()).len();
        assert!((1..PLANNED as usize).contains(&kept), "{kept} trials were stored: {}", self.printed);
        files.has_only_gained(&self.sandbox, &["run.toml", "runs.db"]);
    }
}

pub(crate) fn guest_killed() {
    let run = Run::in_its_trials();
    signal(run.monitor(), "KILL");
    run.fails_with(&["lost the agent of host vm0", "QEMU was killed by signal 9"]);
}

pub(crate) fn guest_stopped() {
    let run = Run::in_its_trials();
    signal(run.monitor(), "STOP");
    run.fails_with(&["no reply from QEMU to `query-status`: QEMU is stopped or gets no CPU"]);
}

pub(crate) fn controller_killed() {
    let mut run = Run::in_its_trials();
    run.controller.kill().expect("SIGKILL can be sent");
    run.controller.wait().expect("it was started");
    run.leaves_its_trials();
}

pub(crate) fn tap_removed() {
    let run = Run::in_its_trials();
    let removed = processes(&run.sandbox).into_iter().any(|pid| {
        let namespace = format!("--net=/proc/{pid}/ns/net");
        let mut command = Command::new("nsenter");
        command.args([&namespace, "ip", "link", "delete", "vm0"]).stderr(Stdio::null());
        command.status().is_ok_and(|status| status.success())
    });
    assert!(removed, "no process is in the namespace of the host with the tap device");
    run.fails_with(&["`vm0`"]);
}
