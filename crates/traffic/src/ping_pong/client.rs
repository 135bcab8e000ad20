//! Client side of a ping-pong, which sends first and measures.

use samples::{ThreadCpu, ThreadRole};
use sys::clock::monotonic;
use workload::{
    LatencyHistogram, MessagesEnd, OpenLoopData, PingPongData, PingPongEnd, PingPongSettings, Schedule,
    StreamEnd, Transport,
};

use super::{
    check, closed,
    interval_recorder::{IntervalRecorder, RecordedIntervals},
    message::{Format, Message},
    message_socket::MessageSocket,
    open::Open,
    recorder::{self, Recorder, ThreadNotes},
    tcp, udp,
    under::BackgroundStream,
};
use crate::{
    error::{Error, Result},
    observer::Observer,
    outcome::Outcome,
    spec::ClientSpec,
    stop::Stop,
    workers::{self, CpuMeter, Job, SharedState, cpu_of},
};

const END: &str = "client";

pub(crate) fn run_client(
    spec: &ClientSpec<PingPongSettings>,
    stop: &Stop,
    observer: &dyn Observer,
) -> Result<Outcome<PingPongEnd>> {
    check(&spec.load)?;
    let background = BackgroundStream::connect(spec, stop)?;
    let socket = match spec.load.transport {
        Transport::Tcp => tcp::connect(spec, stop)?,
        Transport::Udp => udp::connect(spec, stop)?,
    };
    background.while_playing(stop, || {
        tcp::await_go(&socket, stop)?;
        let format = Message::new(spec.load.message.0 as usize, spec.token);
        let outcome = exchange(&socket, &format, &spec.load, spec.cpus.as_deref(), stop, observer);
        // If the server were not notified, it would keep the client's slot until the timeout.
        if !socket.is_stream() && !matches!(outcome, Err(Error::Ended { .. })) {
            udp::take_leave(&socket, spec.token);
        }
        outcome
    })
}

/// Leaves the socket open. After an error, closing it resets the connection. Fails if the peer closes the connection
/// early or is silent for too long.
pub fn exchange<F: Format>(
    socket: &MessageSocket,
    format: &F,
    load: &PingPongSettings,
    cpus: Option<&[u32]>,
    stop: &Stop,
    observer: &dyn Observer,
) -> Result<Outcome<PingPongEnd>> {
    let shared = SharedState::new(stop);
    let recorder = IntervalRecorder::new(observer);
    let parts = match load.schedule {
        Schedule::Closed => {
            workers::run(vec![closed_job(socket, format, load, cpus, &shared)], &shared, &recorder)
        }
        Schedule::Open { period } => {
            let open = Open::new(socket, load, period, &shared);
            workers::run(open_jobs(&open, socket, format, load, cpus, &shared), &shared, &recorder)
        }
    };
    match parts {
        Ok(parts) => Ok(outcome(parts, recorder.into_recorded(), socket, cpus)),
        Err(error) => {
            socket.abort()?;
            Err(error)
        }
    }
}

struct Part {
    thread: ThreadCpu,
    recorded: ThreadNotes,
    histogram: Option<LatencyHistogram>,
}

fn closed_job<'a, F: Format + 'a>(
    socket: &'a MessageSocket,
    format: &F,
    load: &'a PingPongSettings,
    cpus: Option<&'a [u32]>,
    shared: &'a SharedState<'a>,
) -> Job<'a, Part> {
    let format = format.clone();
    let work = move || {
        pin(cpus, 0)?;
        let length = load.message.0 as usize;
        recorder::prepare(shared);
        shared.wait_for_start()?;
        let spent = CpuMeter::from_now();
        let mut notes = Recorder::new(load, monotonic(), shared);
        let done = shared.ended(closed::run(socket, format, length, &mut notes));
        let thread = spent.until_now(END, ThreadRole::Ping);
        let recorded = notes.finish();
        done.map(|()| Part { thread, recorded, histogram: None })
    };
    Job { name: socket.name().to_owned(), thread: socket.thread_name("ping"), work: Box::new(work) }
}

fn open_jobs<'a, F: Format + 'a>(
    open: &'a Open<'a>,
    socket: &'a MessageSocket,
    format: &F,
    load: &'a PingPongSettings,
    cpus: Option<&'a [u32]>,
    shared: &'a SharedState<'a>,
) -> Vec<Job<'a, Part>> {
    let (writer, reader) = (format.clone(), format.clone());
    let send = move || {
        pin(cpus, 0)?;
        shared.wait_for_start()?;
        let spent = CpuMeter::from_now();
        let (lateness, seen) = open.send(writer)?;
        let thread = spent.until_now(END, ThreadRole::Ping);
        let recorded = ThreadNotes { seen, ..ThreadNotes::default() };
        Ok(Part { thread, recorded, histogram: Some(lateness) })
    };
    let receive = move || {
        pin(cpus, 1)?;
        recorder::prepare(shared);
        shared.wait_for_start()?;
        let spent = CpuMeter::from_now();
        let mut notes = Recorder::new(load, open.begin()?, shared);
        let done = open.receive(&reader, &mut notes);
        let thread = spent.until_now(END, ThreadRole::Ping);
        let mut recorded = notes.finish();
        if !shared.ends_early() {
            recorded.elapsed = recorded.elapsed.max(load.duration);
        }
        done.map(|round_trips| Part { thread, recorded, histogram: Some(round_trips) })
    };
    let job = |end: &str, thread: &str, work| {
        let name = format!("the {end} of {}", socket.name());
        Job { name, thread: socket.thread_name(thread), work }
    };
    vec![job("sender", "ping out", Box::new(send)), job("receiver", "ping in", Box::new(receive))]
}

pub(super) fn pin(cpus: Option<&[u32]>, thread: usize) -> Result<()> {
    cpu_of(cpus, thread).map_or(Ok(()), |cpu| Ok(sys::affinity::pin_thread(&[cpu])?))
}

fn outcome(
    mut parts: Vec<Part>,
    recorded: RecordedIntervals,
    socket: &MessageSocket,
    cpus: Option<&[u32]>,
) -> Outcome<PingPongEnd> {
    let last = parts.pop().expect("one worker or two");
    let mut data = PingPongData {
        round_trips: recorded.measured,
        intervals: recorded.intervals,
        elapsed: last.recorded.elapsed,
        lost: Some(recorded.lost),
        strays: Some(last.recorded.strays),
        duplicates: Some(last.recorded.duplicates),
        client: socket.facts(cpus),
        ..PingPongData::default()
    };
    let mut seen = last.recorded.seen;
    let mut threads = vec![last.thread];
    if let (Some(sender), Some(round_trips)) = (parts.pop(), last.histogram) {
        let since_intended = std::mem::replace(&mut data.round_trips, round_trips);
        let lateness = sender.histogram.unwrap_or_default();
        data.open_loop = Some(OpenLoopData { since_intended, lateness });
        seen = seen.and(sender.recorded.seen);
        threads.insert(0, sender.thread);
    }
    data.client.ran_on = seen.list();
    let measured = PingPongEnd { messages: MessagesEnd::Client(data), background: StreamEnd::default() };
    Outcome { measured, threads }
}
