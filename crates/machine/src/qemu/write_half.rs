//! The half of a socket that writes: dropping it ends both halves, as it would end a pipe.

use std::{
    io::{self, Write},
    net::Shutdown,
    os::unix::net::UnixStream,
};

/// A socket's writing half.
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
        // It fails only when the other side is gone.
        let _ = self.socket.shutdown(Shutdown::Both);
    }
}
