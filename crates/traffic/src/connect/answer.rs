//! The server's part of one connection: reads the request, answers, closes.
//!
//! Read and written in pieces of a fixed size, whatever lengths the peer has named.

use std::{
    io::{self, Read, Write},
    net::TcpStream,
    sync::atomic::{AtomicU64, Ordering},
};

use sys::clock::monotonic;
use units::Nanos;

use super::request::{Exchange, HEAD, SIZES};
use crate::{
    error::{Error, Result},
    handshake::{Handshake, LENGTH},
    socket::{TICK, is_wait, limit_waits},
};

/// What is read or written at once.
const PIECE: usize = 64 << 10;

/// Serves one connection whose handshake was read: the rest of its request, its response, its end.
///
/// # Errors
/// When it fails, says nonsense, takes longer than `limit`, or is not to go on. What it has carried till then, both
/// ways, is added to `carried` as it passes.
pub fn serve(
    socket: &TcpStream,
    said: Handshake,
    limit: Nanos,
    carried: &AtomicU64,
    goes_on: impl Fn() -> bool + Copy,
) -> Result<()> {
    limit_waits(socket, TICK)?;
    let name = || format!("connection {} with {:?}", said.number, socket.peer_addr());
    let mut server = RequestServer::new(limit, carried);
    server.begin();
    let mut sizes = [0; SIZES];
    let served =
        server.fill(socket, &mut sizes, goes_on).and_then(|()| server.finish(socket, sizes, HEAD, goes_on));
    served.map_err(Error::socket("serve", name))
}

/// What one thread needs to serve, one connection after another.
pub(super) struct RequestServer<'a> {
    piece: Vec<u8>,
    /// Bytes, both ways.
    carried: &'a AtomicU64,
    limit: Nanos,
    until: u64,
}

impl<'a> RequestServer<'a> {
    /// Each connection may take as long as `limit`.
    pub(super) fn new(limit: Nanos, carried: &'a AtomicU64) -> Self {
        Self { piece: vec![0xA5; PIECE], carried, limit, until: 0 }
    }

    /// The next connection's time begins.
    fn begin(&mut self) {
        self.until = monotonic() + self.limit.0;
    }

    /// Serves one that must know the token. False when it does not, or says nonsense.
    pub(super) fn answer(
        &mut self,
        socket: &TcpStream,
        belongs: impl Fn(Handshake) -> bool,
        goes_on: impl Fn() -> bool + Copy,
    ) -> io::Result<bool> {
        self.begin();
        let mut got = 0;
        // As much as comes at once; mostly all of it.
        while got < HEAD {
            got += self.read(socket, got, goes_on)?;
        }
        let said = Handshake::decode(&self.piece[..LENGTH]);
        let sizes = self.piece[LENGTH..HEAD].first_chunk::<SIZES>().copied();
        let (Some(said), Some(sizes)) = (said, sizes) else { return Ok(false) };
        if !belongs(said) {
            return Ok(false);
        }
        self.finish(socket, sizes, got, goes_on).map(|()| true)
    }

    /// Reads what is left of a request of which `got` bytes have come, and answers it.
    fn finish(
        &mut self,
        mut socket: &TcpStream,
        sizes: [u8; SIZES],
        got: usize,
        goes_on: impl Fn() -> bool,
    ) -> io::Result<()> {
        let nonsense = || io::Error::from(io::ErrorKind::InvalidData);
        let exchange = Exchange::decode(sizes).ok_or_else(nonsense)?;
        let mut got = got;
        while got < exchange.request as usize {
            got += self.read(socket, 0, &goes_on)?;
        }
        let mut left = exchange.response as usize;
        while left > 0 {
            match socket.write(&self.piece[..left.min(PIECE)]) {
                Ok(written) => left -= self.moved(written),
                Err(error) => forgive(error)?,
            }
            if left > 0 {
                self.check(&goes_on)?;
            }
        }
        Ok(())
    }

    fn fill(&self, mut socket: &TcpStream, bytes: &mut [u8], goes_on: impl Fn() -> bool) -> io::Result<()> {
        let mut done = 0;
        while done < bytes.len() {
            match socket.read(&mut bytes[done..]) {
                Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
                Ok(read) => done += self.moved(read),
                Err(error) => forgive(error)?,
            }
            self.check(&goes_on)?;
        }
        Ok(())
    }

    /// Reads a piece to behind the first `kept` bytes.
    fn read(&mut self, mut socket: &TcpStream, kept: usize, goes_on: impl Fn() -> bool) -> io::Result<usize> {
        loop {
            // Before each read: a peer that sends a byte now and then never lets a wait end.
            self.check(&goes_on)?;
            match socket.read(&mut self.piece[kept..]) {
                Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
                Ok(read) => return Ok(self.moved(read)),
                Err(error) => forgive(error)?,
            }
        }
    }

    fn moved(&self, bytes: usize) -> usize {
        self.carried.fetch_add(bytes as u64, Ordering::Relaxed);
        bytes
    }

    /// Whether the connection may take longer.
    fn check(&self, goes_on: impl Fn() -> bool) -> io::Result<()> {
        if goes_on() && monotonic() < self.until { Ok(()) } else { Err(io::ErrorKind::TimedOut.into()) }
    }
}

/// A wait that ended is no failure.
fn forgive(error: io::Error) -> io::Result<()> {
    if is_wait(&error) { Ok(()) } else { Err(error) }
}
