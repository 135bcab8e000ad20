//! Applies a client's parameters to its data connections and derives the engine's workloads from them.

use std::io::ErrorKind;

use codecs::iperf3::{ErrorCode, Params};
use sys::socket::largest_send_buffer;
use traffic::{
    Error,
    stream::{DatagramFormat, FlowSocket},
};
use units::{Bytes, Nanos};
use workload::{Direction, Mode, StreamSettings, Transport, Until};

use super::DataConnection;
use crate::Limits;

const LEAST_MESSAGE: u64 = 4 << 10;
/// The memory of a pipe, in bytes. A TCP stream in limit mode needs a pipe.
const PIPE: u64 = 2 << 20;
const BATCH: u64 = 1 << 20;
const LEAST_SEND_BUFFER: u64 = 64 << 10;
const DATAGRAM: u64 = 64 << 10;
const MIN_INTERVALS: u64 = 16;
const SHORTEST: Nanos = Nanos::from_millis(10);
const FORGOTTEN: usize = 1000;
/// How long a sender may continue after the requested time, because the client ends the test.
const LONGER: Nanos = Nanos::from_secs(60);

type Failure = (ErrorCode, Error);

/// Memory limits for all streams of a test together. Larger requested sizes are reduced.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Memory {
    /// In bytes.
    pub(crate) buffers: u64,
    /// The number of stored intervals, each of which takes a few hundred bytes.
    pub(crate) intervals: u64,
    /// In bytes, as accounted for by the kernel.
    pub(crate) send_buffers: u64,
}

impl Memory {
    pub(crate) fn of(params: &Params, limits: &Limits) -> (Self, Self) {
        let load = params.load();
        let flows = u64::from(load.streams) * load.direction.flows().len() as u64;
        let cheap = load.mode == Mode::Limit || params.zerocopy || params.skip_rx_copy;
        let message = if load.message.0 == 0 { DATAGRAM } else { load.message.0 };
        let (each, least) = match (load.transport, cheap) {
            (Transport::Tcp, true) => (message.max(PIPE), message.min(LEAST_MESSAGE)),
            (Transport::Tcp, false) => (message, message.min(LEAST_MESSAGE)),
            (Transport::Udp, true) => (BATCH, message),
            (Transport::Udp, false) => (message, message),
        };
        let (_, expected) = end(&load, limits);
        let intervals = (expected.0 / load.interval.max(SHORTEST).0 + 1).saturating_mul(flows);
        let (send_buffer, least_send_buffer) = send_buffer(params);
        let senders =
            params.streams().iter().filter(|planned| planned.direction == Direction::Reverse).count() as u64;
        let least = Self {
            buffers: least * flows,
            intervals: intervals.min(MIN_INTERVALS * flows),
            send_buffers: least_send_buffer * senders,
        };
        (Self { buffers: each * flows, intervals, send_buffers: send_buffer * senders }, least)
    }
}

fn send_buffer(params: &Params) -> (u64, u64) {
    let window = u64::try_from(params.window).unwrap_or(0);
    match params.transport() {
        Transport::Udp => (0, 0),
        Transport::Tcp if window > 0 => {
            let doubled = 2 * window.min(largest_send_buffer() as u64);
            (doubled, doubled)
        }
        Transport::Tcp => (largest_send_buffer() as u64, LEAST_SEND_BUFFER),
    }
}

pub(super) struct Prepared {
    pub(super) sockets: Vec<FlowSocket>,
    /// The number of bytes that each stream sends. `None` if the server receives the stream, or if only the client
    /// knows when to stop.
    pub(super) shares: Vec<Option<u64>>,
    pub(super) sending: StreamSettings,
    pub(super) receiving: StreamSettings,
    pub(super) cpus: Option<Vec<u32>>,
}

pub(super) fn prepare(
    arrivals: Vec<DataConnection>,
    params: &Params,
    load: &StreamSettings,
    limits: &Limits,
    memory: Memory,
) -> Result<Prepared, Failure> {
    let plan = arrivals.len() as u64;
    let format =
        if params.udp_counters_64bit { DatagramFormat::Counter64 } else { DatagramFormat::Counter32 };
    let mut sockets = Vec::with_capacity(arrivals.len());
    for arrival in arrivals {
        let socket = match arrival {
            DataConnection::Tcp { socket, .. } => FlowSocket::Tcp(socket),
            DataConnection::Udp { socket, .. } => FlowSocket::Udp(socket, format),
        };
        set(&socket, params)?;
        sockets.push(socket);
    }
    let window = bound_send_buffers(&sockets, params, memory)?;
    let one = params.server_affinity.and_then(|cpu| u32::try_from(cpu).ok()).map(|cpu| vec![cpu]);
    let cpus = params.plumb.as_ref().and_then(|requested| requested.cpus.clone()).or(one);
    let common = bounded(load, limits, memory);
    let with = |limit: bool, until: Until| {
        let requested = if limit { Mode::Limit } else { common.mode };
        StreamSettings {
            mode: affordable(requested, load.transport, plan, memory.buffers),
            until,
            ..common.clone()
        }
    };
    let tcp = load.transport == Transport::Tcp;
    // A receiver's measurement ends at the requested time, even if the end message arrives later.
    let receiving = with(tcp && params.skip_rx_copy, common.until);
    let mut sending = with(tcp && params.zerocopy, longer(common.until));
    sending.socket.window = window.or(sending.socket.window);
    let shares = shares(params, load);
    Ok(Prepared { sockets, shares, sending, receiving, cpus })
}

fn bound_send_buffers(
    sockets: &[FlowSocket],
    params: &Params,
    memory: Memory,
) -> Result<Option<Bytes>, Failure> {
    let plan = params.streams();
    let senders = plan.iter().zip(sockets).filter(|(planned, _)| planned.direction == Direction::Reverse);
    let senders: Vec<_> = senders
        .filter_map(|(_, socket)| match socket {
            FlowSocket::Tcp(socket) => Some(socket),
            FlowSocket::Udp(..) => None,
        })
        .collect();
    let each = memory.send_buffers / (senders.len() as u64).max(1);
    if senders.is_empty() || params.window > 0 || each >= largest_send_buffer() as u64 {
        return Ok(None);
    }
    // The kernel doubles the requested size.
    let size = each / 2;
    for socket in senders {
        sys::socket::set_send_buffer(socket, usize::try_from(size).unwrap_or(usize::MAX))
            .map_err(failed(ErrorCode::SET_BUFFER))?;
    }
    Ok(Some(Bytes(size)))
}

/// Divides the requested bytes among streams, rounded up to whole messages as in iperf3. With UDP loss or a warm-up,
/// only the client knows when it has received enough.
fn shares(params: &Params, load: &StreamSettings) -> Vec<Option<u64>> {
    let plan = params.streams();
    let amount = match load.until {
        Until::Sent(bytes) if load.transport == Transport::Tcp && params.omit == 0 => Some(bytes.0),
        _ => None,
    };
    let (length, streams) = (load.message.0.max(1), u64::from(load.streams.max(1)));
    let messages = amount.map(|amount| amount.div_ceil(length));
    let mut number = 0;
    let share = |direction| {
        let messages = messages.filter(|_| direction == Direction::Reverse)?;
        number += 1;
        Some((messages / streams + u64::from(number <= messages % streams)).saturating_mul(length))
    };
    plan.iter().map(|planned| planned.direction).map(share).collect()
}

/// Returns the mode that the limits allow. In limit mode, each stream needs a pipe with its pages, or buffer space
/// for a batch of datagrams.
const fn affordable(requested: Mode, transport: Transport, flows: u64, buffers: u64) -> Mode {
    let buffer = match transport {
        Transport::Tcp => PIPE,
        Transport::Udp => BATCH,
    };
    match requested {
        Mode::Limit if flows.saturating_mul(buffer) <= buffers => Mode::Limit,
        _ => Mode::App,
    }
}

fn bounded(load: &StreamSettings, limits: &Limits, memory: Memory) -> StreamSettings {
    let flows = u64::from(load.streams) * load.direction.flows().len() as u64;
    let message = match load.transport {
        Transport::Tcp => Bytes(load.message.0.min(memory.buffers / flows.max(1))),
        Transport::Udp => load.message,
    };
    let (until, expected) = end(load, limits);
    let sparse = Nanos((expected.0 / memory.intervals.max(1)).saturating_mul(flows));
    StreamSettings { message, until, interval: load.interval.max(sparse).max(SHORTEST), ..load.clone() }
}

fn end(load: &StreamSettings, limits: &Limits) -> (Until, Nanos) {
    match load.until {
        Until::Elapsed(Nanos(0)) | Until::Sent(_) => (Until::Sent(Bytes(u64::MAX)), limits.duration),
        Until::Elapsed(time) => (load.until, load.warmup + time),
    }
}

fn longer(until: Until) -> Until {
    match until {
        Until::Elapsed(time) => Until::Elapsed(time + LONGER),
        Until::Sent(_) => until,
    }
}

fn set(socket: &FlowSocket, params: &Params) -> Result<(), Failure> {
    match socket {
        FlowSocket::Tcp(socket) => set_tcp(socket, params).and_then(|()| set_any(socket, params)),
        FlowSocket::Udp(socket, _) => drain(socket).and_then(|()| set_any(socket, params)),
    }
}

fn set_tcp(socket: &std::net::TcpStream, params: &Params) -> Result<(), Failure> {
    socket.set_nonblocking(false).map_err(unprepared)?;
    if params.nodelay {
        sys::socket::set_nodelay(socket, true).map_err(failed(ErrorCode::SET_NODELAY))?;
    }
    // Ignore unknown names, because the kernel would try to load a module for them. The client, which knows the name,
    // still uses it for sending, as in iperf3.
    let congestion =
        params.congestion.as_ref().filter(|name| sys::socket::available_congestion().contains(name));
    if let Some(congestion) = congestion {
        let set = sys::socket::set_congestion(socket, congestion);
        // Unprivileged processes may not use every congestion control. Receivers do not need one.
        if params.reverse || params.bidirectional {
            set.map_err(failed(ErrorCode::SET_CONGESTION))?;
        }
    }
    Ok(())
}

fn set_any(socket: &impl std::os::fd::AsFd, params: &Params) -> Result<(), Failure> {
    let wanted = usize::try_from(params.window).unwrap_or(0);
    if wanted > 0 {
        let refused = failed(ErrorCode::SET_BUFFER);
        sys::socket::set_send_buffer(socket, wanted).map_err(refused)?;
        sys::socket::set_receive_buffer(socket, wanted).map_err(refused)?;
        let given = sys::socket::send_buffer(socket).map_err(refused)?;
        let given = given.min(sys::socket::receive_buffer(socket).map_err(refused)?);
        if given < wanted {
            let (setting, value) = ("window size", wanted.to_string());
            let error = Error::Setting { setting, value, allowed: "at most net.core.rmem_max and wmem_max" };
            return Err((ErrorCode::SET_BUFFER_SIZE, error));
        }
    }
    if let Some(tos) = u8::try_from(params.tos).ok().filter(|tos| *tos > 0) {
        sys::socket::set_tos(socket, tos).map_err(failed(ErrorCode::SET_TOS))?;
    }
    if params.fqrate > 0 {
        let rate = params.fqrate.unsigned_abs() / 8;
        sys::socket::set_max_pacing_rate(socket, rate).map_err(failed(ErrorCode::SET_PACING))?;
    }
    Ok(())
}

/// Discards repeated greetings, and packets from other peers that arrived before the socket was connected.
fn drain(socket: &std::net::UdpSocket) -> Result<(), Failure> {
    socket.set_nonblocking(true).map_err(unprepared)?;
    let mut bytes = [0; 64];
    for _ in 0..FORGOTTEN {
        if socket.recv(&mut bytes).is_err_and(|error| error.kind() == ErrorKind::WouldBlock) {
            break;
        }
    }
    socket.set_nonblocking(false).map_err(unprepared)
}

fn unprepared(error: std::io::Error) -> Failure {
    (ErrorCode::INIT_STREAM, Error::socket("prepare", || "a data connection")(error))
}

fn failed(code: ErrorCode) -> impl Fn(sys::Error) -> Failure + Copy {
    move |error| (code, error.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    const MEMORY: Memory = Memory { buffers: 64 << 20, intervals: 200_000, send_buffers: 64 << 20 };

    const DAY: Limits = Limits {
        clients: 1,
        clients_of_address: None,
        rate: None,
        duration: Nanos::from_secs(86_400),
        bytes: None,
    };

    fn check(params: &Params, expected: &[Option<u64>]) {
        assert_eq!(shares(params, &params.load()), expected, "{params:?}");
    }

    #[test]
    fn never_passes_unknown_congestion_control_to_the_kernel() {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("loopback");
        let socket = std::net::TcpStream::connect(listener.local_addr().expect("bound"))
            .expect("the listener accepts");
        let before = sys::socket::congestion(&socket).expect("TCP");
        let none =
            ["nonesuch", "", " ", "RENO", " reno", "reno ", "reno\n", "reno\0", "reno cubic", "ren", "renoo"];
        let paths = ["../reno", "tcp_reno", "net-pf-10", "a_name_of_more_than_sixteen_bytes"];
        for name in none.into_iter().chain(paths) {
            for (reverse, bidirectional) in [(true, false), (false, true)] {
                let congestion = Some(name.to_owned());
                let params = Params { tcp: true, reverse, bidirectional, congestion, ..Params::default() };
                assert!(set_tcp(&socket, &params).is_ok(), "{name:?}");
                assert_eq!(sys::socket::congestion(&socket).expect("TCP"), before, "{name:?}");
            }
        }
        let params = Params { tcp: true, congestion: Some("reno".into()), ..Params::default() };
        assert!(set_tcp(&socket, &params).is_ok());
        assert_eq!(sys::socket::congestion(&socket).expect("TCP"), "reno", "every kernel has it");
    }

    #[test]
    fn sends_fewest_whole_messages_for_an_amount() {
        let params = Params { tcp: true, reverse: true, len: 1000, ..Params::default() };
        let some = |shares: &[u64]| shares.iter().copied().map(Some).collect::<Vec<_>>();
        let with = |num, parallel| Params { num, parallel: Some(parallel), ..params.clone() };
        check(&with(5000, 1), &some(&[5000]));
        check(&with(5001, 1), &some(&[6000]));
        check(&with(5000, 3), &some(&[2000, 2000, 1000]));
        check(&with(1, 2), &some(&[1000, 0]));
        check(&Params { blockcount: 7, num: 0, ..with(0, 2) }, &some(&[4000, 3000]));
        let both = Params { reverse: false, bidirectional: true, ..with(2000, 1) };
        check(&both, &[None, Some(2000)]);
    }

    #[test]
    fn has_no_share_if_only_the_client_knows_the_end() {
        let params = Params { tcp: true, reverse: true, num: 5000, parallel: Some(1), ..Params::default() };
        check(&Params { omit: 1, ..params.clone() }, &[None]);
        check(&Params { udp: true, tcp: false, ..params.clone() }, &[None]);
        check(&Params { reverse: false, ..params.clone() }, &[None]);
        check(&Params { num: 0, time: 5, ..params }, &[None]);
    }

    #[test]
    fn clamps_client_sizes_to_limits() {
        let params =
            Params { tcp: true, len: 1 << 20, parallel: Some(128), time: 86_400, ..Params::default() };
        let requested = StreamSettings { interval: Nanos(1), ..params.load() };
        let (wanted, least) = Memory::of(&params, &DAY);
        assert_eq!((wanted.buffers, least.buffers), (128 << 20, 128 * LEAST_MESSAGE));
        let load = bounded(&requested, &DAY, MEMORY);
        assert_eq!(load.message.0 * 128, MEMORY.buffers);
        assert!(load.interval.0 >= Nanos::from_secs(86_400).0 / MEMORY.intervals * 128, "{}", load.interval);
    }

    #[test]
    fn limits_memory_of_stored_intervals() {
        for (parallel, bidirectional) in [(1, false), (128, false), (128, true)] {
            let timed = Params { tcp: true, parallel: Some(parallel), bidirectional, ..Params::default() };
            for params in [Params { num: i64::MAX, ..timed.clone() }, Params { time: 86_400, ..timed }] {
                let requested = StreamSettings { interval: Nanos(1), ..params.load() };
                let flows = params.streams().len() as u64;
                let stored = DAY.duration.0 / bounded(&requested, &DAY, MEMORY).interval.0 * flows;
                assert!(stored <= MEMORY.intervals + flows, "{stored} of {flows}");
            }
        }
        let requested = Params { tcp: true, time: 10, ..Params::default() }.load();
        let slow = StreamSettings { interval: Nanos::from_secs(60), ..requested };
        assert_eq!(bounded(&slow, &DAY, MEMORY).interval, slow.interval, "long intervals are not shortened");
    }

    #[test]
    fn limits_memory_of_limit_mode() {
        for (transport, flows, mode) in [
            (Transport::Tcp, 32, Mode::Limit),
            (Transport::Tcp, 33, Mode::App),
            (Transport::Udp, 64, Mode::Limit),
            (Transport::Udp, 65, Mode::App),
        ] {
            let affordable = |mode| affordable(mode, transport, flows, MEMORY.buffers);
            assert_eq!(affordable(Mode::Limit), mode, "{transport:?} {flows}");
            assert_eq!(affordable(Mode::App), Mode::App);
        }
    }

    #[test]
    fn accepts_huge_amount() {
        let params =
            Params { tcp: true, reverse: true, blockcount: i64::MAX, len: 1 << 20, ..Params::default() };
        check(&params, &[Some(u64::MAX)]);
    }
}
