//! Path MTU test with unfragmented datagrams to a UDP ping-pong server.

use std::{
    io,
    net::{IpAddr, SocketAddr, UdpSocket},
};

use sys::clock::monotonic;
use units::Nanos;

use crate::{
    error::{Error, Result},
    handshake::{Handshake, Purpose},
    ping_pong::{Message, greet},
    socket::is_wait,
    stop::Stop,
};

/// IPv4 without options (RFC 791) and UDP (RFC 768).
const HEADERS: u32 = 20 + 8;
/// The smallest packet with number and token.
const SMALLEST: u32 = HEADERS + 16;
/// The largest IPv4 packet (RFC 791).
const LARGEST: u32 = 65_535;

/// A fitting packet may be lost by chance, so it gets more attempts.
const FITTING: Tries = Tries { count: 3, wait: Nanos::from_millis(300) };
const LARGER: Tries = Tries { count: 2, wait: Nanos::from_millis(150) };

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MtuSpec {
    pub token: u64,
    pub bind: IpAddr,
    pub server: SocketAddr,
    /// IP packet size in bytes that should pass; one byte more should not.
    pub mtu: u32,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Passage {
    pub carried: bool,
    pub larger_refused: bool,
}

/// Fails if the server does not reply at all, or the size is invalid.
pub fn probe_mtu(spec: &MtuSpec, stop: &Stop) -> Result<Passage> {
    if spec.mtu < SMALLEST || spec.mtu > LARGEST {
        let value = spec.mtu.to_string();
        return Err(Error::Setting { setting: "the MTU to probe", value, allowed: "44 to 65535 bytes" });
    }
    let handshake = Handshake { token: spec.token, purpose: Purpose::Probe, number: 0 };
    let socket = greet(spec.bind, spec.server, handshake, stop)?;
    sys::socket::set_mtu_probe(&socket)?;
    let carries = |mtu: u32, tries: &Tries| tries.carries(&socket, spec, mtu - HEADERS, stop);
    let carried = carries(spec.mtu, &FITTING)?;
    let larger_refused = !carries(spec.mtu + 1, &LARGER)?;
    Ok(Passage { carried, larger_refused })
}

struct Tries {
    count: u64,
    wait: Nanos,
}

impl Tries {
    fn carries(&self, socket: &UdpSocket, spec: &MtuSpec, payload: u32, stop: &Stop) -> Result<bool> {
        let object = || spec.server.to_string();
        let mut message = Message::new(payload as usize, spec.token);
        let mut answer = vec![0; LARGEST as usize];
        for number in 0..self.count {
            match socket.send(message.number(number)) {
                Err(error) if is_too_long(&error) => return Ok(false),
                Err(error) if !is_wait(&error) => {
                    return Err(Error::socket("send a probe to", object)(error));
                }
                Ok(_) | Err(_) => {}
            }
            let until = monotonic() + self.wait.0;
            while monotonic() < until {
                match socket.recv(&mut answer) {
                    Ok(length) if message.is_answered_by(&answer[..length]) => return Ok(true),
                    // EMSGSIZE here is an ICMP error: the probe did not fit.
                    Err(error) if is_too_long(&error) => return Ok(false),
                    Err(error) if !is_wait(&error) => {
                        return Err(Error::socket("receive a probe from", object)(error));
                    }
                    Ok(_) | Err(_) => {}
                }
                if stop.is_asked() {
                    return Err(Error::Stopped);
                }
            }
        }
        Ok(false)
    }
}

fn is_too_long(error: &io::Error) -> bool {
    error.raw_os_error() == Some(90)
}
