//! How datagrams get out of the kernel: one a call, or many.

use std::{io, net::UdpSocket};

use sys::{
    clock::monotonic,
    socket::{ReceiveBatch, set_udp_gro},
};
use workload::Mode;

/// No datagram, and no message of several gathered ones, is longer.
const LONGEST: usize = 65_535;
/// Messages that one call may bring.
const MESSAGES: usize = 16;

/// How datagrams get out of the kernel.
pub(super) enum ReceiveMethod {
    /// One a call, as an ordinary application receives it.
    One(Vec<u8>),
    /// Many a call.
    Many(ReceiveBatch),
}

impl ReceiveMethod {
    /// As the mode wants; a kernel that gathers no datagrams (UDP_GRO) brings them one by one.
    pub(super) fn open(mode: Mode, socket: &UdpSocket) -> Self {
        match mode {
            Mode::App => Self::One(vec![0; LONGEST]),
            Mode::Limit => {
                // A refusal leaves the socket as it is, which does as well.
                let _ = set_udp_gro(socket, true);
                Self::Many(ReceiveBatch::new(MESSAGES, LONGEST))
            }
        }
    }

    /// One call. Shows every datagram and when it was there: the return of the call, for all that it brought.
    #[inline]
    pub(super) fn receive(&mut self, socket: &UdpSocket, mut show: impl FnMut(&[u8], u64)) -> io::Result<()> {
        match self {
            Self::One(buffer) => {
                let length = socket.recv(buffer)?;
                show(&buffer[..length], monotonic());
            }
            Self::Many(batch) => {
                batch.receive(socket)?;
                let now = monotonic();
                batch.datagrams().for_each(|datagram| show(datagram, now));
            }
        }
        Ok(())
    }
}
