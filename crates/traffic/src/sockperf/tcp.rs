//! Serving a sockperf client over TCP: its messages come back in the place where they were received.

use std::{
    io::{self, Read, Write},
    net::TcpStream,
};

use samples::ThreadRole;
use sys::clock::monotonic;
use wire::sockperf::ServerStream;

use super::{
    Served,
    bounds::{Bounds, Ended, Guard},
};
use crate::{
    crew::Spent,
    error::{Error, Result},
    socket::{TICK, is_wait, limit_waits, tcp_facts},
    stop::Stop,
};

/// Serves the client of a connection until it ends; `first` is what was read from it before.
///
/// # Errors
/// When the connection fails, the client says what is no message, or a stop is asked for.
pub(crate) fn serve_tcp(socket: &TcpStream, first: &[u8], bounds: Bounds, stop: &Stop) -> Result<Served> {
    let name = socket.peer_addr().map_or_else(|_| "a client".into(), |peer| peer.to_string());
    let name = format!("the sockperf connection of {name}");
    socket.set_nonblocking(false).map_err(Error::socket("prepare", || name.clone()))?;
    limit_waits(socket, TICK)?;
    sys::socket::set_nodelay(socket, true)?;
    let spent = Spent::from_now();
    let mut stream = ServerStream::new();
    stream.space()[..first.len()].copy_from_slice(first);
    stream.filled(first.len());
    let mut guard = Guard::new(bounds, stop, monotonic());
    let ended = serve(socket, &mut stream, &mut guard, &name)?;
    let thread = spent.until_now("server", ThreadRole::Pong);
    Ok(Served::new(stream.counts(), ended, &guard, thread, tcp_facts(socket, None)))
}

fn serve(
    mut socket: &TcpStream,
    stream: &mut ServerStream,
    guard: &mut Guard<'_>,
    name: &str,
) -> Result<Ended> {
    let mut ended = answer(socket, stream, guard, name)?;
    while ended.is_none() {
        match socket.read(stream.space()) {
            Ok(0) => return Ok(Ended::Left),
            Ok(length) => stream.filled(length),
            Err(error) if is_wait(&error) => {}
            Err(error) if is_gone(&error) => return Ok(Ended::Left),
            Err(error) => return Err(Error::socket("receive on", || name)(error)),
        }
        ended = match answer(socket, stream, guard, name)? {
            None => guard.look(stream.counts(), monotonic())?,
            ended => ended,
        };
    }
    Ok(ended.expect("the loop goes on until it is"))
}

/// Sends the answers to all that has come.
#[inline]
fn answer(
    socket: &TcpStream,
    stream: &mut ServerStream,
    guard: &mut Guard<'_>,
    name: &str,
) -> Result<Option<Ended>> {
    loop {
        let counts = stream.counts();
        let answers = stream.answers().map_err(|violation| {
            Error::socket("understand", || name)(io::Error::new(io::ErrorKind::InvalidData, violation))
        })?;
        let Some(mut bytes) = answers else { return Ok(None) };
        while !bytes.is_empty() {
            match { socket }.write(bytes) {
                Ok(written) => bytes = &bytes[written..],
                Err(error) if is_wait(&error) => {}
                Err(error) if is_gone(&error) => return Ok(Some(Ended::Left)),
                Err(error) => return Err(Error::socket("send on", || name)(error)),
            }
            // A client that asks and does not read is silent.
            if let (false, Some(ended)) = (bytes.is_empty(), guard.look(counts, monotonic())?) {
                return Ok(Some(ended));
            }
        }
    }
}

/// A client closes at its end whatever is still on the way to it, which resets the connection.
fn is_gone(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::ConnectionReset | io::ErrorKind::BrokenPipe)
}
