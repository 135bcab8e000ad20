//! A program in one of the roles, observed from before its first call until it ends.

use std::io::Write;
use std::process::{Child, Command, Stdio};

use probe::{Probe, ProbeError, Watch};
use protocol::Subject;
use samples::{CpuConsumer, ProbeKind, ProbeResults, SyscallCount};

pub(crate) fn probe_or_skip(test: &str) -> Option<Box<dyn Probe>> {
    match probe::probe(ProbeKind::Syscalls) {
        Ok(probe) => Some(probe),
        Err(ProbeError::Unavailable { reason, .. }) => {
            println!("skipped: {test}: {reason}");
            None
        }
        Err(error) => panic!("{error}"),
    }
}

pub(crate) fn waiting(role: &str, arguments: &[&str]) -> Child {
    command(role, arguments).spawn().expect("own executable")
}

pub(crate) fn command(role: &str, arguments: &[&str]) -> Command {
    let mut command = Command::new(std::env::current_exe().expect("Linux"));
    command.arg(role).args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped());
    command
}

pub(crate) fn go(child: &mut Child) {
    child.stdin.as_mut().expect("piped").write_all(b"g").expect("waiting for input");
}

pub(crate) fn finish(mut child: Child) -> String {
    go(&mut child);
    let output = child.wait_with_output().expect("own child");
    assert!(output.status.success(), "{output:?}");
    String::from_utf8(output.stdout).expect("prints text")
}

pub(crate) fn pids(pids: &[u32]) -> Watch {
    subject(Subject { pids: pids.to_vec(), ..no_process() })
}

pub(crate) fn subject(subject: Subject) -> Watch {
    Watch { subjects: vec![subject], latency_breakdown: None }
}

pub(crate) fn no_process() -> Subject {
    Subject::of(CpuConsumer::Client, vec![], true)
}

pub(crate) fn seen(probe: &mut dyn Probe) -> ProbeResults {
    let mut seen = ProbeResults::default();
    probe.read(&mut seen).expect("readable results");
    seen
}

pub(crate) fn observe(probe: &mut dyn Probe, role: &str, arguments: &[&str]) -> ProbeResults {
    let child = waiting(role, arguments);
    probe.start(&pids(&[child.id()])).expect("loaded");
    finish(child);
    let seen = seen(probe);
    probe.stop();
    seen
}

pub(crate) fn sum(seen: &ProbeResults, call: &str, of: impl Fn(&SyscallCount) -> u64) -> u64 {
    seen.syscalls.iter().filter(|count| count.call == call).map(of).sum()
}

pub(crate) fn calls(seen: &ProbeResults, call: &str) -> u64 {
    sum(seen, call, |count| count.calls)
}
