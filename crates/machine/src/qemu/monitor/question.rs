//! A QMP client for untrusted monitors, which may have another client: all waits are bounded and all replies are
//! checked. Source: docs/interop/qmp-spec.txt of QEMU 7.2.

use std::{
    io::{self, BufRead, BufReader, ErrorKind, Read, Write},
    os::unix::net::UnixStream,
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

use serde_json::{Value, json};
use thiserror::Error;

/// A monitor greets at once, unless it has another client.
const PATIENCE: Duration = Duration::from_secs(5);
/// Line length limit, far above QEMU's longest replies.
const MAX_LINE: u64 = 4 << 20;
/// Must be each client's first command.
const FIRST: &str = "qmp_capabilities";

/// A monitor could not be queried.
#[derive(Debug, Error)]
pub enum MonitorError {
    /// There is no socket, nothing listens, or access is denied.
    #[error("cannot connect to the monitor {}: {source}", at.display())]
    Absent {
        at: PathBuf,
        #[source]
        source: io::Error,
    },
    /// No greeting.
    #[error(
        "the monitor {} does not greet within {} s; it may have another client, since a monitor accepts one client at a time, or it \
         is not a QMP monitor",
        at.display(), PATIENCE.as_secs()
    )]
    Taken { at: PathBuf },
    /// Not a QMP greeting.
    #[error("the socket {} is not a QMP monitor", at.display())]
    Foreign { at: PathBuf },
    #[error("QEMU refused `{command}`: {reason}")]
    Refused {
        command: &'static str,
        /// QEMU's error message.
        reason: String,
    },
    /// The connection closed, or no reply arrived in time.
    #[error("no reply from the monitor to `{command}`: {source}")]
    Silent {
        command: &'static str,
        #[source]
        source: io::Error,
    },
}

/// A connection in command mode.
#[derive(Debug)]
pub(super) struct Questions {
    to: UnixStream,
    from: BufReader<UnixStream>,
}

impl Questions {
    /// Connects, waits for the greeting and enters command mode. Also returns QEMU's version.
    pub(super) fn open(at: &Path) -> Result<(Self, String), MonitorError> {
        let absent = |source| MonitorError::Absent { at: at.to_owned(), source };
        Self::greeted(UnixStream::connect(at).map_err(absent)?, at)
    }

    /// Waits for the greeting and enters command mode. Also returns QEMU's version.
    pub(super) fn greeted(socket: UnixStream, at: &Path) -> Result<(Self, String), MonitorError> {
        let absent = |source| MonitorError::Absent { at: at.to_owned(), source };
        let mut monitor = Self::on(socket).map_err(absent)?;
        let greeting = monitor.next().map_err(|error| match error.kind() {
            ErrorKind::WouldBlock | ErrorKind::TimedOut => MonitorError::Taken { at: at.to_owned() },
            _ => MonitorError::Foreign { at: at.to_owned() },
        })?;
        let version = version(&greeting).ok_or_else(|| MonitorError::Foreign { at: at.to_owned() })?;
        monitor.ask(FIRST, &json!({}))?;
        Ok((monitor, version))
    }

    fn on(socket: UnixStream) -> io::Result<Self> {
        socket.set_read_timeout(Some(PATIENCE))?;
        socket.set_write_timeout(Some(PATIENCE))?;
        Ok(Self { from: BufReader::new(socket.try_clone()?), to: socket })
    }

    pub(super) const fn socket(&self) -> &UnixStream {
        &self.to
    }

    /// Executes a query. Returns null if QEMU refuses it, e.g. because it does not support it.
    pub(super) fn ask(&mut self, command: &'static str, arguments: &Value) -> Result<Value, MonitorError> {
        match self.order(command, arguments) {
            Err(MonitorError::Refused { .. }) => Ok(Value::Null),
            answered => answered,
        }
    }

    /// Executes a command.
    pub(super) fn order(&mut self, command: &'static str, arguments: &Value) -> Result<Value, MonitorError> {
        let silent = |source| MonitorError::Silent { command, source };
        // Omit empty arguments: QEMU reads byte by byte, with two system calls each.
        let order = match arguments.as_object() {
            Some(none) if none.is_empty() => json!({ "execute": command }),
            _ => json!({ "execute": command, "arguments": arguments }),
        };
        self.to.write_all(format!("{order}\n").as_bytes()).map_err(silent)?;
        let until = Instant::now() + PATIENCE;
        while Instant::now() < until {
            let mut answer = self.next().map_err(silent)?;
            if let Some(error) = answer.get("error") {
                let reason = error["desc"].as_str().unwrap_or_default().to_owned();
                return Err(MonitorError::Refused { command, reason });
            }
            // Ignore events.
            if let Some(answer) = answer.get_mut("return") {
                return Ok(answer.take());
            }
        }
        Err(silent(io::Error::new(ErrorKind::TimedOut, "only events arrived")))
    }

    /// Reads the next line within the timeout, even if it arrives slowly.
    fn next(&mut self) -> io::Result<Value> {
        let until = Instant::now() + PATIENCE;
        let mut line = Vec::new();
        while !line.ends_with(b"\n") {
            if line.len() as u64 >= MAX_LINE || Instant::now() > until {
                return Err(io::Error::new(ErrorKind::InvalidData, "the line is too long or too slow"));
            }
            let room = MAX_LINE - line.len() as u64;
            if self.from.by_ref().take(room).read_until(b'\n', &mut line)? == 0 {
                return Err(io::Error::new(ErrorKind::UnexpectedEof, "the connection was closed"));
            }
        }
        Ok(serde_json::from_slice(&line)?)
    }
}

/// Parses `{"QMP": {"version": {"qemu": {"major": 7, ...}}}}`.
fn version(greeting: &Value) -> Option<String> {
    let version = &greeting["QMP"]["version"]["qemu"];
    let part = |name: &str| version[name].as_u64();
    Some(format!("{}.{}.{}", part("major")?, part("minor")?, part("micro")?))
}
