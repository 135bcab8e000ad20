//! QEMU's monitor protocol: one JSON object a line. Source: docs/interop/qmp-spec.txt of QEMU 7.2.

use std::{
    io::{self, BufRead, BufReader, Write},
    os::unix::net::UnixStream,
    time::Duration,
};

use serde_json::{Value, json};
use thiserror::Error;

/// QEMU answers at once; on a busy machine its start takes a while.
const PATIENCE: Duration = Duration::from_secs(20);

/// A conversation with QEMU failed.
#[derive(Debug, Error)]
pub enum QmpError {
    /// It ended, or said nothing for long.
    #[error("QEMU does not answer `{command}`: {source}")]
    Silent {
        /// What it was asked.
        command: &'static str,
        /// Why.
        #[source]
        source: io::Error,
    },
    /// It refused.
    #[error("QEMU refuses `{command}`: {reason}")]
    Refused {
        /// What it was asked.
        command: &'static str,
        /// Its own words.
        reason: String,
    },
}

/// A monitor that takes commands.
#[derive(Debug)]
pub(super) struct Qmp {
    to: UnixStream,
    from: BufReader<UnixStream>,
}

impl Qmp {
    /// Awaits the greeting and enters command mode.
    pub(super) fn greet(socket: UnixStream) -> Result<Self, QmpError> {
        const COMMAND: &str = "qmp_capabilities";
        let silent = |source| QmpError::Silent { command: COMMAND, source };
        socket.set_read_timeout(Some(PATIENCE)).map_err(silent)?;
        let from = BufReader::new(socket.try_clone().map_err(silent)?);
        let mut qmp = Self { to: socket, from };
        qmp.next().map_err(silent)?;
        qmp.execute(COMMAND)?;
        Ok(qmp)
    }

    /// Asks QEMU to end; that it is gone already is as good.
    pub(super) fn quit(&mut self) {
        let _ = self.execute("quit");
    }

    /// Has a command without arguments carried out; its answer.
    fn execute(&mut self, command: &'static str) -> Result<Value, QmpError> {
        let silent = |source| QmpError::Silent { command, source };
        self.to.write_all(format!("{}\n", json!({ "execute": command })).as_bytes()).map_err(silent)?;
        loop {
            let mut answer = self.next().map_err(silent)?;
            if let Some(error) = answer.get("error") {
                let reason = error["desc"].as_str().unwrap_or_default().to_owned();
                return Err(QmpError::Refused { command, reason });
            }
            // Anything else is an event that nobody awaits.
            if let Some(answer) = answer.get_mut("return") {
                return Ok(answer.take());
            }
        }
    }

    fn next(&mut self) -> io::Result<Value> {
        let mut line = String::new();
        if self.from.read_line(&mut line)? == 0 {
            return Err(io::Error::new(io::ErrorKind::UnexpectedEof, "it has ended"));
        }
        Ok(serde_json::from_str(&line)?)
    }
}
