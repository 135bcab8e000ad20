//! A client of a monitor that somebody else set up, and that may have another client: everything is awaited for a bounded
//! time, and nothing of it is believed. Source: docs/interop/qmp-spec.txt of QEMU 7.2. Must not know what is asked.

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
/// Far longer than any line that QEMU says of itself.
const LONGEST: u64 = 4 << 20;
/// What every client has to say first.
const FIRST: &str = "qmp_capabilities";

/// A monitor could not be asked.
#[derive(Debug, Error)]
pub enum MonitorError {
    /// There is no such socket, or nobody listens at it, or it may not be used.
    #[error("cannot connect to the monitor {}: {source}", at.display())]
    Absent {
        /// Where it was looked for.
        at: PathBuf,
        /// Why.
        #[source]
        source: io::Error,
    },
    /// Nobody greeted.
    #[error(
        "the monitor {} does not greet within {} s: a monitor takes one client at a time, and this one has another, or it \
         is none of QMP",
        at.display(), PATIENCE.as_secs()
    )]
    Taken { at: PathBuf },
    /// Something else greeted.
    #[error("what listens at {} is no monitor of QMP", at.display())]
    Foreign { at: PathBuf },
    #[error("QEMU refuses `{command}`: {reason}")]
    Refused {
        /// What it was told.
        command: &'static str,
        /// Its own words.
        reason: String,
    },
    /// It ended meanwhile, or said nothing for long.
    #[error("the monitor does not answer `{command}`: {source}")]
    Silent {
        /// What it was asked.
        command: &'static str,
        /// Why.
        #[source]
        source: io::Error,
    },
}

/// A monitor whose only client this is.
#[derive(Debug)]
pub(super) struct Questions {
    to: UnixStream,
    from: BufReader<UnixStream>,
}

impl Questions {
    /// Connects, awaits the greeting and enters command mode; with QEMU's version.
    pub(super) fn open(at: &Path) -> Result<(Self, String), MonitorError> {
        let absent = |source| MonitorError::Absent { at: at.to_owned(), source };
        Self::greeted(UnixStream::connect(at).map_err(absent)?, at)
    }

    /// Awaits the greeting of who is at the other end, and enters command mode; with QEMU's version.
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

    /// The socket that it is spoken to by.
    pub(super) const fn socket(&self) -> &UnixStream {
        &self.to
    }

    /// The answer to a question; null where this QEMU refuses it, as it does what it does not know.
    pub(super) fn ask(&mut self, command: &'static str, arguments: &Value) -> Result<Value, MonitorError> {
        match self.order(command, arguments) {
            Err(MonitorError::Refused { .. }) => Ok(Value::Null),
            answered => answered,
        }
    }

    /// The answer to a command.
    pub(super) fn order(&mut self, command: &'static str, arguments: &Value) -> Result<Value, MonitorError> {
        let silent = |source| MonitorError::Silent { command, source };
        // Without what is not needed: QEMU reads it byte by byte, with two system calls each.
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
            // Anything else is an event that nobody awaits.
            if let Some(answer) = answer.get_mut("return") {
                return Ok(answer.take());
            }
        }
        Err(silent(io::Error::new(ErrorKind::TimedOut, "it says other things only")))
    }

    /// The next line, within its time as a whole: one that trickles in is none.
    fn next(&mut self) -> io::Result<Value> {
        let until = Instant::now() + PATIENCE;
        let mut line = Vec::new();
        while !line.ends_with(b"\n") {
            if line.len() as u64 >= LONGEST || Instant::now() > until {
                return Err(io::Error::new(ErrorKind::InvalidData, "its line does not end"));
            }
            let room = LONGEST - line.len() as u64;
            if self.from.by_ref().take(room).read_until(b'\n', &mut line)? == 0 {
                return Err(io::Error::new(ErrorKind::UnexpectedEof, "it has ended"));
            }
        }
        Ok(serde_json::from_slice(&line)?)
    }
}

/// Of `{"QMP": {"version": {"qemu": {"major": 7, ...}}}}`.
fn version(greeting: &Value) -> Option<String> {
    let version = &greeting["QMP"]["version"]["qemu"];
    let part = |name: &str| version[name].as_u64();
    Some(format!("{}.{}.{}", part("major")?, part("minor")?, part("micro")?))
}
