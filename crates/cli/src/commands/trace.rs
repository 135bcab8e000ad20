//! `plumb trace`: traces a running program's system calls and CPU use, without a lab.

mod comparison;
mod flags;
pub(crate) mod launch;
mod live;
mod rendering;
mod session;
pub(crate) mod target;
mod wait;

use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering},
};

use probe::Qemu;
use samples::{Environment, ProbeKind, TRACE_SCHEMA, Trace, TraceEnd, UnixMillis};
use units::Nanos;

pub(crate) use flags::TraceArgs;

use self::{
    launch::Launch,
    live::Live,
    rendering::Destination,
    session::{Fallback, Observations, Probes},
    target::Resolved,
    wait::{Alive, Waiting},
};
use crate::program::TOOL;
use crate::{exit::Exit, interrupt, output};

pub(crate) fn run(args: &TraceArgs) -> anyhow::Result<Exit> {
    let written = Destination::resolved(args)?;
    match &args.what.compare {
        Some(files) => comparison::run(files, &written),
        None => trace(args, &written),
    }
}

fn trace(args: &TraceArgs, written: &Destination) -> anyhow::Result<Exit> {
    let waiting = Waiting::from_flags(args)?;
    let stop = Arc::new(AtomicBool::new(false));
    interrupt::set_on_signal(&stop)?;
    let launch = Launch::start(&args.command)?;
    let found = target::find(&args.what, launch.as_ref())?;
    let probes = Probes::load(&args.probes(), Fallback::of(args))?;
    if written.is_json() {
        probes
            .missing()
            .iter()
            .for_each(|it| output::aside(format_args!("note: without {}: {}", it.probe.word(), it.reason)));
    }
    let mut live = Live::new(args);
    let session = Session::begin(found);
    let mut watching = probes.start(&session.found)?;
    let alive = match launch {
        Some(launch) => Alive::Started(launch.go()?),
        None => Alive::of(&session.found),
    };
    let ended = waiting.for_end(&alive, &stop, || {
        live.show(watching.now()?, |observations| session.trace(observations, TraceEnd::TimeOver))
    });
    live.end();
    let observations = watching.end()?;
    let trace = session.trace(observations, ended?);
    written.write(&trace)?;
    Ok(match &trace.ended {
        _ if stop.load(Ordering::Relaxed) => Exit::Interrupted,
        TraceEnd::TargetEnded { status: Some(status) } => wait::exit(status),
        _ => Exit::Success,
    })
}

pub(crate) fn of_qemu(
    qemu: Qemu,
    named: &str,
    length: Option<Nanos>,
    stop: &AtomicBool,
) -> anyhow::Result<Trace> {
    let waiting = Waiting::of(length, Nanos(0), true)?;
    let probes = Probes::load(&[ProbeKind::Cpu, ProbeKind::Syscalls], Fallback::None)?;
    let session = Session::begin(target::of_qemu(qemu, named));
    let watching = probes.start(&session.found)?;
    let ended = waiting.for_end(&Alive::of(&session.found), stop, || Ok(()));
    let observations = watching.end()?;
    Ok(session.trace(observations, ended?))
}

struct Session {
    found: Resolved,
    started: UnixMillis,
    environment: Environment,
}

impl Session {
    fn begin(found: Resolved) -> Self {
        let started = watch::now();
        Self { found, started, environment: probe::environment() }
    }

    fn trace(&self, observations: Observations, ended: TraceEnd) -> Trace {
        Trace {
            schema: TRACE_SCHEMA,
            tool: TOOL.to_owned(),
            started: self.started,
            target: self.found.target.clone(),
            ended,
            environment: self.environment.clone(),
            probes: observations.probes,
            missing: observations.missing,
            observed: observations.observed,
            devices: observations.devices,
            softnet: observations.softnet,
        }
    }
}
