//! A QMP client for untrusted monitors, with limits on waits and on the length of replies
//! (docs/interop/qmp-spec.txt of QEMU 7.2).

use std::{
    io::{self, BufRead, BufReader, ErrorKind, Write},
    os::unix::net::UnixStream,
    path::{Path, PathBuf},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::{Duration, Instant},
};

use serde_json::{Value, json};
use thiserror::Error;

/// A monitor sends its greeting immediately unless it has another client.
const PATIENCE: Duration = Duration::from_secs(5);
const GLANCE: Duration = Duration::from_millis(200);
const MAX_LINE: usize = 4 << 20;
const FIRST: &str = "qmp_capabilities";

#[derive(Debug, Error)]
pub enum MonitorError {
    #[error("cannot connect to the monitor {}: {source}", at.display())]
    Absent {
        at: PathBuf,
        #[source]
        source: io::Error,
    },
    #[error(
        "the monitor {} did not send a greeting within {} s; it may not be a QMP monitor, or it may have another \
        client (a monitor accepts one client at a time)",
        at.display(), PATIENCE.as_secs()
    )]
    Taken { at: PathBuf },
    #[error("the socket {} is not a QMP monitor", at.display())]
    Foreign { at: PathBuf },
    #[error("QEMU refused `{command}`: {reason}")]
    Refused { command: &'static str, reason: String },
    #[error("no reply from the monitor to `{command}`: {source}")]
    Silent {
        command: &'static str,
        #[source]
        source: io::Error,
    },
    #[error("interrupted")]
    Interrupted,
}

#[derive(Debug)]
pub(super) struct Questions {
    to: UnixStream,
    from: BufReader<UnixStream>,
    stop: Arc<AtomicBool>,
}

impl Questions {
    pub(super) fn open(at: &Path, stop: &Arc<AtomicBool>) -> Result<(Self, String), MonitorError> {
        let absent = |source| MonitorError::Absent { at: at.to_owned(), source };
        Self::greeted(UnixStream::connect(at).map_err(absent)?, at, stop)
    }

    pub(super) fn greeted(
        socket: UnixStream,
        at: &Path,
        stop: &Arc<AtomicBool>,
    ) -> Result<(Self, String), MonitorError> {
        let absent = |source| MonitorError::Absent { at: at.to_owned(), source };
        let mut monitor = Self::on(socket, Arc::clone(stop)).map_err(absent)?;
        let greeting = monitor.next().map_err(|error| match error.kind() {
            ErrorKind::Interrupted => MonitorError::Interrupted,
            ErrorKind::TimedOut => MonitorError::Taken { at: at.to_owned() },
            _ => MonitorError::Foreign { at: at.to_owned() },
        })?;
        let version = version(&greeting).ok_or_else(|| MonitorError::Foreign { at: at.to_owned() })?;
        monitor.ask(FIRST, &json!({}))?;
        Ok((monitor, version))
    }

    fn on(socket: UnixStream, stop: Arc<AtomicBool>) -> io::Result<Self> {
        socket.set_read_timeout(Some(GLANCE))?;
        socket.set_write_timeout(Some(PATIENCE))?;
        Ok(Self { from: BufReader::new(socket.try_clone()?), to: socket, stop })
    }

    pub(super) const fn socket(&self) -> &UnixStream {
        &self.to
    }

    pub(super) fn ask(&mut self, command: &'static str, arguments: &Value) -> Result<Value, MonitorError> {
        match self.order(command, arguments) {
            Err(MonitorError::Refused { .. }) => Ok(Value::Null),
            answered => answered,
        }
    }

    pub(super) fn order(&mut self, command: &'static str, arguments: &Value) -> Result<Value, MonitorError> {
        let silent = |source: io::Error| match source.kind() {
            ErrorKind::Interrupted => MonitorError::Interrupted,
            _ => MonitorError::Silent { command, source },
        };
        // Empty arguments are omitted: QEMU reads byte by byte, with two system calls for each byte.
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
            if let Some(answer) = answer.get_mut("return") {
                return Ok(answer.take());
            }
        }
        Err(silent(io::Error::new(ErrorKind::TimedOut, "only events arrived")))
    }

    fn next(&mut self) -> io::Result<Value> {
        let until = Instant::now() + PATIENCE;
        let mut line = Vec::new();
        while !line.ends_with(b"\n") {
            if self.stop.load(Ordering::Relaxed) {
                return Err(ErrorKind::Interrupted.into());
            }
            let is_late = Instant::now() > until;
            if line.len() >= MAX_LINE || is_late && !line.is_empty() {
                return Err(io::Error::new(ErrorKind::InvalidData, "the line is too long or too slow"));
            }
            if is_late {
                return Err(ErrorKind::TimedOut.into());
            }
            // `read_until` would not check the limits while bytes arrive one at a time.
            match self.from.fill_buf() {
                Ok([]) => return Err(io::Error::new(ErrorKind::UnexpectedEof, "the connection was closed")),
                Ok(bytes) => {
                    let end = bytes.iter().position(|byte| *byte == b'\n');
                    let count = end.map_or(bytes.len(), |end| end + 1);
                    line.extend_from_slice(&bytes[..count]);
                    self.from.consume(count);
                }
                Err(error) if error.kind() == ErrorKind::WouldBlock => {}
                Err(error) => return Err(error),
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
