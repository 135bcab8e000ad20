//! Server side of a connection: reads the request, responds and closes the connection.

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

const PIECE: usize = 64 << 10;

/// Serves one connection, and adds the bytes in both directions to `carried`. Fails if the connection takes longer than
/// `limit`, or if the server stops.
pub fn serve(
    socket: &TcpStream,
    handshake: Handshake,
    limit: Nanos,
    carried: &AtomicU64,
    goes_on: impl Fn() -> bool + Copy,
) -> Result<()> {
    limit_waits(socket, TICK)?;
    let name = || format!("connection {} with {:?}", handshake.number, socket.peer_addr());
    let mut server = RequestServer::new(limit, carried);
    server.begin();
    let mut sizes = [0; SIZES];
    let served =
        server.fill(socket, &mut sizes, goes_on).and_then(|()| server.finish(socket, sizes, HEAD, goes_on));
    served.map_err(Error::socket("serve", name))
}

pub(super) struct RequestServer<'a> {
    piece: Vec<u8>,
    carried: &'a AtomicU64,
    limit: Nanos,
    until: u64,
}

impl<'a> RequestServer<'a> {
    pub(super) fn new(limit: Nanos, carried: &'a AtomicU64) -> Self {
        Self { piece: vec![0xA5; PIECE], carried, limit, until: 0 }
    }

    fn begin(&mut self) {
        self.until = monotonic() + self.limit.0;
    }

    pub(super) fn respond(
        &mut self,
        socket: &TcpStream,
        belongs: impl Fn(Handshake) -> bool,
        goes_on: impl Fn() -> bool + Copy,
    ) -> io::Result<bool> {
        self.begin();
        let mut got = 0;
        while got < HEAD {
            got += self.read(socket, got, goes_on)?;
        }
        let handshake = Handshake::decode(&self.piece[..LENGTH]);
        let sizes = self.piece[LENGTH..HEAD].first_chunk::<SIZES>().copied();
        let (Some(handshake), Some(sizes)) = (handshake, sizes) else { return Ok(false) };
        if !belongs(handshake) {
            return Ok(false);
        }
        self.finish(socket, sizes, got, goes_on).map(|()| true)
    }

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

    fn read(
        &mut self,
        mut socket: &TcpStream,
        offset: usize,
        goes_on: impl Fn() -> bool,
    ) -> io::Result<usize> {
        loop {
            // Checks the limits before every read, because a peer that sends single bytes never lets a read time out.
            self.check(&goes_on)?;
            match socket.read(&mut self.piece[offset..]) {
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

    fn check(&self, goes_on: impl Fn() -> bool) -> io::Result<()> {
        if goes_on() && monotonic() < self.until { Ok(()) } else { Err(io::ErrorKind::TimedOut.into()) }
    }
}

fn forgive(error: io::Error) -> io::Result<()> {
    if is_wait(&error) { Ok(()) } else { Err(error) }
}
