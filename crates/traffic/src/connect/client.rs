//! Client side, which opens one connection after another.

use std::{
    io::{self, Read, Write},
    net::{SocketAddr, TcpStream},
    thread,
    time::Duration,
};

use samples::{ThreadCpu, ThreadRole};
use socket2::{Protocol, Socket, Type};
use sys::clock::monotonic;
use units::Nanos;
use workload::{ConnectData, ConnectEnd, ConnectInterval, ConnectSettings, LatencyHistogram, SocketFacts};

use super::{
    CONTROL, COUNTED, GRACE, PATIENCE, check,
    grid::Grid,
    request::{Exchange, HEAD},
};
use crate::{
    dial::{self, Dial, is_under_way},
    error::{Error, Result},
    handshake::{Handshake, LENGTH, Purpose},
    observer::Observer,
    outcome::Outcome,
    socket::{TICK, apply, domain, limit_waits, tcp_facts},
    spec::ClientSpec,
    stop::Stop,
    workers::{self, CpuMeter, Job, SharedState, cpu_of},
};

const END: &str = "client";
/// The client pauses after a failed connection, so that it does not flood an unreachable server.
const PAUSE: Duration = Duration::from_millis(1);
const PIECE: usize = 64 << 10;

pub(crate) fn run_client(
    spec: &ClientSpec<ConnectSettings>,
    stop: &Stop,
    observer: &dyn Observer,
) -> Result<Outcome<ConnectEnd>> {
    check(&spec.load)?;
    let dial = Dial { bind: spec.bind, server: spec.server, settings: &spec.load.socket, number: 0 };
    let handshake = Handshake { token: spec.token, purpose: Purpose::Connect, number: CONTROL };
    let control = dial.connect(handshake, stop)?;
    let name = format!("connections to {}", spec.server);
    dial::await_go(&control, &name, || if stop.is_asked() { Err(Error::Stopped) } else { Ok(()) })?;
    let grid = Grid::new(&spec.load, monotonic());
    let shared = &SharedState::new(stop);
    let check_control = &|| dial::check_open(&control, &name);
    let job = |thread: u32| {
        let (name, caller) = (name.clone(), Caller::new(spec, grid));
        let work = {
            let name = name.clone();
            move || caller.run(thread, &name, shared, check_control)
        };
        Job { name, thread: format!("connect {thread}"), work: Box::new(work) as _ }
    };
    let parts = workers::run((0..spec.load.clients).map(job).collect(), shared, observer)?;
    let ended = monotonic();
    check_control()?;
    drop(control);
    Ok(outcome(parts, &grid, ended))
}

struct Part {
    thread: ThreadCpu,
    connects: LatencyHistogram,
    exchanges: LatencyHistogram,
    failed: u64,
    counts: Vec<(u64, u64)>,
    facts: Option<SocketFacts>,
    span: Option<(u64, u64)>,
}

struct Caller<'a> {
    spec: &'a ClientSpec<ConnectSettings>,
    grid: Grid,
    request: Vec<u8>,
    response: usize,
    piece: Vec<u8>,
}

struct Times {
    begun: u64,
    connected: u64,
    ended: u64,
}

impl<'a> Caller<'a> {
    fn new(spec: &'a ClientSpec<ConnectSettings>, grid: Grid) -> Self {
        let exchange = Exchange::of(&spec.load);
        let handshake = Handshake { token: spec.token, purpose: Purpose::Connect, number: COUNTED };
        let mut request = vec![0x5A; exchange.request as usize];
        request[..LENGTH].copy_from_slice(&handshake.encode());
        request[LENGTH..HEAD].copy_from_slice(&exchange.encode());
        let response = exchange.response as usize;
        Self { spec, grid, request, response, piece: vec![0; PIECE.min(response + 1)] }
    }

    fn run(
        mut self,
        thread: u32,
        name: &str,
        shared: &SharedState<'_>,
        check_control: &dyn Fn() -> Result<()>,
    ) -> Result<Part> {
        let cpu = cpu_of(self.spec.cpus.as_deref(), thread as usize);
        if let Some(cpu) = cpu {
            sys::affinity::pin_thread(&[cpu])?;
        }
        let mut notes = Notes::new(&self.grid);
        let mut facts = None;
        shared.wait_for_start()?;
        let spent = CpuMeter::from_now();
        let (mut wake, mut done, mut well) = (0, 0, monotonic());
        loop {
            let begun = monotonic();
            if begun >= self.grid.end {
                break;
            }
            if begun >= wake {
                if shared.ends_early() {
                    break;
                }
                shared.check()?;
                if thread == 0 {
                    check_control()?;
                }
                shared.add_round_trips(std::mem::take(&mut done));
                wake = begun + TICK.as_nanos() as u64;
            }
            match self.connection(&mut facts, cpu, || shared.check().is_ok()) {
                Ok(times) => {
                    notes.done(&self.grid, &times);
                    well = times.ended;
                    done += 1;
                }
                Err(_) if shared.ends_early() => break,
                Err(error) => {
                    shared.check()?;
                    let now = monotonic();
                    notes.failed(&self.grid, begun, now);
                    if now - well > GRACE.0 {
                        return Err(Error::socket("make", || name)(error));
                    }
                    thread::sleep(PAUSE);
                }
            }
        }
        shared.add_round_trips(done);
        let facts = facts.filter(|_| thread == 0);
        Ok(Part { thread: spent.until_now(END, ThreadRole::Ping), facts, ..notes.0 })
    }

    fn connection(
        &mut self,
        facts: &mut Option<SocketFacts>,
        cpu: Option<u32>,
        goes_on: impl Fn() -> bool,
    ) -> io::Result<Times> {
        let spec = self.spec;
        let socket = Socket::new(domain(spec.server), Type::STREAM, Some(Protocol::TCP))?;
        apply(&socket, &spec.load.socket, true).map_err(io::Error::other)?;
        limit_waits(&socket, TICK).map_err(io::Error::other)?;
        socket.bind(&SocketAddr::new(spec.bind, 0).into())?;
        let begun = monotonic();
        let bound = Deadline { until: begun + PATIENCE.0, goes_on };
        bound.ask(|| socket.connect(&spec.server.into()))?;
        let connected = monotonic();
        let socket = TcpStream::from(socket);
        self.exchange(&socket, &bound)?;
        let ended = monotonic();
        if facts.is_none() {
            *facts = Some(tcp_facts(&socket, cpu.as_ref().map(std::slice::from_ref)));
        }
        Ok(Times { begun, connected, ended })
    }

    fn exchange(&mut self, mut socket: &TcpStream, bound: &Deadline<impl Fn() -> bool>) -> io::Result<()> {
        let mut sent = 0;
        while sent < self.request.len() {
            sent += bound.ask(|| socket.write(&self.request[sent..]))?;
        }
        let mut got = 0;
        loop {
            match bound.ask(|| socket.read(&mut self.piece))? {
                0 if got == self.response => return Ok(()),
                0 => return Err(io::ErrorKind::UnexpectedEof.into()),
                read => got += read,
            }
            if got > self.response {
                return Err(io::ErrorKind::InvalidData.into());
            }
        }
    }
}

struct Deadline<G> {
    until: u64,
    goes_on: G,
}

impl<G: Fn() -> bool> Deadline<G> {
    /// Retries `call` until it succeeds. Checks the limits before each attempt, because a server that sends single
    /// bytes never lets a read time out.
    fn ask<T>(&self, mut call: impl FnMut() -> io::Result<T>) -> io::Result<T> {
        while monotonic() < self.until && (self.goes_on)() {
            match call() {
                Err(error) if is_under_way(&error) => {}
                other => return other,
            }
        }
        Err(io::ErrorKind::TimedOut.into())
    }
}

struct Notes(Part);

impl Notes {
    fn new(grid: &Grid) -> Self {
        let thread = ThreadCpu { end: END.into(), role: ThreadRole::Ping, busy: Nanos(0), elapsed: Nanos(0) };
        Self(Part {
            thread,
            connects: LatencyHistogram::new(),
            exchanges: LatencyHistogram::new(),
            failed: 0,
            counts: vec![(0, 0); grid.count()],
            facts: None,
            span: None,
        })
    }

    fn done(&mut self, grid: &Grid, times: &Times) {
        self.0.counts[grid.place(times.ended)].0 += 1;
        if times.begun >= grid.warm {
            self.0.connects.record(Nanos(times.connected - times.begun));
            self.0.exchanges.record(Nanos(times.ended - times.begun));
            self.span(times.begun, times.ended);
        }
    }

    fn failed(&mut self, grid: &Grid, begun: u64, ended: u64) {
        self.0.counts[grid.place(ended)].1 += 1;
        if begun >= grid.warm {
            self.0.failed += 1;
            self.span(begun, ended);
        }
    }

    fn span(&mut self, begun: u64, ended: u64) {
        let first = self.0.span.map_or(begun, |(first, _)| first);
        self.0.span = Some((first, ended));
    }
}

fn outcome(parts: Vec<Part>, grid: &Grid, ended: u64) -> Outcome<ConnectEnd> {
    let mut data = ConnectData {
        intervals: (0..grid.count()).map(|place| grid.interval(place, ended)).collect(),
        ..ConnectData::default()
    };
    let mut span: Option<(u64, u64)> = None;
    let mut threads = Vec::with_capacity(parts.len());
    for part in parts {
        data.connects.merge(&part.connects);
        data.exchanges.merge(&part.exchanges);
        data.failed += part.failed;
        for (interval, (done, failed)) in data.intervals.iter_mut().zip(part.counts) {
            add(interval, done, failed);
        }
        data.client = part.facts.unwrap_or(data.client);
        span =
            span.into_iter().chain(part.span).reduce(|one, other| (one.0.min(other.0), one.1.max(other.1)));
        threads.push(part.thread);
    }
    data.elapsed = Nanos(span.map_or(0, |(first, last)| last - first));
    if ended < grid.end {
        cut(&mut data.intervals, Nanos(ended - grid.begin));
    }
    Outcome { measured: ConnectEnd::Client(data), threads }
}

fn cut(intervals: &mut Vec<ConnectInterval>, ended: Nanos) {
    intervals.retain(|interval| interval.start < ended);
    if let Some(last) = intervals.last_mut() {
        last.end = ended;
    }
}

fn add(interval: &mut ConnectInterval, done: u64, failed: u64) {
    interval.done += done;
    interval.failed += failed;
}
