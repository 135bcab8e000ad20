//! Data connections as a client's parameters want them, and the loads that are run on them.

use std::io::ErrorKind;

use load::{Mode, StreamLoad, Transport, Until};
use units::{Bytes, Nanos};
use wire::iperf3::{ErrorCode, Params};

use super::Arrival;
use crate::{
    door::Limits,
    error::Error,
    stream::{DatagramFormat, FlowSocket},
};

/// Memory for the messages of all streams of a test together: what a client says is not what is taken.
const BUFFERS: u64 = 64 << 20;
/// Intervals that are kept of a stream.
const KEPT: u64 = 20_000;
/// The shortest interval.
const SHORTEST: Nanos = Nanos::from_millis(10);
/// How much longer than asked a sender may go on: it is the client that ends a test.
const LONGER: Nanos = Nanos::from_secs(60);

/// Everything that a test flows over.
pub(super) struct Prepared {
    /// In the order of the plan.
    pub(super) sockets: Vec<FlowSocket>,
    /// Of the streams that this end sends.
    pub(super) sending: StreamLoad,
    /// Of the others.
    pub(super) receiving: StreamLoad,
    /// Where all threads run.
    pub(super) cpu: Option<u32>,
}

/// Sets the sockets as asked.
pub(super) fn prepare(
    arrivals: Vec<Arrival>,
    params: &Params,
    load: &StreamLoad,
    limits: &Limits,
) -> Result<Prepared, (ErrorCode, Error)> {
    let format =
        if params.udp_counters_64bit { DatagramFormat::Counter64 } else { DatagramFormat::Counter32 };
    let mut sockets = Vec::with_capacity(arrivals.len());
    for arrival in arrivals {
        let socket = match arrival {
            Arrival::Tcp { socket, .. } => FlowSocket::Tcp(socket),
            Arrival::Udp { socket, .. } => FlowSocket::Udp(socket, format),
        };
        set(&socket, params)?;
        sockets.push(socket);
    }
    let cpu = params.server_affinity.and_then(|cpu| u32::try_from(cpu).ok());
    let common = bounded(load, limits);
    let with =
        |limit: bool| StreamLoad { mode: if limit { Mode::Limit } else { common.mode }, ..common.clone() };
    let tcp = load.transport == Transport::Tcp;
    let (sending, receiving) = (with(tcp && params.zerocopy), with(tcp && params.skip_rx_copy));
    Ok(Prepared { sockets, sending, receiving, cpu })
}

/// The load within bounds of memory. It is the client that says when it is over.
fn bounded(load: &StreamLoad, limits: &Limits) -> StreamLoad {
    let flows = u64::from(load.streams) * load.direction.flows().len() as u64;
    let message = match load.transport {
        Transport::Tcp => Bytes(load.message.0.min(BUFFERS / flows.max(1))),
        Transport::Udp => load.message,
    };
    let (until, expected) = match load.until {
        Until::Elapsed(Nanos(0)) | Until::Sent(_) => (Until::Sent(Bytes(u64::MAX)), limits.duration),
        Until::Elapsed(time) => (Until::Elapsed(time + LONGER), load.warmup + time),
    };
    let sparse =
        if matches!(until, Until::Sent(_)) { Nanos::from_millis(100) } else { Nanos(expected.0 / KEPT) };
    StreamLoad { message, until, interval: load.interval.max(sparse).max(SHORTEST), ..load.clone() }
}

fn set(socket: &FlowSocket, params: &Params) -> Result<(), (ErrorCode, Error)> {
    match socket {
        FlowSocket::Tcp(socket) => {
            set_tcp(socket, params)?;
            set_any(socket, params)
        }
        FlowSocket::Udp(socket, _) => {
            drain(socket)?;
            set_any(socket, params)
        }
    }
}

fn set_tcp(socket: &std::net::TcpStream, params: &Params) -> Result<(), (ErrorCode, Error)> {
    socket.set_nonblocking(false).map_err(|error| unprepared(ErrorCode::INIT_STREAM, error))?;
    if params.nodelay {
        sys::socket::set_nodelay(socket, true).map_err(|error| (ErrorCode::SET_NODELAY, error.into()))?;
    }
    if let Some(congestion) = &params.congestion {
        const UNKNOWN_HERE: i32 = 2;
        match sys::socket::set_congestion(socket, congestion) {
            // As iperf3: the client has it, and sends with it.
            Err(error) if error.errno() == UNKNOWN_HERE => {}
            other => other.map_err(|error| (ErrorCode::SET_CONGESTION, error.into()))?,
        }
    }
    Ok(())
}

fn set_any(socket: &impl std::os::fd::AsFd, params: &Params) -> Result<(), (ErrorCode, Error)> {
    let wanted = usize::try_from(params.window).unwrap_or(0);
    if wanted > 0 {
        let refused = |error: sys::Error| (ErrorCode::SET_BUFFER, error.into());
        sys::socket::set_send_buffer(socket, wanted).map_err(refused)?;
        sys::socket::set_receive_buffer(socket, wanted).map_err(refused)?;
        let given = sys::socket::send_buffer(socket).map_err(refused)?;
        let given = given.min(sys::socket::receive_buffer(socket).map_err(refused)?);
        if given < wanted {
            let (setting, value) = ("the window", wanted.to_string());
            let error =
                Error::Setting { setting, value, allowed: "what net.core.rmem_max and wmem_max allow" };
            return Err((ErrorCode::SET_BUFFER_SIZE, error));
        }
    }
    if let Some(tos) = u8::try_from(params.tos).ok().filter(|tos| *tos > 0) {
        sys::socket::set_tos(socket, tos).map_err(|error| (ErrorCode::SET_TOS, error.into()))?;
    }
    if params.fqrate > 0 {
        let rate = params.fqrate.unsigned_abs() / 8;
        sys::socket::set_max_pacing_rate(socket, rate)
            .map_err(|error| (ErrorCode::SET_PACING, error.into()))?;
    }
    Ok(())
}

/// Forgets what has come before the test: the client's repeated wish for a stream, or what others sent to the
/// server before the socket was this client's.
fn drain(socket: &std::net::UdpSocket) -> Result<(), (ErrorCode, Error)> {
    let failed = |error| unprepared(ErrorCode::INIT_STREAM, error);
    socket.set_nonblocking(true).map_err(failed)?;
    let mut bytes = [0; 64];
    loop {
        match socket.recv(&mut bytes) {
            Ok(_) => {}
            Err(error) if error.kind() == ErrorKind::WouldBlock => break,
            Err(_) => {}
        }
    }
    socket.set_nonblocking(false).map_err(failed)
}

fn unprepared(code: ErrorCode, error: std::io::Error) -> (ErrorCode, Error) {
    (code, Error::socket("prepare", || "a data connection")(error))
}
