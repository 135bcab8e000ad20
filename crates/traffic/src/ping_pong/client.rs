//! The end that sends first and measures.

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

/// How its threads are called.
const END: &str = "client";

/// Sends messages and takes their answers until the time is over.
///
/// # Errors
/// When a setting is invalid, the server cannot be reached, or ends the connection before its time.
pub(crate) fn run_client(
    spec: &ClientSpec<PingPongSettings>,
    stop: &Stop,
    observer: &dyn Observer,
) -> Result<Outcome<PingPongEnd>> {
    check(&spec.load)?;
    let beside = BackgroundStream::connect(spec, stop)?;
    let socket = match spec.load.transport {
        Transport::Tcp => tcp::connect(spec, stop)?,
        Transport::Udp => udp::connect(spec, stop)?,
    };
    beside.while_playing(stop, || {
        tcp::await_go(&socket, stop)?;
        let format = Message::new(spec.load.message.0 as usize, spec.token);
        let outcome = exchange(&socket, &format, &spec.load, spec.cpus.as_deref(), stop, observer);
        // A server that is not told keeps the client's place until it misses messages.
        if !socket.is_stream() && !matches!(outcome, Err(Error::Ended { .. })) {
            udp::take_leave(&socket, spec.token);
        }
        outcome
    })
}

/// Sends messages of any protocol over a socket that is connected, and records what comes back. It stays open;
/// a connection on which this has failed ends in a reset.
///
/// # Errors
/// When the peer ends a connection before its time or is not heard for long.
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

/// What one thread brings back.
struct Part {
    thread: ThreadCpu,
    noted: ThreadNotes,
    /// Of an open loop: the sender's lateness, the receiver's round trips.
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
        let noted = notes.finish();
        done.map(|()| Part { thread, noted, histogram: None })
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
        let noted = ThreadNotes { seen, ..ThreadNotes::default() };
        Ok(Part { thread, noted, histogram: Some(lateness) })
    };
    let receive = move || {
        pin(cpus, 1)?;
        recorder::prepare(shared);
        shared.wait_for_start()?;
        let spent = CpuMeter::from_now();
        let mut notes = Recorder::new(load, open.begin()?, shared);
        let done = open.receive(&reader, &mut notes);
        let thread = spent.until_now(END, ThreadRole::Ping);
        let mut noted = notes.finish();
        // Its schedule fills the time that was asked, whenever the last message came back.
        if !shared.ends_early() {
            noted.elapsed = noted.elapsed.max(load.duration);
        }
        done.map(|round_trips| Part { thread, noted, histogram: Some(round_trips) })
    };
    vec![
        Job {
            name: format!("the sender of {}", socket.name()),
            thread: socket.thread_name("ping out"),
            work: Box::new(send),
        },
        Job {
            name: format!("the receiver of {}", socket.name()),
            thread: socket.thread_name("ping in"),
            work: Box::new(receive),
        },
    ]
}

/// Binds the calling thread, number `thread` of its end.
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
        elapsed: last.noted.elapsed,
        lost: Some(recorded.lost),
        strays: Some(last.noted.strays),
        duplicates: Some(last.noted.duplicates),
        client: socket.facts(cpus),
        ..PingPongData::default()
    };
    let mut seen = last.noted.seen;
    let mut threads = vec![last.thread];
    if let (Some(sender), Some(round_trips)) = (parts.pop(), last.histogram) {
        let since_intended = std::mem::replace(&mut data.round_trips, round_trips);
        let lateness = sender.histogram.unwrap_or_default();
        data.open_loop = Some(OpenLoopData { since_intended, lateness });
        seen = seen.and(sender.noted.seen);
        threads.insert(0, sender.thread);
    }
    data.client.ran_on = seen.list();
    let measured = PingPongEnd { messages: MessagesEnd::Client(data), beside: StreamEnd::default() };
    Outcome { measured, threads }
}
