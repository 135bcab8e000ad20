//! Path MTU test with unfragmented datagrams to a UDP ping-pong server.

use std::{
    io,
    net::{IpAddr, SocketAddr, UdpSocket},
};

use sys::clock::monotonic;
use units::Nanos;
use workload::udp_headers;

use crate::{
    error::{Error, Result},
    handshake::{Handshake, Purpose},
    ping_pong::{Message, greet},
    socket::is_wait,
    stop::Stop,
};

/// The smallest payload contains a message number and a token.
const LEAST_PAYLOAD: u32 = 16;
const LARGEST: u32 = 65_535;
/// The packet size that every IPv4 path must carry (RFC 791). IPv6 paths must carry 1280 bytes (RFC 8200), but an MTU
/// hole may drop even smaller packets.
const LEAST_MTU: u32 = 576;

/// A packet that should fit gets several attempts, because it may be lost by chance.
const FITTING: Tries = Tries { count: 3, wait: Nanos::from_millis(300) };
/// Routers send at most one ICMP error per second to a host (icmp_ratelimit in ip-sysctl).
const REPORTED: Tries = Tries { count: 2, wait: Nanos::from_millis(1100) };
const LARGER: Tries = Tries { count: 2, wait: Nanos::from_millis(150) };

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MtuSpec {
    pub token: u64,
    pub bind: IpAddr,
    pub server: SocketAddr,
    /// The expected MTU in bytes. An IP packet of this size should pass, and a larger one should not.
    pub mtu: u32,
}

impl MtuSpec {
    fn headers(&self) -> u32 {
        udp_headers(self.server.is_ipv4())
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Passage {
    pub carried: bool,
    pub larger_refused: bool,
}

pub fn probe_mtu(spec: &MtuSpec, stop: &Stop) -> Result<Passage> {
    let socket = open(spec, stop)?;
    let carried = FITTING.send(&socket, spec, spec.mtu, stop)? == Fate::Answered;
    let larger_refused = LARGER.send(&socket, spec, spec.mtu + 1, stop)? != Fate::Answered;
    Ok(Passage { carried, larger_refused })
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Hole {
    pub carried: u32,
    /// Whether this machine's kernel knows that packets of the expected MTU do not fit. A tunnel then drops them
    /// without an error on the socket.
    pub is_known: bool,
}

/// Finds the largest packet that passes, provided that larger ones are lost without an ICMP error. Returns `None` if
/// packets of the expected MTU pass, if an error reports that they do not fit, or if even the smallest packets are
/// lost.
pub fn find_mtu_hole(spec: &MtuSpec, stop: &Stop) -> Result<Option<Hole>> {
    let socket = open(spec, stop)?;
    let fate = |mtu: u32, tries: &Tries| tries.send(&socket, spec, mtu, stop);
    if spec.mtu <= LEAST_MTU
        || fate(spec.mtu, &REPORTED)? != Fate::Lost
        || fate(LEAST_MTU, &FITTING)? != Fate::Answered
    {
        return Ok(None);
    }
    let (mut passes, mut lost) = (LEAST_MTU, spec.mtu);
    while passes + 1 < lost {
        let middle = passes.midpoint(lost);
        match fate(middle, &LARGER)? {
            Fate::Answered => passes = middle,
            Fate::Lost | Fate::TooLong => lost = middle,
        }
    }
    Ok(Some(Hole { carried: passes, is_known: sys::socket::path_mtu(&socket)? < spec.mtu }))
}

pub fn send_packets(spec: &MtuSpec, count: u32, stop: &Stop) -> Result<()> {
    let socket = open(spec, stop)?;
    let mut message = Message::new((spec.mtu - spec.headers()) as usize, spec.token);
    for number in 0..u64::from(count) {
        match socket.send(message.number(number)) {
            Err(error) if !is_too_long(&error) && !is_wait(&error) => {
                return Err(Error::socket("send a packet to", || spec.server.to_string())(error));
            }
            Ok(_) | Err(_) => {}
        }
    }
    Ok(())
}

fn open(spec: &MtuSpec, stop: &Stop) -> Result<UdpSocket> {
    if spec.mtu < spec.headers() + LEAST_PAYLOAD || spec.mtu > LARGEST {
        let value = spec.mtu.to_string();
        let allowed = if spec.server.is_ipv4() { "44 to 65535 bytes" } else { "64 to 65535 bytes" };
        return Err(Error::Setting { setting: "the MTU to probe", value, allowed });
    }
    let handshake = Handshake { token: spec.token, purpose: Purpose::Probe, number: 0 };
    let socket = greet(spec.bind, spec.server, handshake, stop)?;
    sys::socket::set_mtu_probe(&socket)?;
    Ok(socket)
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Fate {
    Answered,
    TooLong,
    Lost,
}

struct Tries {
    count: u64,
    wait: Nanos,
}

impl Tries {
    fn send(&self, socket: &UdpSocket, spec: &MtuSpec, mtu: u32, stop: &Stop) -> Result<Fate> {
        let object = || spec.server.to_string();
        let mut message = Message::new((mtu - spec.headers()) as usize, spec.token);
        let mut answer = vec![0; LARGEST as usize];
        for number in 0..self.count {
            match socket.send(message.number(number)) {
                Err(error) if is_too_long(&error) => return Ok(Fate::TooLong),
                Err(error) if !is_wait(&error) => {
                    return Err(Error::socket("send a probe to", object)(error));
                }
                Ok(_) | Err(_) => {}
            }
            let until = monotonic() + self.wait.0;
            while monotonic() < until {
                match socket.recv(&mut answer) {
                    Ok(length) if message.is_answered_by(&answer[..length]) => return Ok(Fate::Answered),
                    // Here, EMSGSIZE comes from an ICMP error, so the probe did not fit.
                    Err(error) if is_too_long(&error) => return Ok(Fate::TooLong),
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
        Ok(Fate::Lost)
    }
}

fn is_too_long(error: &io::Error) -> bool {
    error.raw_os_error() == Some(90)
}
