//! A peer's process in a world of its own: network, mounts and processes that no one else sees, and that go
//! with it however it ends.
//!
//! A peer speaks in lines: `ready` when it could begin, `made` when it has done the work that it is told to do
//! by a line on its standard input, and `checked ...` with what there is to see of it. Other lines are only
//! kept for errors. This must not know what the work is.

use std::{
    io::{BufRead, BufReader, Write},
    process::{Child, ChildStdin, Command, Stdio},
    sync::mpsc::{Receiver, RecvTimeoutError, channel},
    thread,
    time::{Duration, Instant},
};

use anyhow::{Context, bail};

/// Runs before a peer's script: gives it its own /run for the names of namespaces, takes the settings of
/// the machine out of its reach, and says what is not installed.
const ENTER: &str = include_str!("private/enter.sh");

/// The slowest peer needs a few seconds.
const PATIENCE: Duration = Duration::from_secs(60);

/// How long one may take to end once there are no more orders, and how often that is looked for.
const FAREWELL: Duration = Duration::from_secs(1);
const GLANCE: Duration = Duration::from_millis(5);

/// How much of what a peer said is worth reading in an error.
const LAST_LINES: usize = 3;

/// A peer's process that is ready to work.
pub(crate) struct Private {
    process: Child,
    /// `None` once there will be no more.
    orders: Option<ChildStdin>,
    lines: Receiver<String>,
}

impl Private {
    /// Starts the shell script `script`, with `arguments` as `$1` and so on, and waits until it is ready.
    pub(crate) fn start(name: &str, script: &str, arguments: &[&str]) -> anyhow::Result<Self> {
        let mut command = Command::new("unshare");
        command.args(["--net", "--mount", "--pid", "--fork", "--kill-child", "--mount-proc", "sh", "-c"]);
        command.arg(format!("{ENTER}\n{script}")).arg(name).args(arguments);
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut process = sys::child::spawn_in(&mut command, None, name)?;
        let orders = process.stdin.take();
        let output = BufReader::new(process.stdout.take().expect("it is a pipe"));
        let (sender, lines) = channel();
        thread::spawn(move || output.lines().map_while(Result::ok).all(|line| sender.send(line).is_ok()));
        let mut this = Self { process, orders, lines };
        this.wait_for("ready")?;
        Ok(this)
    }

    /// Has it work; the time is from the order to the answer.
    pub(crate) fn work(&mut self) -> anyhow::Result<Duration> {
        let begin = Instant::now();
        let orders = self.orders.as_mut().context("it is a pipe")?;
        orders.write_all(b"go\n").context("order the peer to work")?;
        self.wait_for("made")?;
        Ok(begin.elapsed())
    }

    /// What there is to see of its work.
    pub(crate) fn checked(&mut self) -> anyhow::Result<String> {
        self.wait_for("checked")
    }

    /// The rest of the line that begins with `word`.
    fn wait_for(&mut self, word: &str) -> anyhow::Result<String> {
        let deadline = Instant::now() + PATIENCE;
        let mut said: Vec<String> = Vec::new();
        loop {
            match self.lines.recv_timeout(deadline.saturating_duration_since(Instant::now())) {
                Ok(line) if line.split(' ').next() == Some(word) => {
                    return Ok(line[word.len()..].trim().to_owned());
                }
                Ok(line) => said.push(line),
                Err(RecvTimeoutError::Timeout) => {
                    bail!("it was not `{word}` after {} s{}", PATIENCE.as_secs(), last(&said));
                }
                Err(RecvTimeoutError::Disconnected) => bail!("it ended before `{word}`{}", last(&said)),
            }
        }
    }
}

impl Drop for Private {
    /// The first process takes all others of its world with it, and with the last of them go its namespaces.
    fn drop(&mut self) {
        // One that ends by itself has reaped its own: what they used is then known to be the bench's.
        drop(self.orders.take());
        let begin = Instant::now();
        while begin.elapsed() < FAREWELL && matches!(self.process.try_wait(), Ok(None)) {
            thread::sleep(GLANCE);
        }
        // Both fail only when it is gone.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

fn last(said: &[String]) -> String {
    let lines = &said[said.len().saturating_sub(LAST_LINES)..];
    if lines.is_empty() { String::new() } else { format!(": {}", lines.join("; ")) }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    fn start(script: &str) -> Option<anyhow::Result<Private>> {
        sys::userns::has_net_admin().then(|| Private::start("test", script, &[]))
    }

    #[test]
    fn what_a_peer_makes_is_seen_by_no_one_else_and_goes_with_it() {
        let script = "echo ready; read -r go; ip netns add plumb-bench-test; echo made; \
            echo checked $(ip netns list | wc -l); read -r forever";
        let Some(peer) = start(script) else { return };
        let mut peer = peer.unwrap();
        assert!(peer.work().unwrap() > Duration::ZERO);
        assert_eq!(peer.checked().unwrap(), "1");
        assert!(!Path::new("/run/netns/plumb-bench-test").exists());
    }

    #[test]
    fn a_peer_cannot_change_the_settings_of_the_machine() {
        let script = "echo ready; read -r go; echo made; \
            (echo 1 >/proc/sys/vm/overcommit_memory) 2>/dev/null && echo checked yes || echo checked no";
        let Some(peer) = start(script) else { return };
        let mut peer = peer.unwrap();
        peer.work().unwrap();
        assert_eq!(peer.checked().unwrap(), "no");
    }

    #[test]
    fn a_peer_that_is_not_installed_or_fails_says_so() {
        let cases = [("need ip no-such-command", "no-such-command"), ("ls /no-such-file", "/no-such-file")];
        for (script, reason) in cases {
            let Some(peer) = start(script) else { return };
            let error = peer.err().map(|error| error.to_string()).unwrap_or_default();
            assert!(error.contains("ended before `ready`") && error.contains(reason), "{error}");
        }
    }
}
