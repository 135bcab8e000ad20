//! The write half of a socket. Dropping it closes both halves, as with a pipe.

use std::{
    io::{self, Write},
    net::Shutdown,
    os::unix::net::UnixStream,
};

pub(super) struct HangsUp {
    socket: UnixStream,
}

impl HangsUp {
    pub(super) fn new(socket: UnixStream) -> Self {
        Self { socket }
    }
}

impl Write for HangsUp {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.socket.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.socket.flush()
    }
}

impl Drop for HangsUp {
    fn drop(&mut self) {
        // Fails only if the peer has already closed the socket.
        let _ = self.socket.shutdown(Shutdown::Both);
    }
}
