//! Runs the command-line clients of container runtimes, of Open vSwitch and of nftables.

use std::{
    io::{self, ErrorKind, Read},
    os::{fd::OwnedFd, unix::net::UnixStream},
    process::{Command, Stdio},
    thread,
    time::{Duration, Instant},
};

use serde::de::DeserializeOwned;
use sys::netns::NetNs;

use super::AttachError;

/// A busy node responds within a few seconds, but a runtime with a hung daemon never responds.
const PATIENCE: Duration = Duration::from_secs(10);
const POLL: Duration = Duration::from_millis(5);
/// In bytes. A container's description is a few thousand bytes long, a list of pods a few hundred thousand.
const LONGEST_OUTPUT: usize = 16 << 20;

pub(super) enum Answer<T> {
    NotInstalled,
    Failed(String),
    Found(T),
}

pub(super) enum Printed {
    NotInstalled,
    Failed(String),
    Output(Vec<u8>),
}

pub(super) fn ask<T: DeserializeOwned>(program: &str, arguments: &[&str]) -> Result<Answer<T>, AttachError> {
    match run(program, arguments) {
        Printed::NotInstalled => Ok(Answer::NotInstalled),
        Printed::Failed(reason) => Ok(Answer::Failed(reason)),
        Printed::Output(printed) => serde_json::from_slice(&printed).map(Answer::Found).map_err(|error| {
            AttachError::Output { command: written(program, arguments), reason: error.to_string() }
        }),
    }
}

pub(super) fn run(program: &str, arguments: &[&str]) -> Printed {
    run_in(None, program, arguments)
}

pub(super) fn run_in(namespace: Option<&NetNs>, program: &str, arguments: &[&str]) -> Printed {
    output(Command::new(program).args(arguments), namespace, PATIENCE)
}

fn output(command: &mut Command, namespace: Option<&NetNs>, patience: Duration) -> Printed {
    let failed = |error: io::Error| Printed::Failed(error.to_string());
    let pipe = || -> io::Result<(UnixStream, Stdio)> {
        let (ours, theirs) = UnixStream::pair()?;
        ours.set_nonblocking(true)?;
        Ok((ours, OwnedFd::from(theirs).into()))
    };
    let ((out, stdout), (err, stderr)) = match (pipe(), pipe()) {
        (Ok(out), Ok(err)) => (out, err),
        (Err(error), _) | (_, Err(error)) => return failed(error),
    };
    command.stdin(Stdio::null()).stdout(stdout).stderr(stderr).env_remove(crate::STORE);
    let label = command.get_program().display().to_string();
    let mut child = match sys::child::spawn_in(command, namespace, &label) {
        Ok(child) => child,
        Err(error) if io::Error::from_raw_os_error(error.errno()).kind() == ErrorKind::NotFound => {
            return Printed::NotInstalled;
        }
        Err(error) => return Printed::Failed(error.to_string()),
    };
    let (mut printed, mut errors) = (Vec::new(), Vec::new());
    let begun = Instant::now();
    // Starts no threads, because only a single-threaded process can enter a user namespace.
    let end = loop {
        // Query the status before reading, so that no output is missed after the exit.
        let status = child.try_wait();
        let read = drain(&out, &mut printed).and_then(|()| drain(&err, &mut errors));
        match (status, read) {
            (Err(error), _) | (_, Err(error)) => break Err(error.to_string()),
            (Ok(Some(status)), Ok(())) => break Ok(status),
            (Ok(None), Ok(())) if begun.elapsed() > patience => {
                break Err(format!("no answer within {} s", patience.as_secs()));
            }
            (Ok(None), Ok(())) => thread::sleep(POLL),
        }
    };
    if end.is_err() {
        // Both fail only if the program has already exited.
        let _ = sys::child::kill_group(&child);
        let _ = child.wait();
    }
    match end {
        Ok(status) if status.success() => Printed::Output(printed),
        Ok(_) => Printed::Failed(String::from_utf8_lossy(&errors).trim().to_owned()),
        Err(reason) => Printed::Failed(reason),
    }
}

fn drain(stream: &UnixStream, into: &mut Vec<u8>) -> io::Result<()> {
    match stream.take((LONGEST_OUTPUT - into.len()) as u64).read_to_end(into) {
        Err(error) if error.kind() != ErrorKind::WouldBlock => Err(error),
        _ if into.len() == LONGEST_OUTPUT => Err(io::Error::other("it printed more than 16 MiB")),
        _ => Ok(()),
    }
}

pub(super) fn failed(program: &str, arguments: &[&str], reason: &str) -> AttachError {
    let any = |words: &[&str]| words.iter().any(|word| reason.contains(word));
    let advice = if any(&["permission denied", "Permission denied"]) {
        "run plumb as root, or as a user with access to the container runtime"
    } else if any(&[
        "Cannot connect",
        "connect: no such file",
        "connection refused",
        "DeadlineExceeded",
        "no answer within",
    ]) {
        "check that the container runtime is running"
    } else {
        "run this command yourself to find the cause"
    };
    AttachError::Runtime { command: written(program, arguments), reason: last_line(reason), advice }
}

pub(super) fn last_line(output: &str) -> String {
    output.lines().last().unwrap_or("it printed no reason").to_owned()
}

pub(super) fn lines(program: &str, arguments: &[&str]) -> Vec<String> {
    match run(program, arguments) {
        Printed::Output(printed) => String::from_utf8_lossy(&printed).lines().map(str::to_owned).collect(),
        Printed::NotInstalled | Printed::Failed(_) => Vec::new(),
    }
}

fn written(program: &str, arguments: &[&str]) -> String {
    format!("{program} {}", arguments.join(" "))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn outcome(script: &str, patience: Duration) -> Result<String, String> {
        match output(Command::new("sh").args(["-c", script]), None, patience) {
            Printed::Output(printed) => Ok(String::from_utf8_lossy(&printed).into_owned()),
            Printed::Failed(reason) => Err(reason),
            Printed::NotInstalled => panic!("sh is installed"),
        }
    }

    #[test]
    fn ends_runtime_that_hangs_or_prints_too_much() {
        assert_eq!(outcome("echo answer; echo note >&2", PATIENCE), Ok("answer\n".to_owned()));
        assert_eq!(outcome("echo answer; echo wrong >&2; exit 1", PATIENCE), Err("wrong".to_owned()));
        let begun = Instant::now();
        let reason = outcome("sleep 1000 & sleep 1000", Duration::from_secs(1)).expect_err("it hangs");
        assert_eq!(reason, "no answer within 1 s");
        let error = failed("docker", &["inspect"], &reason).to_string();
        assert!(error.contains("check that the container runtime is running"), "{error}");
        assert_eq!(outcome("cat /dev/zero", PATIENCE), Err("it printed more than 16 MiB".to_owned()));
        assert!(begun.elapsed() < PATIENCE, "{:?}", begun.elapsed());
        let absent = output(&mut Command::new("/nonexistent/docker"), None, PATIENCE);
        assert!(matches!(absent, Printed::NotInstalled));
    }
}
