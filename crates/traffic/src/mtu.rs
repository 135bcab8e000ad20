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

/// The lengths of an IP header without options or extension headers (RFC 791, RFC 8200) plus a UDP header (RFC 768).
const HEADERS_IPV4: u32 = 20 + 8;
const HEADERS_IPV6: u32 = 40 + 8;
/// The message number and the token.
const LEAST_PAYLOAD: u32 = 16;
const LARGEST: u32 = 65_535;

/// Attempts per probe. A packet that should fit is sent more often, since it may also be lost by chance.
const FITTING: Tries = Tries { count: 3, wait: Nanos::from_millis(300) };
const LARGER: Tries = Tries { count: 2, wait: Nanos::from_millis(150) };

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MtuSpec {
    pub token: u64,
    pub bind: IpAddr,
    pub server: SocketAddr,
    /// The expected MTU in bytes. An IP packet of this size should pass, and a larger one should not.
    pub mtu: u32,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Passage {
    pub carried: bool,
    pub larger_refused: bool,
}

pub fn probe_mtu(spec: &MtuSpec, stop: &Stop) -> Result<Passage> {
    let headers = if spec.server.is_ipv4() { HEADERS_IPV4 } else { HEADERS_IPV6 };
    if spec.mtu < headers + LEAST_PAYLOAD || spec.mtu > LARGEST {
        let value = spec.mtu.to_string();
        let allowed = if spec.server.is_ipv4() { "44 to 65535 bytes" } else { "64 to 65535 bytes" };
        return Err(Error::Setting { setting: "the MTU to probe", value, allowed });
    }
    let handshake = Handshake { token: spec.token, purpose: Purpose::Probe, number: 0 };
    let socket = greet(spec.bind, spec.server, handshake, stop)?;
    sys::socket::set_mtu_probe(&socket)?;
    let carries = |mtu: u32, tries: &Tries| tries.carries(&socket, spec, mtu - headers, stop);
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
                    // This EMSGSIZE results from an ICMP error, so the probe did not fit.
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
