//! The background stream of a ping-pong, which runs from before the first message until after the last.

use std::{
    net::{TcpListener, TcpStream},
    thread,
};

use sys::clock::monotonic;
use units::Nanos;
use workload::{Direction, PingPongEnd, PingPongSettings, Schedule, StreamSettings, Transport, Until};

use crate::{
    dial::Dial,
    error::{Error, Result},
    gather,
    handshake::{Handshake, Purpose},
    outcome::{Outcome, StreamOutcome},
    socket::TICK,
    spec::{ClientSpec, ServerSpec},
    stop::Stop,
    stream::{self, CLIENT, Finish, Flow, FlowSocket, SERVER, Start},
    workers::cpu_of,
};

const LEAD: Nanos = Nanos::from_millis(200);
const SLACK: Nanos = Nanos::from_millis(20);

#[derive(Debug, Default)]
pub(super) struct BackgroundStream {
    load: Option<StreamSettings>,
    end: &'static str,
    cpus: Option<Vec<u32>>,
    thread: usize,
    flows: Vec<(Direction, u32, TcpStream)>,
}

pub(super) fn load(load: &PingPongSettings) -> Option<StreamSettings> {
    let under = load.under?;
    Some(StreamSettings {
        mode: under.mode,
        streams: under.streams,
        direction: under.direction,
        warmup: load.warmup + LEAD,
        message: under.message,
        rate: under.rate,
        socket: load.socket.clone(),
        interval: load.interval,
        ..StreamSettings::new(Until::Elapsed(load.duration))
    })
}

pub(super) const fn lead(load: &PingPongSettings) -> Nanos {
    if load.under.is_some() { LEAD } else { Nanos(0) }
}

impl BackgroundStream {
    pub(super) fn connect(spec: &ClientSpec<PingPongSettings>, stop: &Stop) -> Result<Self> {
        let Some(load) = load(&spec.load) else { return Ok(Self::default()) };
        let connect = |(place, (direction, id)): (u32, (Direction, u32))| {
            let purpose = Purpose::of(direction, Transport::Tcp);
            let handshake = Handshake { token: spec.token, purpose, number: id };
            let dial =
                Dial { bind: spec.bind, server: spec.server, settings: &load.socket, number: place + 1 };
            Ok((direction, id, dial.connect(handshake, stop)?))
        };
        let flows = (0..).zip(places(&load)).map(connect).collect::<Result<_>>()?;
        let thread = match spec.load.schedule {
            Schedule::Closed => 1,
            Schedule::Open { .. } => 2,
        };
        Ok(Self { load: Some(load), end: CLIENT, cpus: spec.cpus.clone(), thread, flows })
    }

    pub(super) fn gather(
        listener: &TcpListener,
        spec: &ServerSpec<PingPongSettings>,
        stop: &Stop,
    ) -> Result<(Self, Option<TcpStream>)> {
        let load = load(&spec.load);
        let places: Vec<_> = load.iter().flat_map(places).collect();
        let purpose = |direction| Purpose::of(direction, Transport::Tcp);
        let mut expected: Vec<_> = places.iter().map(|&(direction, id)| (purpose(direction), id)).collect();
        if spec.load.transport == Transport::Tcp {
            expected.push((Purpose::PingPong, 0));
        }
        let mut gathered = gather::gather(listener, spec.token, &expected, stop)?;
        let messages = gathered.remove(&(Purpose::PingPong, 0));
        let flows = places.into_iter().zip(gathered.into_values());
        let flows = flows.map(|((direction, id), socket)| (direction, id, socket)).collect();
        Ok((Self { load, end: SERVER, cpus: spec.cpus.clone(), thread: 1, flows }, messages))
    }

    pub(super) fn while_playing(
        self,
        stop: &Stop,
        play: impl FnOnce() -> Result<Outcome<PingPongEnd>>,
    ) -> Result<Outcome<PingPongEnd>> {
        let Self { load, end, cpus, thread, flows } = self;
        let Some(load) = &load else { return play() };
        let over = Stop::new();
        let flow = |(index, (direction, id, socket)): (usize, (Direction, u32, TcpStream))| Flow {
            id,
            direction,
            end,
            name: Flow::name_of(direction, id, socket.peer_addr().ok()),
            socket: FlowSocket::Tcp(socket),
            load,
            cpu: cpu_of(cpus.as_deref(), thread + index),
            share: None,
            start: Start::Go,
            finish: Finish::HalfClose,
        };
        let flows = flows.into_iter().enumerate().map(flow).collect();
        thread::scope(|scope| {
            let stream = scope.spawn(|| stream::run(flows, &over, &()));
            let played = if end == CLIENT { await_flow(stop) } else { Ok(()) }.and_then(|()| play());
            if played.is_err() {
                over.ask();
            }
            let streamed = stream
                .join()
                .unwrap_or_else(|_| Err(Error::Panicked { thread: "the background stream".into() }));
            join(played, streamed)
        })
    }
}

fn places(load: &StreamSettings) -> impl Iterator<Item = (Direction, u32)> + use<> {
    let streams = load.streams;
    load.direction.flows().iter().flat_map(move |&direction| (0..streams).map(move |id| (direction, id)))
}

fn await_flow(stop: &Stop) -> Result<()> {
    let until = monotonic() + (LEAD - SLACK).0;
    while monotonic() < until {
        if stop.is_asked() {
            return Err(Error::Stopped);
        }
        thread::sleep(TICK.min((LEAD - SLACK).into()));
    }
    Ok(())
}

fn join(
    played: Result<Outcome<PingPongEnd>>,
    streamed: Result<StreamOutcome>,
) -> Result<Outcome<PingPongEnd>> {
    // If both failed, the ping-pong's failure caused the stream's.
    let (played, streamed) = (played?, streamed?);
    let threads = [played.threads, streamed.threads].concat();
    let measured = PingPongEnd { background: streamed.measured, ..played.measured };
    Ok(Outcome { measured, threads })
}
