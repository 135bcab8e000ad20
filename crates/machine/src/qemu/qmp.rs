//! A client for QEMU's monitor protocol, with one JSON object per line. Sources: docs/interop/qmp-spec.txt
//! and qapi/run-state.json of QEMU 7.2.

use std::{
    io::{self, ErrorKind, Write},
    net::Shutdown,
    os::unix::net::UnixStream,
    sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel},
    time::{Duration, Instant},
};

use serde_json::{Value, json};
use thiserror::Error;

use crate::last_lines::LastLines;

const PATIENCE_AT_START: Duration = Duration::from_secs(20);
/// QEMU replies immediately unless it is stopped or gets no CPU time.
const PATIENCE: Duration = Duration::from_secs(5);
const PATIENCE_AT_END: Duration = Duration::from_millis(500);
/// The length of the reply queue. QEMU sends one reply per command. If the queue is full, replies are dropped.
const WAITING: usize = 16;
/// With 255 CPUs, a reply is about 60 kB long.
const MAX_LINE: u64 = 1 << 20;

/// Events of guests that have ended or halted.
const RELEVANT_EVENTS: [&str; 9] = [
    "SHUTDOWN",
    "RESET",
    "GUEST_PANICKED",
    "GUEST_CRASHLOADED",
    "STOP",
    "SUSPEND",
    "POWERDOWN",
    "WATCHDOG",
    "MEMORY_FAILURE",
];

const FIRST: &str = "qmp_capabilities";

#[derive(Debug, Error)]
pub enum QmpError {
    #[error("no reply from QEMU to `{command}`: {source}")]
    Silent {
        command: &'static str,
        #[source]
        source: io::Error,
    },
    #[error("QEMU refused `{command}`: {reason}")]
    Refused { command: &'static str, reason: String },
    #[error("unexpected reply from QEMU to `{command}`: {answer}")]
    Strange { command: &'static str, answer: String },
}

impl QmpError {
    pub(super) fn is_end(&self) -> bool {
        let Self::Silent { source, .. } = self else { return false };
        matches!(source.kind(), ErrorKind::UnexpectedEof | ErrorKind::BrokenPipe)
    }
}

#[derive(Debug)]
pub(super) struct Qmp {
    to: UnixStream,
    answers: Receiver<Value>,
    last_id: u64,
}

impl Qmp {
    pub(super) fn greet(socket: UnixStream, words: &LastLines) -> Result<Self, QmpError> {
        let silent = |source| QmpError::Silent { command: FIRST, source };
        socket.set_write_timeout(Some(PATIENCE)).map_err(silent)?;
        let (to_us, answers) = sync_channel(WAITING);
        let from = socket.try_clone().map_err(silent)?;
        words.keep_some(from, MAX_LINE, move |line| sort(line, &to_us));
        let mut qmp = Self { to: socket, answers, last_id: 0 };
        qmp.next(PATIENCE_AT_START).map_err(silent)?;
        qmp.ask(FIRST, PATIENCE_AT_START)?;
        Ok(qmp)
    }

    pub(super) fn vcpu_threads(&mut self) -> Result<Vec<u32>, QmpError> {
        const COMMAND: &str = "query-cpus-fast";
        let thread = |cpu: &Value| u32::try_from(cpu["thread-id"].as_u64()?).ok();
        let answer = self.ask(COMMAND, PATIENCE)?;
        let threads = answer.as_array().and_then(|cpus| cpus.iter().map(thread).collect());
        threads.ok_or_else(|| QmpError::Strange { command: COMMAND, answer: answer.to_string() })
    }

    pub(super) fn status(&mut self) -> Result<String, QmpError> {
        const COMMAND: &str = "query-status";
        let answer = self.ask(COMMAND, PATIENCE_AT_END)?;
        let status = answer["status"].as_str().map(str::to_owned);
        status.ok_or_else(|| QmpError::Strange { command: COMMAND, answer: answer.to_string() })
    }

    pub(super) fn quit(&mut self) {
        let _ = self.ask("quit", PATIENCE_AT_END);
    }

    fn ask(&mut self, command: &'static str, patience: Duration) -> Result<Value, QmpError> {
        let silent = |source| QmpError::Silent { command, source };
        self.last_id += 1;
        let order = json!({ "execute": command, "id": self.last_id });
        self.to.write_all(format!("{order}\n").as_bytes()).map_err(silent)?;
        let begun = Instant::now();
        loop {
            let mut answer = self.next(patience.saturating_sub(begun.elapsed())).map_err(silent)?;
            // A late reply to a command that has timed out.
            if answer.get("id").is_some_and(|id| *id != self.last_id) {
                continue;
            }
            if let Some(error) = answer.get("error") {
                let reason = error["desc"].as_str().unwrap_or_default().to_owned();
                return Err(QmpError::Refused { command, reason });
            }
            if let Some(answer) = answer.get_mut("return") {
                return Ok(answer.take());
            }
        }
    }

    fn next(&self, patience: Duration) -> io::Result<Value> {
        if patience.is_zero() {
            return Err(io::Error::new(ErrorKind::TimedOut, "QEMU sent only other messages"));
        }
        self.answers.recv_timeout(patience).map_err(|error| match error {
            RecvTimeoutError::Disconnected => {
                io::Error::new(ErrorKind::UnexpectedEof, "the connection was closed")
            }
            RecvTimeoutError::Timeout => {
                io::Error::new(ErrorKind::TimedOut, "QEMU is stopped or gets no CPU")
            }
        })
    }
}

impl Drop for Qmp {
    fn drop(&mut self) {
        // Also ends the reader, which has a duplicate of this socket. Fails only if the peer has already closed it.
        let _ = self.to.shutdown(Shutdown::Both);
    }
}

fn sort(line: &str, answers: &SyncSender<Value>) -> Option<String> {
    let message = serde_json::from_str(line).unwrap_or_else(|_| Value::String(line.to_owned()));
    let Some(event) = message.get("event").and_then(Value::as_str) else {
        // Fails if the receiver is gone or its queue is full.
        let _ = answers.try_send(message);
        return None;
    };
    let reason = ["reason", "action"].into_iter().find_map(|key| message["data"][key].as_str());
    let reason = reason.map(|reason| format!(" ({reason})")).unwrap_or_default();
    RELEVANT_EVENTS.contains(&event).then(|| format!("QEMU: {event}{reason}"))
}

#[cfg(test)]
mod tests;
