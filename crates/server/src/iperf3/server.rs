//! The server side of an iperf3 test. Engine threads move the data while this thread talks to the client.

mod control;
mod prepare;
mod watch;

use std::{
    net::{TcpStream, UdpSocket},
    sync::mpsc::Receiver,
    thread,
    time::{SystemTime, UNIX_EPOCH},
};

use codecs::iperf3::{Cookie, ErrorCode, Params, PlannedStream, server::Machine};
use samples::UnixMillis;
use traffic::{
    Error, Observer, Outcome, Result, Stop, StreamOutcome,
    stream::{self, EndFlag, Finish, Flow, FlowSocket, SERVER, Start},
    workers::cpu_of,
};
use units::Nanos;
use workload::{Direction, StreamSettings};

pub(crate) use self::prepare::Memory;
use self::{
    control::Control,
    prepare::Prepared,
    watch::{CountingObserver, EngineEndGuard, TestBounds, TestEnd, least_progress, watch},
};
use super::{
    Connection,
    cpu::Cpu,
    document::{Facts, Role},
    extension, results,
};
use crate::{Limits, Report};

#[derive(Debug)]
pub(crate) enum DataConnection {
    Tcp { order: u64, socket: TcpStream },
    Udp { order: u64, socket: UdpSocket },
}

pub(crate) struct AdmittedTest {
    pub(crate) control: TcpStream,
    pub(crate) cookie: Cookie,
    pub(crate) machine: Box<Machine>,
    pub(crate) params: Box<Params>,
    pub(crate) load: StreamSettings,
    pub(crate) memory: Memory,
    pub(crate) arriving: Receiver<DataConnection>,
    pub(crate) patience: Nanos,
    pub(crate) gathered: Box<dyn FnOnce() + Send>,
}

pub(crate) fn serve(admitted: AdmittedTest, limits: &Limits, stop: &Stop, observer: &dyn Observer) -> Report {
    let mut report = Report::default();
    let AdmittedTest { control, cookie, machine, params, load, memory, arriving, patience, gathered } =
        admitted;
    let ended = Control::new(control, machine).and_then(|mut control| {
        let plan = params.streams();
        let arrivals = control.gather(plan.len(), &arriving, stop);
        drop(arriving);
        gathered();
        let (params, load, plan) = (&*params, &load, &*plan);
        let test = Test { cookie, started: now(), params, load, memory, plan, limits, patience };
        test.run(&mut control, arrivals?, stop, observer, &mut report)
    });
    report.failure = ended.err();
    report
}

struct Test<'a> {
    cookie: Cookie,
    started: UnixMillis,
    params: &'a Params,
    load: &'a StreamSettings,
    memory: Memory,
    plan: &'a [PlannedStream],
    limits: &'a Limits,
    patience: Nanos,
}

impl Test<'_> {
    fn run(
        &self,
        control: &mut Control,
        arrivals: Vec<DataConnection>,
        stop: &Stop,
        observer: &dyn Observer,
        report: &mut Report,
    ) -> Result<()> {
        let prepared = match prepare::prepare(arrivals, self.params, self.load, self.limits, self.memory) {
            Ok(prepared) => prepared,
            Err((code, error)) => return control.refuse(code, error),
        };
        let cpu = Cpu::now();
        let (ended, outcome) = self.flow(control, prepared, stop, observer);
        let cpu = cpu.until_now();
        report.here = outcome.as_ref().ok().cloned().map(Outcome::of_any_kind);
        match (ended, outcome) {
            (TestEnd::Asked, Ok(outcome)) => self.exchange(control, &outcome, cpu, stop, report),
            (TestEnd::Asked, Err(error)) | (TestEnd::Engine, Err(error)) => {
                control.refuse(code_of(&error), error)
            }
            (TestEnd::Engine, Ok(_)) => control.refuse(ErrorCode::STREAM_CLOSED, Error::Stopped),
            (TestEnd::Failed(error), _) => Err(error),
        }
    }

    fn flow(
        &self,
        control: &mut Control,
        prepared: Prepared,
        stop: &Stop,
        observer: &dyn Observer,
    ) -> (TestEnd, Result<StreamOutcome>) {
        let Prepared { sockets, shares, sending, receiving, cpus } = prepared;
        let (end, own) = (EndFlag::default(), Stop::new());
        let open: Vec<_> = sockets.iter().filter_map(copy).collect();
        let expected = shares.iter().all(Option::is_some);
        let mut ids = [0, 0];
        let flows = self.plan.iter().zip(sockets).zip(shares).enumerate().map(|(thread, planned)| {
            let ((planned, socket), share) = planned;
            let sends = planned.direction == Direction::Reverse;
            let id = ids[usize::from(sends)];
            ids[usize::from(sends)] += 1;
            let load = if sends { &sending } else { &receiving };
            let cpu = cpu_of(cpus.as_deref(), thread);
            Flow { share, cpu, ..flow((planned.direction, id), socket, load, &end) }
        });
        let flows: Vec<_> = flows.collect();
        let alive = if self.sends() { control.keep_alive(self.patience) } else { Ok(()) };
        let counting = match alive.and_then(|()| control.begin()) {
            Ok(go) => CountingObserver::new(go, observer),
            Err(error) => return (TestEnd::Failed(error), Err(Error::Stopped)),
        };
        let ended = thread::scope(|scope| {
            let counts = counting.counts();
            let (end, own) = (&end, &own);
            let plumb = self.params.plumb.is_some();
            let (patience, least) = (self.patience, least_progress(self.load, self.patience));
            let bounds = TestBounds { limits: self.limits, patience, least, stop, plumb };
            let watching = scope.spawn(move || watch(control, &bounds, &counts, end, own));
            let _over = EngineEndGuard(&counting);
            let outcome = stream::run(flows, own, &counting);
            counting.is_over(expected, outcome.is_err());
            let ended = watching.join().unwrap_or_else(|_| {
                TestEnd::Failed(Error::Panicked { thread: "an iperf3 control connection".into() })
            });
            (ended, outcome)
        });
        drop(open);
        ended
    }

    fn sends(&self) -> bool {
        self.plan.iter().any(|planned| planned.direction == Direction::Reverse)
    }

    fn exchange(
        &self,
        control: &mut Control,
        outcome: &StreamOutcome,
        cpu: [f64; 3],
        stop: &Stop,
        report: &mut Report,
    ) -> Result<()> {
        let mut results = results::results(outcome, self.plan, Direction::Reverse, cpu);
        if self.params.get_server_output {
            results.server_output_text = Some(super::text::report(outcome, self.plan, self.load));
        }
        if self.params.plumb.is_some() {
            results.plumb = extension::encode(outcome, extension::LONGEST);
        }
        let mut theirs = control.exchange(&results, stop)?;
        let record = theirs.plumb.take().filter(|_| self.params.plumb.is_some());
        report.there = record.and_then(|record| extension::decode(&record, self.plan));
        report.output = control.peer().map(|client| {
            let facts = Facts {
                role: Role::Server { client },
                params: self.params,
                load: self.load,
                here: outcome,
                there: Some(&theirs),
                connections: &connections(outcome),
                cookie: self.cookie.as_str(),
                control_mss: control.mss(),
                started: self.started,
                cpu,
                every: EVERY,
            };
            Box::new(facts.document())
        });
        report.results = Some(theirs);
        Ok(())
    }
}

fn code_of(error: &Error) -> ErrorCode {
    match error {
        Error::System(error) if error.operation.starts_with("pin ") => ErrorCode::AFFINITY,
        _ => ErrorCode::STREAM_READ,
    }
}

fn connections(outcome: &StreamOutcome) -> Vec<Connection> {
    let addresses = outcome.measured.flows.iter().map(|flow| flow.series.socket.addresses.as_deref());
    let both = addresses.filter_map(|pair| {
        let (local, remote) = pair?.split_once(" -> ")?;
        Some(Connection { local: local.parse().ok()?, remote: remote.parse().ok()? })
    });
    both.collect()
}

fn now() -> UnixMillis {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    UnixMillis(i64::try_from(since.as_millis()).unwrap_or(i64::MAX))
}

fn flow<'a>(
    (direction, id): (Direction, u32),
    socket: FlowSocket,
    load: &'a StreamSettings,
    end: &'a EndFlag,
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
        cpu: None,
        share: None,
        start: Start::Now,
        finish: Finish::External(end),
    }
}

fn copy(socket: &FlowSocket) -> Option<TcpStream> {
    match socket {
        FlowSocket::Tcp(socket) => socket.try_clone().ok(),
        FlowSocket::Udp(..) => None,
    }
}

const EVERY: Nanos = Nanos::from_secs(1);
