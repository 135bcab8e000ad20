//! Tests that importing logs of several days stays within a memory limit.

use std::{fmt::Write, process::Command};

use crate::sandbox;

/// The log has more seconds than the number of samples stored per test, so that memory use reaches its peak.
const SECONDS: u32 = 60_000;

/// The data limit in KiB (RLIMIT_DATA, setrlimit(2)). It excludes the program text, of which less than 20 MB is
/// resident, so the total stays below 100 MB.
const MOST: u32 = 80_000_000 / 1024;

pub(crate) fn memory_is_bounded() {
    let sandbox = sandbox();
    let server =
        sandbox.file("server.txt", &log("Accepted connection from 198.18.0.1, port 39999", SERVER, ""));
    let client = sandbox
        .file("client.txt", &log("Connecting to host 198.18.0.2, port 5201", CLIENT, "    0   3.11 MBytes"));
    let plumb = sandbox.command(&["import", "--sources", &server, &client]);
    let mut command = Command::new("sh");
    command.arg("-c").arg(format!("ulimit -d {MOST} && exec \"$@\"")).arg("sh").arg(plumb.get_program());
    command.args(plumb.get_args());
    command.envs(plumb.get_envs().filter_map(|(name, value)| Some((name, value?))));
    let output = command.output().expect("there is a shell");
    let reported = String::from_utf8_lossy(&output.stdout).into_owned();
    let error = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{reported}{error}");
    assert!(
        reported.contains("both ends") && reported.contains("imported 1 trial in 1 result;"),
        "{reported}"
    );
    assert!(error.contains("intervals were merged"), "{error}");
}

const CLIENT: &str = "[  5] local 198.18.0.1 port 40000 connected to 198.18.0.2 port 5201";
const SERVER: &str = "[  5] local 198.18.0.2 port 5201 connected to 198.18.0.1 port 40000";

fn log(first: &str, connection: &str, columns: &str) -> String {
    let heads = if columns.is_empty() { "" } else { "         Retr  Cwnd" };
    let mut text = format!("{first}\n{connection}\n[ ID] Interval           Transfer     Bitrate{heads}\n");
    for second in 0..SECONDS {
        let (start, end) = (f64::from(second), f64::from(second + 1));
        writeln!(text, "[  5] {start:6.2}-{end:<6.2} sec  1.10 GBytes  9.45 Gbits/sec{columns}")
            .expect("memory");
    }
    text
}
