//! Carries an agent's input and output over a session.

use std::{
    io::{self, Read, Write},
    iter,
    sync::mpsc,
    thread,
    time::Duration,
};

use super::{Agent, GLANCE};
use crate::{
    stream::{Session, StreamReader, StreamWriter},
    window::CHUNK,
};

const GRACE: Duration = Duration::from_secs(3);

/// Returns when the agent exits, or when the grace period after the end of its input has passed. The returned output
/// stream is still open, because closing it sends the agent's last output.
pub(super) fn carry(
    agent: &mut dyn Agent,
    session: &Session,
    mut reader: StreamReader,
    mut writer: StreamWriter,
) -> Option<StreamWriter> {
    let (mut from_agent, mut to_agent) = agent.streams();
    let (ended, ends) = mpsc::channel();
    let output_ended = ended.clone();
    thread::spawn(move || {
        // Either the agent or the session has ended. The session knows the reason.
        let _ = pass(&mut from_agent, &mut writer);
        let _ = output_ended.send(Some(writer));
    });
    thread::spawn(move || {
        let _ = pass(&mut reader, &mut to_agent);
        drop(to_agent);
        let _ = ended.send(None);
    });
    // An agent that does not read its input is stopped with the session.
    let first = loop {
        match ends.recv_timeout(GLANCE) {
            Err(mpsc::RecvTimeoutError::Timeout) if session.end_reason().is_none() => {}
            first => break first.ok().flatten(),
        }
    };
    first.or_else(|| iter::from_fn(|| ends.recv_timeout(GRACE).ok()).flatten().next())
}

fn pass(from: &mut dyn Read, to: &mut dyn Write) -> io::Result<()> {
    let mut buffer = vec![0; CHUNK];
    loop {
        let read = match from.read(&mut buffer) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            read => read?,
        };
        if read == 0 {
            return Ok(());
        }
        to.write_all(&buffer[..read])?;
        to.flush()?;
    }
}
