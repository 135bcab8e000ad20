//! A program in one of the roles, watched from before its first call to its end.

use std::io::Write;
use std::process::{Child, Command, Stdio};

use probe::{Probe, ProbeError, Watch};
use protocol::Subject;
use samples::{CpuOwner, ProbeKind, ProbeResults, SyscallCount};

/// The probe; `None`, and a word why, where the machine has none.
pub(crate) fn probe_or_skip(test: &str) -> Option<Box<dyn Probe>> {
    match probe::probe(ProbeKind::Syscalls) {
        Ok(probe) => Some(probe),
        Err(ProbeError::Unavailable { because, .. }) => {
            println!("skipped: {test}: {because}");
            None
        }
        Err(error) => panic!("{error}"),
    }
}

/// A program that waits for [`go`] before it does what its role says.
pub(crate) fn waiting(role: &str, arguments: &[&str]) -> Child {
    command(role, arguments).spawn().expect("this very program")
}

/// The same, not yet started.
pub(crate) fn command(role: &str, arguments: &[&str]) -> Command {
    let mut command = Command::new(std::env::current_exe().expect("Linux"));
    command.arg(role).args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped());
    command
}

/// Lets a waiting program begin.
pub(crate) fn go(child: &mut Child) {
    child.stdin.as_mut().expect("piped").write_all(b"g").expect("it waits for this");
}

/// Lets it begin and end, and gives what it said.
pub(crate) fn finish(mut child: Child) -> String {
    go(&mut child);
    let output = child.wait_with_output().expect("own child");
    assert!(output.status.success(), "{output:?}");
    String::from_utf8(output.stdout).expect("it prints text")
}

/// Watches these processes as the client's.
pub(crate) fn pids(pids: &[u32]) -> Watch {
    subject(Subject { pids: pids.to_vec(), ..nobody() })
}

/// Watches this.
pub(crate) fn subject(subject: Subject) -> Watch {
    Watch { subjects: vec![subject], way: None }
}

/// A subject of the client to be filled in.
pub(crate) fn nobody() -> Subject {
    Subject::of(CpuOwner::Client, vec![], true)
}

/// What the probe has seen.
pub(crate) fn seen(probe: &mut dyn Probe) -> ProbeResults {
    let mut seen = ProbeResults::default();
    probe.read(&mut seen).expect("what it counted can be read");
    seen
}

/// Runs a role to its end under the probe.
pub(crate) fn observe(probe: &mut dyn Probe, role: &str, arguments: &[&str]) -> ProbeResults {
    let child = waiting(role, arguments);
    probe.start(&pids(&[child.id()])).expect("it could be loaded");
    finish(child);
    let seen = seen(probe);
    probe.stop();
    seen
}

/// The sum of a number over all counts of a call.
pub(crate) fn sum(seen: &ProbeResults, call: &str, of: impl Fn(&SyscallCount) -> u64) -> u64 {
    seen.syscalls.iter().filter(|count| count.call == call).map(of).sum()
}

/// How often a call was made.
pub(crate) fn calls(seen: &ProbeResults, call: &str) -> u64 {
    sum(seen, call, |count| count.calls)
}
