//! Serves a sockperf client over TCP. Each reply is sent from the buffer that received the message.

use std::{
    io::{self, Read, Write},
    net::TcpStream,
};

use codecs::sockperf::ServerStream;
use samples::ThreadRole;
use sys::clock::monotonic;
use traffic::{
    Error, Result, Stop,
    bounds::{Bounds, EndReason, Guard},
    socket::{TICK, is_wait, limit_waits, tcp_facts},
    workers::CpuMeter,
};
use workload::SocketFacts;

use super::SessionOutcome;

/// `first` contains the bytes already read. Fails if the client sends an invalid message.
pub(crate) fn serve_tcp(
    socket: &TcpStream,
    first: &[u8],
    bounds: Bounds,
    stop: &Stop,
) -> Result<SessionOutcome> {
    let name = socket.peer_addr().map_or_else(|_| "a client".into(), |peer| peer.to_string());
    let name = format!("the sockperf connection of {name}");
    socket.set_nonblocking(false).map_err(Error::socket("prepare", || name.clone()))?;
    limit_waits(socket, TICK)?;
    sys::socket::set_nodelay(socket, true)?;
    // Reads the addresses now, because a reset connection has no peer address.
    let addresses = tcp_facts(socket, None).addresses;
    let spent = CpuMeter::from_now();
    let mut stream = ServerStream::new();
    stream.space()[..first.len()].copy_from_slice(first);
    stream.filled(first.len());
    let guard = Guard::new(bounds, stop, monotonic());
    let mut session = Session { socket, stream, guard, name, closed_reading: false };
    let ended = session.serve()?;
    let thread = spent.until_now("server", ThreadRole::Pong);
    let facts = SocketFacts { addresses, ..tcp_facts(socket, None) };
    Ok(SessionOutcome::new(session.stream.counts(), ended, &session.guard, thread, facts))
}

struct Session<'a> {
    socket: &'a TcpStream,
    stream: ServerStream,
    guard: Guard<'a>,
    name: String,
    closed_reading: bool,
}

impl Session<'_> {
    fn serve(&mut self) -> Result<EndReason> {
        let mut ended = self.answer()?;
        while ended.is_none() {
            match { self.socket }.read(self.stream.space()) {
                Ok(0) => return Ok(EndReason::Left),
                Ok(length) => self.stream.filled(length),
                Err(error) if is_wait(&error) => {}
                Err(error) if is_gone(&error) => return Ok(EndReason::Left),
                Err(error) => return Err(Error::socket("receive on", || self.name.as_str())(error)),
            }
            ended = match self.answer()? {
                None => self.guard.look(self.stream.counts(), monotonic())?,
                ended => ended,
            };
        }
        Ok(ended.expect("the loop ends with a reason"))
    }

    #[inline]
    fn answer(&mut self) -> Result<Option<EndReason>> {
        let Self { socket, stream, guard, name, closed_reading } = self;
        loop {
            let counts = stream.counts();
            let Some(mut bytes) = stream.answers().map_err(|violation| {
                let source = io::Error::new(io::ErrorKind::InvalidData, violation);
                Error::socket("understand", || name.as_str())(source)
            })?
            else {
                return Ok(None);
            };
            while !bytes.is_empty() && !*closed_reading {
                match socket.write(bytes) {
                    Ok(written) => bytes = &bytes[written..],
                    Err(error) if is_wait(&error) => {}
                    Err(error) if is_gone(&error) => *closed_reading = true,
                    Err(error) => return Err(Error::socket("send on", || name.as_str())(error)),
                }
                // A client that sends without reading its replies counts as idle.
                if let (false, Some(ended)) = (bytes.is_empty(), guard.look(counts, monotonic())?) {
                    return Ok(Some(ended));
                }
            }
        }
    }
}

/// If a client closes its socket before reading all replies, the kernel resets the connection.
fn is_gone(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::ConnectionReset | io::ErrorKind::BrokenPipe)
}
