//! Boots a virtual hypervisor, runs the scenario in it, and stores the trials as they arrive.

use std::{
    io::Write,
    path::Path as FilePath,
    sync::mpsc::{Receiver, RecvTimeoutError, sync_channel},
    thread,
    time::{Duration, Instant},
};

use machine::{
    ConfiguredKernel, FunctionInstructions, InstructionCounter, Kernel, Machine, Qemu, Symbols, Wait,
};
use protocol::{ChannelError, Commission, FromNestedRun, Hello, LineLimit, RunEvent, ToNestedRun};
use samples::{FunctionCount, InstructionCounts, RunHeader, Sink, SkippedResult, Trial, ValidityWarning};
use scenario::{GuestKernel, Host, HostName, Lab, Link, Path, Plan, Scenario};
use units::{Bytes, Nanos};
use workload::LiveRate;

use crate::{
    allowance,
    error::RunError,
    event::{Event, Observer},
    request::Request,
    run::Outcome,
    run_time::run_time,
    skip::MissingCapabilities,
    stop::Stop,
};

const NAME: &str = "hypervisor";
/// The longest silence of a booted hypervisor. Its guests are emulated and boot slowly, sometimes twice.
const PATIENCE: Duration = Duration::from_secs(600);
/// The same limit for slow or busy machines, as a multiple of the hypervisor's own boot time.
const BOOTS: u32 = 40;
/// The time allowed for removing the lab after an interrupt.
const LAST_PATIENCE: Duration = Duration::from_secs(20);
const POLL: Duration = Duration::from_millis(50);
/// The approximate time for executing a second's worth of instructions while counting them.
pub const COUNTED_SLOWDOWN: u64 = 10;
/// Functions with less than this share of a trial's instructions are not recorded.
const LEAST_SHARE: f64 = 0.0002;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Inside {
    /// Why the run takes place in a virtual hypervisor, e.g. the capability that this machine lacks.
    pub reason: String,
    /// Whether to count instructions. The run must have no guests.
    pub counts: bool,
    /// By default [`Kernel::installed`].
    pub kernel: Option<ConfiguredKernel>,
}

/// Must be called from a thread that lives as long as the run.
pub fn run_inside<S: Sink>(
    request: &Request<'_>,
    inside: &Inside,
    sink: &mut S,
    observer: &mut dyn Observer,
    stop: &Stop,
) -> Result<Outcome, RunError> {
    if chooses_kernel(&request.scenario.lab) {
        let reason =
            "a virtual hypervisor has only its own kernel for guests, so remove `kernel` from `[vms]`";
        return Err(RunError::Lacks { reason: format!("{}; {reason}", inside.reason) });
    }
    observer.event(&Event::Step("booting a virtual hypervisor"));
    observer.event(&Event::Boots { host: NAME });
    let host = HostName::new(NAME);
    let kernel = match &inside.kernel {
        Some(kernel) => kernel.clone(),
        None => Kernel::installed().map_err(machine::MachineError::from)?.into(),
    };
    let (memory, firecracker) = (memory_of(&request.scenario.lab), request.firecracker.as_deref());
    let purpose = match inside.counts {
        true => machine::Hypervisor::Counts,
        false => machine::Hypervisor::Guests { memory, firecracker },
    };
    let links: Vec<&str> = request.scenario.lab.links.iter().flat_map(Link::modules).collect();
    let (mut machine, counter) = machine::hypervisor(host, kernel, &request.agent, &links, purpose)?;
    let mut hypervisor = Hypervisor::start(&mut machine, request.plan, inside.counts)?;
    hypervisor.send(&ToNestedRun::Hello(Hello::new(request.tool)))?;
    hypervisor.send(&ToNestedRun::Start(Box::new(commission(request, inside))))?;
    let counter = counter.map(|counter| Counter { counter, symbols: Symbols::default() });
    let ledger = Ledger { request, sink, observer, header: None, counter };
    follow(&mut hypervisor, ledger, stop)
}

/// Returns what this machine lacks for the planned paths, if a virtual hypervisor has it.
#[must_use]
pub fn missing_here(scenario: &Scenario, plan: &Plan, firecracker: Option<&FilePath>) -> Option<String> {
    let planned = |path: &&Path| plan.results.iter().any(|result| result.path == path.name);
    let missing = MissingCapabilities::of(&scenario.lab, &[], firecracker);
    let paths = scenario.paths.iter().filter(planned);
    paths.clone().find_map(|path| missing.of_machine(path)).or_else(|| {
        let can_emulate = || Qemu::version().is_ok() && Kernel::installed().is_ok();
        let is_used = |link: &&Link| {
            let passes = |path: &Path| link.devices().iter().any(|it| path.devices.contains(it.at));
            !link.modules().is_empty() && paths.clone().any(passes)
        };
        let links = scenario.lab.links.iter().filter(is_used);
        let (layer, reason) =
            links.flat_map(Link::layers).find_map(|layer| Some((layer, topology::missing(layer)?)))?;
        let is_existing = |host: &Host| host.existing.is_some();
        let can_move =
            !scenario.lab.hosts.iter().any(is_existing) && !chooses_kernel(&scenario.lab) && can_emulate();
        can_move.then(|| format!("this machine cannot create a link of kind `{layer}`: {reason}"))
    })
}

fn chooses_kernel(lab: &Lab) -> bool {
    lab.hosts.iter().filter_map(|host| host.vm.as_ref()).any(|vm| vm.kernel != GuestKernel::Newest)
}

fn commission(request: &Request<'_>, inside: &Inside) -> Commission {
    Commission {
        text: request.text.to_owned(),
        plan: request.plan.clone(),
        id: request.id.clone(),
        remedy_trials: request.remedy_trials.cloned(),
        resume: request.resume.cloned(),
        // Other programs do not affect instruction counts.
        keep_disturbed: request.keep_disturbed || inside.counts,
        reason: inside.reason.clone(),
        counts: inside.counts,
    }
}

fn memory_of(lab: &Lab) -> Bytes {
    lab.hosts.iter().filter_map(|host| host.vm.as_ref()).map(|vm| vm.memory).sum()
}

struct Hypervisor<'a> {
    machine: &'a mut dyn Machine,
    to: protocol::Sender<Box<dyn Write + Send>>,
    messages: Receiver<Result<FromNestedRun, ChannelError>>,
    started: Instant,
}

impl<'a> Hypervisor<'a> {
    fn start(machine: &'a mut dyn Machine, plan: &Plan, counts: bool) -> Result<Self, RunError> {
        let started = Instant::now();
        let channels = machine.start()?;
        let (to_us, messages) = sync_channel(allowance::WAITING);
        let limit = LineLimit::new(allowance::nested_run(plan, counts));
        let mut from = protocol::Receiver::bounded(channels.from_agent, limit);
        thread::spawn(move || {
            loop {
                let message = from.receive();
                let ended = message.is_err();
                if to_us.send(message).is_err() || ended {
                    return;
                }
            }
        });
        Ok(Self { machine, to: protocol::Sender::new(channels.to_agent), messages, started })
    }

    fn send(&mut self, message: &ToNestedRun) -> Result<(), RunError> {
        self.to.send(message).map_err(|source| self.lost(source))
    }

    fn receive(&self) -> Result<Option<FromNestedRun>, RunError> {
        match self.messages.recv_timeout(POLL) {
            Ok(message) => message.map(Some).map_err(|source| self.lost(source)),
            Err(RecvTimeoutError::Timeout) => Ok(None),
            Err(RecvTimeoutError::Disconnected) => Err(self.lost(ChannelError::Closed)),
        }
    }

    fn wait(&self) -> Wait {
        Wait::begin(self.machine.starved())
    }

    fn lost(&self, source: ChannelError) -> RunError {
        RunError::Agent { host: NAME.to_owned(), source, output: self.machine.condition().last_output }
    }

    fn silent(&self, waited: Duration) -> RunError {
        let seconds = waited.as_secs_f64();
        RunError::Silent {
            host: NAME.to_owned(),
            what: "report progress of the run",
            seconds,
            output: self.machine.condition().last_output,
        }
    }
}

fn follow<S: Sink>(
    hypervisor: &mut Hypervisor<'_>,
    mut ledger: Ledger<'_, S>,
    stop: &Stop,
) -> Result<Outcome, RunError> {
    let (mut asked, mut boot) = (false, None);
    let (mut patience, mut since_last) = (hypervisor.machine.boot().patience, Wait::begin(Duration::ZERO));
    loop {
        if stop.is_asked() && !asked {
            hypervisor.send(&ToNestedRun::Stop)?;
            (patience, asked, since_last) = (LAST_PATIENCE, true, hypervisor.wait());
        }
        let Some(message) = hypervisor.receive()? else {
            match (since_last.exceeds(patience, || hypervisor.machine.starved()), asked) {
                (true, true) => return Err(RunError::Interrupted),
                (true, false) => return Err(hypervisor.silent(since_last.elapsed())),
                (false, _) => continue,
            }
        };
        if !asked {
            let boot = *boot.get_or_insert_with(|| hypervisor.started.elapsed());
            (patience, since_last) = (PATIENCE.max(boot * BOOTS), hypervisor.wait());
        }
        match message {
            FromNestedRun::Hello(hello) => match hello.accept() {
                Ok(()) => ledger.booted(hypervisor.started.elapsed()),
                Err(source) => return Err(hypervisor.lost(source)),
            },
            FromNestedRun::Over { completed, skipped } => return Ok(ledger.outcome(completed, skipped)),
            FromNestedRun::Failed { interrupted: true, .. } => return Err(RunError::Interrupted),
            FromNestedRun::Failed { reason, .. } => return Err(RunError::Inside { reason }),
            message => ledger.take(message)?,
        }
    }
}

struct Ledger<'a, S> {
    request: &'a Request<'a>,
    sink: &'a mut S,
    observer: &'a mut dyn Observer,
    header: Option<RunHeader>,
    counter: Option<Counter>,
}

struct Counter {
    counter: InstructionCounter,
    symbols: Symbols,
}

impl Counter {
    fn add_to(&self, trial: &mut Trial) -> Result<(), RunError> {
        let lost =
            || RunError::Inside { reason: format!("no instructions were counted in trial {}", trial.index) };
        let counted = self.counter.next(&self.symbols).ok_or_else(lost)?;
        trial.instructions = Some(summary(counted));
        // A counted stream ends only when both ends are idle, and emulation does not change counts.
        trial.warnings.retain(|warning| match warning {
            ValidityWarning::Emulated => false,
            ValidityWarning::OtherDuration { requested, measured } => measured < requested,
            _ => true,
        });
        Ok(())
    }
}

fn summary(counted: FunctionInstructions) -> InstructionCounts {
    let total: u64 = counted.values().sum();
    let least = (total as f64 * LEAST_SHARE) as u64;
    let listed = counted.into_iter().filter(|(_, instructions)| *instructions > least);
    let mut functions: Vec<FunctionCount> = listed
        .map(|((module, function), instructions)| FunctionCount { module, function, instructions })
        .collect();
    functions.sort_by_key(|it| std::cmp::Reverse(it.instructions));
    InstructionCounts { total, functions }
}

impl<S: Sink> Ledger<'_, S> {
    fn outcome(&self, completed: u32, skipped: Vec<SkippedResult>) -> Outcome {
        Outcome { id: self.request.id.clone(), completed, skipped }
    }

    fn booted(&mut self, within: Duration) {
        let Request { scenario, plan, resume, .. } = self.request;
        let slowdown = if self.counter.is_some() { COUNTED_SLOWDOWN } else { 1 };
        let trials = run_time(scenario, plan, Nanos(0), false).seconds();
        let boots = run_time(scenario, plan, within.into(), true).seconds() - trials;
        let takes = trials * slowdown as f64 + boots;
        let whole = match resume {
            None => format!("; the run takes about {:.0} min including guest boots", (takes / 60.0).max(1.0)),
            Some(_) => String::new(),
        };
        self.observer.event(&Event::Booted { host: NAME, within: within.into() });
        self.observer.event(&Event::Notice(&format!("the hypervisor booted in {within:.1?}{whole}")));
    }

    fn take(&mut self, message: FromNestedRun) -> Result<(), RunError> {
        let run = &self.request.id;
        match message {
            FromNestedRun::Begin(header) if header.id != *run => {
                let reason = format!("started run {} instead of {run}", header.id);
                return Err(RunError::Inside { reason });
            }
            FromNestedRun::Begin(header) => {
                self.sink.begin(&header).map_err(RunError::keep)?;
                self.header = Some(*header);
            }
            FromNestedRun::Symbols(symbols) => {
                if let Some(counter) = &mut self.counter {
                    counter.symbols =
                        Symbols::read(&symbols, &self.request.agent).map_err(machine::MachineError::from)?;
                }
            }
            FromNestedRun::Trial(mut trial) => {
                if let Some(counter) = &self.counter {
                    counter.add_to(&mut trial)?;
                }
                self.sink.trial(run, &trial).map_err(RunError::keep)?;
                self.observer.event(&Event::Kept(&trial));
            }
            FromNestedRun::Skip(skip) => {
                self.sink.skipped(run, &skip).map_err(RunError::keep)?;
                self.observer.event(&Event::Skipped(&skip));
            }
            FromNestedRun::End(end) => self.sink.ended(run, &end).map_err(RunError::keep)?,
            FromNestedRun::MachineChanged(change) => {
                self.sink.machine_changed(run, &change).map_err(RunError::keep)?;
            }
            FromNestedRun::Complete => self.sink.complete(run).map_err(RunError::keep)?,
            FromNestedRun::Event(event) => self.show(&event),
            FromNestedRun::Hello(_) | FromNestedRun::Over { .. } | FromNestedRun::Failed { .. } => {}
        }
        Ok(())
    }

    fn show(&mut self, run_event: &RunEvent) {
        let header = || self.header.as_ref().or(self.request.resume.map(|record| &record.header));
        let rate;
        let event = match run_event {
            RunEvent::Step { text } => Event::Step(text),
            RunEvent::Begun => match header() {
                Some(header) => Event::Begun(header),
                None => return,
            },
            RunEvent::Trial { planned, result } => Event::Trial { planned, result },
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
