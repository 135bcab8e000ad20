//! Reads datagrams, one or many per call.

use std::{io, net::UdpSocket};

use sys::{
    clock::monotonic,
    socket::{ReceiveBatch, set_udp_gro},
};
use workload::Mode;

/// The maximum length in bytes of a datagram, and of a message that coalesces several.
const LONGEST: usize = 65_535;
const MESSAGES: usize = 16;

pub(super) enum ReceiveMethod {
    One(Vec<u8>),
    Many(ReceiveBatch),
}

impl ReceiveMethod {
    pub(super) fn open(mode: Mode, socket: &UdpSocket) -> Self {
        match mode {
            Mode::App => Self::One(vec![0; LONGEST]),
            Mode::Limit => {
                let _ = set_udp_gro(socket, true);
                Self::Many(ReceiveBatch::new(MESSAGES, LONGEST))
            }
        }
    }

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
