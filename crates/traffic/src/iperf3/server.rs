//! The server's end of one iperf3 test: from judged parameters to the results of both ends.
//!
//! Its data connections are handed to it; it knows neither where they were accepted nor who else is served. The
//! engine moves the bytes on threads of its own, one thread beside them talks to the client.

mod control;
mod prepare;
mod watch;

use std::{
    net::{TcpStream, UdpSocket},
    sync::mpsc::Receiver,
    thread,
};

use load::{Direction, StreamLoad};
use units::Nanos;
use wire::iperf3::{ErrorCode, Params, PlannedStream, Results, server::Machine};

use self::{
    control::Control,
    prepare::Prepared,
    watch::{Ended, Tap, watch},
};
use super::{cpu::Cpu, extension, results};
use crate::{
    door::Limits,
    ends::Outcome,
    error::{Error, Result},
    observer::Observer,
    stop::Stop,
    stream::{self, Finish, Flow, FlowSocket, SERVER, Start, Told},
};

/// A data connection, with its place in the order in which all connections came.
#[derive(Debug)]
pub(crate) enum Arrival {
    Tcp { order: u64, socket: TcpStream },
    Udp { order: u64, socket: UdpSocket },
}

/// A test that may begin.
pub(crate) struct Visit {
    pub(crate) control: TcpStream,
    /// It awaits the judgement of the parameters.
    pub(crate) machine: Box<Machine>,
    pub(crate) params: Box<Params>,
    pub(crate) load: StreamLoad,
    pub(crate) arriving: Receiver<Arrival>,
    /// Called once no more data connections are awaited.
    pub(crate) gathered: Box<dyn FnOnce() + Send>,
}

/// What came of it, as far as it came.
#[derive(Debug, Default)]
pub(crate) struct Served {
    pub(crate) here: Option<Outcome>,
    pub(crate) there: Option<Outcome>,
    pub(crate) results: Option<Results>,
    /// Of dialects that count messages.
    pub(crate) messages: Option<wire::sockperf::Counts>,
    pub(crate) failure: Option<Error>,
}

/// Runs the test to its end.
pub(crate) fn serve(visit: Visit, limits: &Limits, stop: &Stop, observer: &dyn Observer) -> Served {
    let mut served = Served::default();
    let Visit { control, machine, params, load, arriving, gathered } = visit;
    let served_well = Control::new(control, machine).and_then(|mut control| {
        let plan = params.streams();
        let arrivals = control.gather(plan.len(), &arriving, stop);
        drop(arriving);
        gathered();
        let test = Test { params: &params, load: &load, plan: &plan, limits };
        test.run(&mut control, arrivals?, stop, observer, &mut served)
    });
    served.failure = served_well.err();
    served
}

struct Test<'a> {
    params: &'a Params,
    load: &'a StreamLoad,
    plan: &'a [PlannedStream],
    limits: &'a Limits,
}

impl Test<'_> {
    fn run(
        &self,
        control: &mut Control,
        arrivals: Vec<Arrival>,
        stop: &Stop,
        observer: &dyn Observer,
        served: &mut Served,
    ) -> Result<()> {
        let prepared = match prepare::prepare(arrivals, self.params, self.load, self.limits) {
            Ok(prepared) => prepared,
            Err((code, error)) => return control.refuse(code, error),
        };
        let cpu = Cpu::now();
        let (ended, outcome) = self.flow(control, prepared, stop, observer);
        let cpu = cpu.until_now();
        served.here = outcome.as_ref().ok().cloned();
        match (ended, outcome) {
            (Ended::Asked, Ok(outcome)) => self.exchange(control, &outcome, cpu, stop, served),
            (Ended::Asked, Err(error)) | (Ended::Engine, Err(error)) => {
                control.refuse(ErrorCode::STREAM_READ, error)
            }
            (Ended::Engine, Ok(_)) => control.refuse(ErrorCode::STREAM_CLOSED, Error::Stopped),
            (Ended::Failed(error), _) => Err(error),
        }
    }

    /// Lets the streams flow until the client says that the test is over, or something else ends it.
    fn flow(
        &self,
        control: &mut Control,
        prepared: Prepared,
        stop: &Stop,
        observer: &dyn Observer,
    ) -> (Ended, Result<Outcome>) {
        let Prepared { sockets, sending, receiving, cpu } = prepared;
        let (told, own) = (Told::default(), Stop::new());
        let mut ids = [0, 0];
        let flows = self.plan.iter().zip(sockets).map(|(planned, socket)| {
            let sends = planned.direction == Direction::Reverse;
            let id = ids[usize::from(sends)];
            ids[usize::from(sends)] += 1;
            flow((planned.direction, id), socket, if sends { &sending } else { &receiving }, cpu, &told)
        });
        let flows: Vec<_> = flows.collect();
        let tap = match control.begin() {
            Ok(go) => Tap::new(go, observer),
            Err(error) => return (Ended::Failed(error), Err(Error::Stopped)),
        };
        thread::scope(|scope| {
            let counts = tap.counts();
            let limits = self.limits;
            let (told, own) = (&told, &own);
            let watching = scope.spawn(move || watch(control, limits, &counts, told, own, stop));
            let outcome = stream::run(flows, own, &tap);
            tap.is_over();
            let ended = watching.join().unwrap_or_else(|_| {
                Ended::Failed(Error::Panicked { thread: "an iperf3 control connection".into() })
            });
            (ended, outcome)
        })
    }

    /// Tells the client what was seen here, and hears what was seen there.
    fn exchange(
        &self,
        control: &mut Control,
        outcome: &Outcome,
        cpu: [f64; 3],
        stop: &Stop,
        served: &mut Served,
    ) -> Result<()> {
        let mut results = results::results(outcome, self.plan, Direction::Reverse, cpu);
        if self.params.get_server_output {
            results.server_output_text = Some(super::text::report(outcome, self.plan, self.load));
        }
        if self.params.plumb.is_some() {
            results.plumb = extension::to_value(outcome, extension::FROM_SERVER);
        }
        let theirs = control.exchange(&results, stop)?;
        served.there = theirs.plumb.clone().and_then(extension::from_value);
        served.results = Some(theirs);
        Ok(())
    }
}

fn flow<'a>(
    (direction, id): (Direction, u32),
    socket: FlowSocket,
    load: &'a StreamLoad,
    cpu: Option<u32>,
    told: &'a Told,
) -> Flow<'a> {
    let peer = match &socket {
        FlowSocket::Tcp(socket) => socket.peer_addr().ok(),
        FlowSocket::Udp(socket, _) => socket.peer_addr().ok(),
    };
    Flow {
        id,
        direction,
        end: SERVER,
        name: Flow::name_of(direction, id, peer),
        socket,
        load,
        cpu,
        share: None,
        start: Start::Now,
        finish: Finish::Told(told),
    }
}

/// How long a control connection may take to accept what is said on it.
const PATIENCE: Nanos = Nanos::from_secs(10);
