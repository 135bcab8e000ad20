//! A run from beginning to end: its steps in order.

use std::{
    collections::{BTreeMap, BTreeSet, HashMap, HashSet},
    path::PathBuf,
    sync::Arc,
    time::Duration,
};

use fleet::Controller;
use machine::Namespace;
use protocol::{Order, Reply};
use samples::{Environment, RemedyTrials, RunId, RunRecord, Sink, SkippedCell};
use scenario::{HostName, Path, PathName, Plan, Scenario};
use topology::Topology;

use crate::{
    agents::Agents,
    balloon::Balloons,
    error::RunError,
    event::{Event, Observer},
    exchange::unexpected,
    existing_hosts, header,
    lab_handle::LabHandle,
    left_out, machines,
    observer_setup::{self, Watch},
    record,
    run_loop::RunLoop,
    skip::MissingCapabilities,
    stop::Stop,
    trial::{Emulation, TrialRunner},
};

/// What to run.
#[derive(Debug, Clone)]
pub struct Request<'a> {
    pub scenario: &'a Scenario,
    /// Its text, kept with the run.
    pub text: &'a str,
    /// The scenario expanded.
    pub plan: &'a Plan,
    /// The identity of the run; that of `resume`, if there is one.
    pub id: RunId,
    /// Whose remedies it tries, if it does.
    pub tries: Option<&'a RemedyTrials>,
    /// What is there of this run already.
    pub resume: Option<&'a RunRecord>,
    /// The program whose `agent` personality is started in every endpoint.
    pub agent: PathBuf,
    /// Firecracker, if it is named; otherwise the one on the PATH.
    pub firecracker: Option<PathBuf>,
    /// The version of plumb.
    pub tool: &'a str,
    /// Whether trials that others disturbed are kept as they are, instead of made again.
    pub keep_disturbed: bool,
    /// How hosts that exist already are used.
    pub hosts: ExistingHostUse,
    /// The fleet whose members are among its hosts.
    pub fleet: Option<Arc<Controller>>,
    /// Why it is conducted on this machine, if this is a virtual hypervisor that was booted for it.
    pub inside: Option<&'a str>,
}

/// How a run uses hosts that exist already.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ExistingHostUse {
    /// Whether the agent's program stays there for the next run.
    pub cache: bool,
    /// Whether the run waits for another that measures there, instead of ending.
    pub wait: bool,
}

impl Default for ExistingHostUse {
    fn default() -> Self {
        Self { cache: true, wait: true }
    }
}

/// How a run ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Outcome {
    pub id: RunId,
    /// Trials made now, not counting those that were there already.
    pub made: u32,
    /// Cells that could not be measured.
    pub skipped: Vec<SkippedCell>,
}

/// Raises the lab, makes every trial that is not there yet, keeps each as it ends, and lowers the lab.
///
/// Must be called from a thread that lives as long as the run: agents die with the thread that started them.
///
/// # Errors
/// When the lab cannot be raised, an agent is lost, a path carries nothing, a record cannot be kept, or the
/// user asks for the end. The lab is lowered all the same, and finished trials are kept.
pub fn run<S: Sink>(
    request: &Request<'_>,
    sink: &mut S,
    observer: &mut dyn Observer,
    stop: &Stop,
) -> Result<Outcome, RunError> {
    check_plan(request)?;
    observer.event(&Event::Step("creating the lab"));
    let lab = &request.scenario.lab;
    let topology = Topology::raise(lab)?;
    let lacks = MissingCapabilities::of(lab, topology.missing(), request.firecracker.as_deref());
    let ground = LabHandle { lab, topology: &topology };
    let Endpoints { mut agents, environment, emulated } = start(request, &ground, &lacks, observer, stop)?;
    let scenario = existing_hosts::located(request.scenario, request.plan, &mut agents, observer)?;
    let reservation = (request.id.0.as_str(), request.hosts.wait);
    existing_hosts::reserve(&scenario, &mut agents, reservation, observer)?;
    let ground = LabHandle { lab: &scenario.lab, ..ground };
    ground.make_on_existing(&mut agents, observer)?;
    let Watch { watcher, missing, plan } = observer_setup::begin(request, &topology, observer, stop)?;
    let watched = Request { scenario: &scenario, plan: &plan, ..request.clone() };
    observer.event(&Event::Step("checking the paths"));
    let skipped = missing_cells(&watched, &lacks);
    let booted = agents.booted();
    let (agents, usable_cpus) = (&mut agents, &environment.usable_cpus);
    let balloons = Balloons::new();
    let mut bench = TrialRunner { ground, agents, watcher, usable_cpus, balloons, set: None, emulated };
    check_paths(&watched, &mut bench, &skipped, observer)?;
    header::begin(&watched, &environment, booted, &missing, sink, observer)?;
    let paths = paths_of(&watched);
    let mut course = RunLoop { request: &watched, sink, observer, skipped, paths };
    let made = course.make(&mut bench, stop)?;
    bench.agents.left_out.check()?;
    let outcome = Outcome { id: request.id.clone(), made, skipped: course.skipped.into_values().collect() };
    sink.complete(&request.id).map_err(keep)?;
    observer.event(&Event::Step("removing the lab"));
    Ok(outcome)
}

/// The agents of a run, greeted, and what is known of the machine that they are on.
struct Endpoints {
    agents: Agents,
    environment: Environment,
    emulated: Emulation,
}

/// Starts an agent in every end of a path, and has the devices of guests dressed.
fn start(
    request: &Request<'_>,
    ground: &LabHandle<'_>,
    lacks: &MissingCapabilities<'_>,
    observer: &mut dyn Observer,
    stop: &Stop,
) -> Result<Endpoints, RunError> {
    observer.event(&Event::Step("starting the agents"));
    let ends = ends(request, lacks);
    let machines = machines::of(&ends, ground.topology, request, stop)?;
    if let Some(because) = &machines.emulated {
        observer.event(&Event::Notice(&format!("virtual machines are emulated: {because}")));
    }
    let emulated = match (request.inside, &machines.emulated) {
        (Some(_), _) => Emulation::Everything,
        (None, Some(_)) => Emulation::Guests,
        (None, None) => Emulation::Nothing,
    };
    let hosts = (machines.waiting, left_out::dispensable(ground.lab));
    let agents = Agents::start_of(hosts, request.tool, stop, observer)?;
    let mut agents = agents.inside(request.inside.is_some()).seated(ground.lab);
    ground.dress_guests(&mut agents)?;
    let inside = request.inside.map(str::to_owned);
    let environment = Environment { inside, ..describe(request, &ends, &mut agents, observer, stop)? };
    Ok(Endpoints { agents, environment, emulated })
}

/// Cells that are skipped, by their identity.
pub(crate) type Skips = BTreeMap<String, SkippedCell>;

/// Equal names are not enough: a default that changed since would mix two loads in one cell.
fn check_plan(request: &Request<'_>) -> Result<(), RunError> {
    let planned = || request.plan.cells.iter().map(record::cell);
    match request.resume {
        Some(resumed) if !planned().eq(resumed.header.cells.iter().cloned()) => {
            Err(RunError::OtherPlan { run: request.id.to_string() })
        }
        _ => Ok(()),
    }
}

/// The ends of the paths that can be measured; of what is made on hosts that exist already, those hosts.
fn ends<'a>(request: &'a Request<'_>, lacks: &MissingCapabilities<'_>) -> BTreeSet<&'a HostName> {
    let paths = planned_paths(request).filter(|path| lacks.of_path(path).is_none());
    let lab = &request.scenario.lab;
    let seats = paths.flat_map(|path| {
        let ends = [&path.from.host, &path.to.host].into_iter().map(|host| lab.seat(host).unwrap_or(host));
        ends.chain(path.devices.iter().filter_map(|at| lab.seat(&at.host)))
    });
    seats.collect()
}

/// The machine that namespaces and virtual machines are on; a namespace sees what it is.
fn describe(
    request: &Request<'_>,
    ends: &BTreeSet<&HostName>,
    agents: &mut Agents,
    observer: &mut dyn Observer,
    stop: &Stop,
) -> Result<Environment, RunError> {
    const PATIENCE: Duration = Duration::from_secs(10);
    let ask = |agents: &mut Agents, host: &HostName| match agents.ask(
        host,
        "describe its machine",
        Order::Describe,
        PATIENCE,
    )? {
        Reply::Environment(environment) => Ok(environment),
        other => Err(unexpected(host, &other)),
    };
    let lab = &request.scenario.lab;
    while let Some(host) = ends.iter().find(|host| lab.vm(host).is_none() && agents.has(host)) {
        match ask(agents, host) {
            Ok(environment) => return Ok(environment),
            Err(error) => agents.leave_out(error, observer)?,
        }
    }
    let host = HostName::new("machine");
    let machine = Box::new(Namespace::own(host.clone(), request.agent.clone()));
    ask(
        &mut Agents::start(vec![(host.clone(), machine)], request.tool, stop, &mut |_: &Event<'_>| ())?,
        &host,
    )
}

fn missing_cells(request: &Request<'_>, lacks: &MissingCapabilities<'_>) -> Skips {
    let paths = paths_of(request);
    let found = request.plan.cells.iter().zip(paths).filter_map(|(cell, path)| {
        let skip = lacks.of_cell(cell, path)?;
        Some((skip.cell.clone(), skip))
    });
    found.collect()
}

/// Every path with a cell that is to be measured must carry traffic before any is measured. Of many hosts one that is lost
/// meanwhile, and a path that carries nothing, are left out, as long as anything is left.
fn check_paths(
    request: &Request<'_>,
    bench: &mut TrialRunner<'_>,
    skipped: &Skips,
    observer: &mut dyn Observer,
) -> Result<(), RunError> {
    let cells = request.plan.cells.iter().filter(|cell| !skipped.contains_key(cell.id.as_str()));
    let needed: HashSet<&PathName> = cells.map(|cell| &cell.path).collect();
    let mut left = false;
    for path in planned_paths(request).filter(|path| needed.contains(&path.name)) {
        while !path.is_host()
            && !bench.is_left_out(path)
            && let Err(error) = bench.check_reachable(path)
        {
            bench.leave_out(error, &[path], observer)?;
        }
        left |= !bench.is_left_out(path);
    }
    match &bench.agents.left_out {
        all if !left && !all.is_empty() => Err(RunError::NothingLeft { what: all.to_string() }),
        _ => Ok(()),
    }
}

/// The paths that anything is planned on.
pub(crate) fn planned_paths<'a>(request: &'a Request<'_>) -> impl Iterator<Item = &'a Path> {
    let planned: HashSet<&PathName> = request.plan.cells.iter().map(|cell| &cell.path).collect();
    request.scenario.paths.iter().filter(move |path| planned.contains(&path.name))
}

/// The path of each cell.
pub(crate) fn paths_of<'a>(request: &'a Request<'_>) -> Vec<&'a Path> {
    let paths: HashMap<&PathName, &Path> =
        request.scenario.paths.iter().map(|path| (&path.name, path)).collect();
    request.plan.cells.iter().map(|cell| paths[&cell.path]).collect()
}

/// A record that could not be kept.
pub(crate) fn keep<E: std::error::Error + Send + Sync + 'static>(error: E) -> RunError {
    RunError::Keep(Box::new(error))
}
