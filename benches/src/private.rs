//! A peer's process in private namespaces.
//!
//! A peer prints `ready` when it can start. A line on its standard input starts the work. The peer then prints
//! `made`, and finally `checked ...` with the result.

use std::{
    io::{BufRead, BufReader, Write},
    process::{Child, ChildStdin, Command, Stdio},
    sync::mpsc::{Receiver, RecvTimeoutError, channel},
    thread,
    time::{Duration, Instant},
};

use anyhow::{Context, bail};

/// The start of every peer's script.
const ENTER: &str = include_str!("private/enter.sh");

const PATIENCE: Duration = Duration::from_secs(60);

const FAREWELL: Duration = Duration::from_secs(1);
const GLANCE: Duration = Duration::from_millis(5);

const LAST_LINES: usize = 3;

pub(crate) struct Private {
    process: Child,
    orders: Option<ChildStdin>,
    lines: Receiver<String>,
}

impl Private {
    pub(crate) fn start(name: &str, script: &str, arguments: &[&str]) -> anyhow::Result<Self> {
        let mut command = Command::new("unshare");
        command.args(["--net", "--mount", "--pid", "--fork", "--kill-child", "--mount-proc", "sh", "-c"]);
        command.arg(format!("{ENTER}\n{script}")).arg(name).args(arguments);
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut process = sys::child::spawn_in(&mut command, None, name)?;
        let orders = process.stdin.take();
        let output = BufReader::new(process.stdout.take().expect("piped"));
        let (sender, lines) = channel();
        thread::spawn(move || output.lines().map_while(Result::ok).all(|line| sender.send(line).is_ok()));
        let mut this = Self { process, orders, lines };
        this.wait_for("ready")?;
        Ok(this)
    }

    pub(crate) fn work(&mut self) -> anyhow::Result<Duration> {
        let begin = Instant::now();
        let orders = self.orders.as_mut().context("piped")?;
        orders.write_all(b"go\n").context("start the work of the peer")?;
        self.wait_for("made")?;
        Ok(begin.elapsed())
    }

    pub(crate) fn checked(&mut self) -> anyhow::Result<String> {
        self.wait_for("checked")
    }

    fn wait_for(&mut self, word: &str) -> anyhow::Result<String> {
        let deadline = Instant::now() + PATIENCE;
        let mut output: Vec<String> = Vec::new();
        loop {
            match self.lines.recv_timeout(deadline.saturating_duration_since(Instant::now())) {
                Ok(line) if line.split(' ').next() == Some(word) => {
                    return Ok(line[word.len()..].trim().to_owned());
                }
                Ok(line) => output.push(line),
                Err(RecvTimeoutError::Timeout) => {
                    bail!("no `{word}` after {} s{}", PATIENCE.as_secs(), last(&output));
                }
                Err(RecvTimeoutError::Disconnected) => bail!("it exited before `{word}`{}", last(&output)),
            }
        }
    }
}

impl Drop for Private {
    /// When the first process ends, the kernel kills all others in its PID namespace and removes the namespaces.
    fn drop(&mut self) {
        // Lets the peer exit on its own, which charges its children's CPU time to the bench.
        drop(self.orders.take());
        let begin = Instant::now();
        while begin.elapsed() < FAREWELL && matches!(self.process.try_wait(), Ok(None)) {
            thread::sleep(GLANCE);
        }
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

fn last(output: &[String]) -> String {
    let lines = &output[output.len().saturating_sub(LAST_LINES)..];
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
    fn peers_namespaces_are_private_and_temporary() {
        let script = "echo ready; read -r go; ip netns add plumb-bench-test; echo made; \
            echo checked $(ip netns list | wc -l); read -r forever";
        let Some(peer) = start(script) else { return };
        let mut peer = peer.unwrap();
        assert!(peer.work().unwrap() > Duration::ZERO);
        assert_eq!(peer.checked().unwrap(), "1");
        assert!(!Path::new("/run/netns/plumb-bench-test").exists());
    }

    #[test]
    fn peer_cannot_change_settings_of_the_machine() {
        let script = "echo ready; read -r go; echo made; \
            (echo 1 >/proc/sys/vm/overcommit_memory) 2>/dev/null && echo checked yes || echo checked no";
        let Some(peer) = start(script) else { return };
        let mut peer = peer.unwrap();
        peer.work().unwrap();
        assert_eq!(peer.checked().unwrap(), "no");
    }

    #[test]
    fn missing_or_failing_peer_is_reported() {
        let cases = [("need ip no-such-command", "no-such-command"), ("ls /no-such-file", "/no-such-file")];
        for (script, reason) in cases {
            let Some(peer) = start(script) else { return };
            let error = peer.err().map(|error| error.to_string()).unwrap_or_default();
            assert!(error.contains("exited before `ready`") && error.contains(reason), "{error}");
        }
    }
}
