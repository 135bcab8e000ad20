//! A run that is conducted in a virtual hypervisor instead of here: boots it, hands the run over, and keeps and tells
//! what comes of it, trial by trial. Must not know how a run is conducted.

use std::{
    io::Write,
    path::Path as FilePath,
    sync::mpsc::{Receiver, RecvTimeoutError, sync_channel},
    thread,
    time::{Duration, Instant},
};

use machine::{Kernel, Machine};
use protocol::{ChannelError, Commission, FromConductor, Hello, LineLimit, RunEvent, ToConductor};
use samples::{RunHeader, Sink};
use scenario::{HostName, Lab, Path, Plan, Scenario};
use units::Bytes;
use workload::LiveRate;

use crate::{
    allowance,
    error::RunError,
    event::{Event, Observer},
    run::{Outcome, Request, keep},
    run_time::run_time,
    skip::MissingCapabilities,
    stop::Stop,
};

/// What errors call the machine.
const NAME: &str = "hypervisor";
/// Its guests boot in it one instruction at a time, each twice if it must, and until they have, nothing is told ...
const PATIENCE: Duration = Duration::from_secs(400);
/// ... for so many times what it took to boot itself, where that is more: the machine has other work, or is slow.
const BOOTS: u32 = 80;
/// What it may take to lower the lab when the end is asked for.
const LAST_PATIENCE: Duration = Duration::from_secs(20);
const GLANCE: Duration = Duration::from_millis(50);

/// Boots a virtual hypervisor, has the run conducted there, and keeps every trial as it ends. `because` is what this
/// machine lacks.
///
/// Must be called from a thread that lives as long as the run.
///
/// # Errors
/// When the hypervisor cannot be booted or is lost, the run ends early there, a record cannot be kept, or the user asks
/// for the end. Finished trials are kept.
pub fn run_inside<S: Sink>(
    request: &Request<'_>,
    because: &str,
    sink: &mut S,
    observer: &mut dyn Observer,
    stop: &Stop,
) -> Result<Outcome, RunError> {
    observer.event(&Event::Step("booting a virtual hypervisor"));
    observer.event(&Event::Boots { host: NAME });
    let host = HostName::new(NAME);
    let kernel = Kernel::installed().map_err(machine::MachineError::from)?;
    let (guests, firecracker) = (memory_of(&request.scenario.lab), request.firecracker.as_deref());
    let mut machine = machine::hypervisor(host, kernel, &request.agent, guests, firecracker)?;
    let mut hypervisor = Hypervisor::start(&mut machine, request.plan)?;
    hypervisor.send(&ToConductor::Hello(Hello::new(request.tool)))?;
    hypervisor.send(&ToConductor::Conduct(Box::new(commission(request, because))))?;
    follow(&mut hypervisor, request, sink, observer, stop)
}

/// What the ends of a plan's paths need that this machine lacks and a virtual hypervisor has, if there is anything;
/// `firecracker` is where that is, if it was named.
#[must_use]
pub fn lacks_for_guests(scenario: &Scenario, plan: &Plan, firecracker: Option<&FilePath>) -> Option<String> {
    let planned = |path: &&Path| plan.cells.iter().any(|cell| cell.path == path.name);
    let lacks = MissingCapabilities::of(&scenario.lab, &[], firecracker);
    scenario.paths.iter().filter(planned).find_map(|path| lacks.of_machine(path))
}

fn commission(request: &Request<'_>, because: &str) -> Commission {
    Commission {
        text: request.text.to_owned(),
        plan: request.plan.clone(),
        id: request.id.clone(),
        tries: request.tries.cloned(),
        resume: request.resume.cloned(),
        keep_disturbed: request.keep_disturbed,
        because: because.to_owned(),
    }
}

/// What the guests of a lab need together.
fn memory_of(lab: &Lab) -> Bytes {
    lab.hosts.iter().filter_map(|host| host.vm.as_ref()).map(|vm| vm.memory).sum()
}

/// A hypervisor that was started.
struct Hypervisor<'a> {
    machine: &'a mut dyn Machine,
    to: protocol::Sender<Box<dyn Write + Send>>,
    heard: Receiver<Result<FromConductor, ChannelError>>,
    started: Instant,
}

impl<'a> Hypervisor<'a> {
    fn start(machine: &'a mut dyn Machine, plan: &Plan) -> Result<Self, RunError> {
        let started = Instant::now();
        let channels = machine.start()?;
        let (to_us, heard) = sync_channel(allowance::WAITING);
        let limit = LineLimit::new(allowance::conducted(plan));
        let mut from = protocol::Receiver::bounded(channels.from_agent, limit);
        thread::spawn(move || {
            loop {
                let said = from.receive();
                let ended = said.is_err();
                if to_us.send(said).is_err() || ended {
                    return;
                }
            }
        });
        Ok(Self { machine, to: protocol::Sender::new(channels.to_agent), heard, started })
    }

    fn send(&mut self, message: &ToConductor) -> Result<(), RunError> {
        self.to.send(message).map_err(|source| self.lost(source))
    }

    /// What it says next, if it says anything within a glance.
    fn hear(&self) -> Result<Option<FromConductor>, RunError> {
        match self.heard.recv_timeout(GLANCE) {
            Ok(said) => said.map(Some).map_err(|source| self.lost(source)),
            Err(RecvTimeoutError::Timeout) => Ok(None),
            Err(RecvTimeoutError::Disconnected) => Err(self.lost(ChannelError::Closed)),
        }
    }

    fn now(&self) -> (Instant, Duration) {
        (Instant::now(), self.machine.starved())
    }

    /// Whether it ran for so long since then; time without a CPU does not count.
    fn is_late(&self, (since, starved): (Instant, Duration), patience: Duration) -> bool {
        let waited = || since.elapsed().saturating_sub(self.machine.starved().saturating_sub(starved));
        since.elapsed() > patience && waited() > patience
    }

    fn lost(&self, source: ChannelError) -> RunError {
        RunError::Agent { host: NAME.to_owned(), source, said: self.machine.condition().last_output }
    }

    fn silent(&self, waited: Duration) -> RunError {
        let seconds = waited.as_secs_f64();
        RunError::Silent {
            host: NAME.to_owned(),
            what: "conduct the run",
            seconds,
            said: self.machine.condition().last_output,
        }
    }
}

/// Keeps and tells what it says until the run is over.
fn follow<S: Sink>(
    hypervisor: &mut Hypervisor<'_>,
    request: &Request<'_>,
    sink: &mut S,
    observer: &mut dyn Observer,
    stop: &Stop,
) -> Result<Outcome, RunError> {
    let mut ledger = Ledger { request, sink, observer, header: None };
    let (mut patience, mut asked) = (hypervisor.machine.boot().patience, false);
    let mut boot = None;
    // When it spoke last, and how long it had been starved by then.
    let mut last = (Instant::now(), Duration::ZERO);
    loop {
        if stop.is_asked() && !asked {
            hypervisor.send(&ToConductor::Stop)?;
            (patience, asked, last) = (LAST_PATIENCE, true, hypervisor.now());
        }
        let Some(said) = hypervisor.hear()? else {
            match hypervisor.is_late(last, patience) {
                true if asked => return Err(RunError::Interrupted),
                true => return Err(hypervisor.silent(last.0.elapsed())),
                false => continue,
            }
        };
        if !asked {
            let boot = *boot.get_or_insert_with(|| hypervisor.started.elapsed());
            (patience, last) = (PATIENCE.max(boot * BOOTS), hypervisor.now());
        }
        match said {
            FromConductor::Hello(hello) => {
                hello.accept().map_err(|source| hypervisor.lost(source))?;
                ledger.booted(hypervisor.started.elapsed());
            }
            FromConductor::Over { made, skipped } => {
                return Ok(Outcome { id: request.id.clone(), made, skipped });
            }
            FromConductor::Failed { interrupted: true, .. } => return Err(RunError::Interrupted),
            FromConductor::Failed { because, .. } => return Err(RunError::Inside { because }),
            said => ledger.take(said)?,
        }
    }
}

/// Where what is said goes.
struct Ledger<'a, S> {
    request: &'a Request<'a>,
    sink: &'a mut S,
    observer: &'a mut dyn Observer,
    header: Option<RunHeader>,
}

impl<S: Sink> Ledger<'_, S> {
    fn booted(&mut self, within: Duration) {
        let Request { scenario, plan, resume, .. } = self.request;
        let boots = run_time(scenario, plan, within.into(), true);
        // What is left of one that goes on is shown as it goes on.
        let whole = match resume {
            None => format!(
                ": with its guests' boots the run takes about {:.0} min",
                (boots.seconds() / 60.0).max(1.0)
            ),
            Some(_) => String::new(),
        };
        self.observer.event(&Event::Booted { host: NAME, within: within.into() });
        self.observer.event(&Event::Notice(&format!("the hypervisor booted in {within:.1?}{whole}")));
    }

    fn take(&mut self, said: FromConductor) -> Result<(), RunError> {
        let run = &self.request.id;
        match said {
            FromConductor::Begin(header) if header.id != *run => {
                let because = format!("it began the run {}, and {run} was asked for", header.id);
                return Err(RunError::Inside { because });
            }
            FromConductor::Begin(header) => {
                self.sink.begin(&header).map_err(keep)?;
                self.header = Some(*header);
            }
            FromConductor::Trial(trial) => {
                self.sink.trial(run, &trial).map_err(keep)?;
                self.observer.event(&Event::Kept(&trial));
            }
            FromConductor::Skip(skip) => {
                self.sink.skipped(run, &skip).map_err(keep)?;
                self.observer.event(&Event::Skipped(&skip));
            }
            FromConductor::End(end) => self.sink.ended(run, &end).map_err(keep)?,
            FromConductor::MachineChanged(change) => {
                self.sink.machine_changed(run, &change).map_err(keep)?;
            }
            FromConductor::Complete => self.sink.complete(run).map_err(keep)?,
            FromConductor::Told(told) => self.tell(&told),
            FromConductor::Hello(_) | FromConductor::Over { .. } | FromConductor::Failed { .. } => {}
        }
        Ok(())
    }

    fn tell(&mut self, told: &RunEvent) {
        let header = || self.header.as_ref().or(self.request.resume.map(|record| &record.header));
        let rate;
        let event = match told {
            RunEvent::Step { text } => Event::Step(text),
            RunEvent::Begun => match header() {
                Some(header) => Event::Begun(header),
                None => return,
            },
            RunEvent::Trial { planned, cell } => Event::Trial { planned, cell },
            RunEvent::Rate { elapsed, per_second, text } => {
                rate = LiveRate { per_second: *per_second, text: text.clone() };
                Event::Rate { elapsed: *elapsed, rate: &rate }
            }
            RunEvent::Boots { host } => Event::Boots { host },
            RunEvent::Booted { host, within } => Event::Booted { host, within: *within },
            RunEvent::Decided(decided) => Event::Decided(decided),
            RunEvent::Notice { text } => Event::Notice(text),
        };
        self.observer.event(&event);
    }
}

#[cfg(test)]
mod tests;
