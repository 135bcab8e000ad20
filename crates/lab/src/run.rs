//! A run from beginning to end: its steps in order.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::PathBuf,
    thread,
    time::Duration,
};

use machine::{Machine, Namespace};
use protocol::{Order, Reply};
use samples::{Environment, Origin, RunHeader, RunId, RunRecord, RunState, SCHEMA, Sink, Skipped, Tries};
use scenario::{Cell, HostName, Path, Plan, Scenario};
use topology::Topology;

use crate::{
    agents::Agents,
    design::Design,
    error::RunError,
    event::{Event, Observer},
    record, skip,
    stop::Stop,
    trial::{Bench, Made, now},
};

/// What to run.
#[derive(Debug)]
pub struct Request<'a> {
    /// The scenario.
    pub scenario: &'a Scenario,
    /// Its text, kept with the run.
    pub text: &'a str,
    /// The scenario expanded.
    pub plan: &'a Plan,
    /// The identity of the run; that of `resume`, if there is one.
    pub id: RunId,
    /// Whose remedies it tries, if it does.
    pub tries: Option<&'a Tries>,
    /// What is there of this run already.
    pub resume: Option<&'a RunRecord>,
    /// The program whose `agent` personality is started in every endpoint.
    pub agent: PathBuf,
    /// The version of plumb.
    pub tool: &'a str,
}

/// How a run ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Outcome {
    /// Which run.
    pub id: RunId,
    /// Trials made now, not counting those that were there already.
    pub made: u32,
    /// Cells that could not be measured.
    pub skipped: Vec<Skipped>,
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
    observer.event(&Event::Step("raising the lab"));
    let topology = Topology::raise(&request.scenario.lab)?;
    observer.event(&Event::Step("starting the agents"));
    let mut agents = start_agents(request, &topology, stop)?;
    let environment = describe(request, &mut agents)?;
    let usable_cpus = environment.usable_cpus.clone();
    observer.event(&Event::Step("checking the paths"));
    let mut skipped = missing_cells(request, &topology);
    let mut bench = Bench { topology: &topology, agents: &mut agents, usable_cpus: &usable_cpus, set: None };
    check_paths(request, &mut bench, &skipped)?;
    begin(request, environment, sink, observer)?;
    for skip in skipped.values() {
        keep_skip(request, skip, sink, observer)?;
    }
    let made = make_trials(request, &mut bench, &mut skipped, sink, observer, stop)?;
    sink.complete(&request.id).map_err(keep)?;
    observer.event(&Event::Step("lowering the lab"));
    Ok(Outcome { id: request.id.clone(), made, skipped: skipped.into_values().collect() })
}

/// Cells that are skipped, by their identity.
type Skips = BTreeMap<String, Skipped>;

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

fn start_agents(request: &Request<'_>, topology: &Topology, stop: &Stop) -> Result<Agents, RunError> {
    let ends: BTreeSet<&HostName> =
        planned_paths(request).flat_map(|path| [&path.from.host, &path.to.host]).collect();
    let machines = ends
        .into_iter()
        .filter_map(|host| Some((host, topology.namespace(host)?)))
        .map(|(host, namespace)| {
            let namespace = namespace
                .try_clone()
                .map_err(|source| machine::MachineError::Start { host: host.to_string(), source })?;
            let machine = Namespace::new(host.clone(), namespace, request.agent.clone());
            Ok((host.clone(), Box::new(machine) as Box<dyn Machine>))
        })
        .collect::<Result<Vec<_>, RunError>>()?;
    Agents::start(machines, request.tool, stop)
}

fn describe(request: &Request<'_>, agents: &mut Agents) -> Result<Environment, RunError> {
    let Some(path) = planned_paths(request).next() else { return Ok(Environment::default()) };
    let reply =
        agents.ask(&path.from.host, "describe its machine", Order::Describe, Duration::from_secs(10))?;
    match reply {
        Reply::Environment(environment) => Ok(environment),
        _ => Ok(Environment::default()),
    }
}

fn missing_cells(request: &Request<'_>, topology: &Topology) -> Skips {
    let found = request.plan.cells.iter().filter_map(|cell| {
        let skip = skip::reason(cell, path_of(request.scenario, cell), topology.missing())?;
        Some((skip.cell.clone(), skip))
    });
    found.collect()
}

/// Every path with a cell that is to be measured must carry traffic before any is measured.
fn check_paths(request: &Request<'_>, bench: &mut Bench<'_>, skipped: &Skips) -> Result<(), RunError> {
    for path in planned_paths(request) {
        let needed = |cell: &&Cell| cell.path == path.name && !skipped.contains_key(cell.id.as_str());
        if request.plan.cells.iter().any(|cell| needed(&cell)) {
            bench.check_reachable(path)?;
        }
    }
    Ok(())
}

fn begin<S: Sink>(
    request: &Request<'_>,
    environment: Environment,
    sink: &mut S,
    observer: &mut dyn Observer,
) -> Result<(), RunError> {
    if let Some(resumed) = request.resume {
        let began_on = resumed.header.environment.as_ref().map(|machine| (&machine.kernel, machine.cpus));
        if began_on.is_some_and(|machine| machine != (&environment.kernel, environment.cpus)) {
            observer.event(&Event::Notice("the machine is not the one that this run began on"));
        }
        observer.event(&Event::Begun(&resumed.header));
        return Ok(());
    }
    let header = header(request, environment);
    sink.begin(&header).map_err(keep)?;
    observer.event(&Event::Begun(&header));
    Ok(())
}

fn header(request: &Request<'_>, environment: Environment) -> RunHeader {
    RunHeader {
        schema: SCHEMA,
        id: request.id.clone(),
        scenario: record::scenario(request.scenario, request.text),
        seed: request.plan.seed,
        blocks: request.plan.trials.iter().map(|trial| trial.block + 1).max().unwrap_or(0),
        planned: request.plan.trials.len() as u32,
        started: now(),
        state: RunState::Unfinished,
        tool: request.tool.to_owned(),
        origin: Origin::Measured,
        design: record::design(&request.plan.design),
        tries: request.tries.cloned(),
        probes: Vec::new(),
        missing_probes: Vec::new(),
        environment: Some(environment),
        paths: planned_paths(request).map(record::path).collect(),
        cells: request.plan.cells.iter().map(record::cell).collect(),
    }
}

fn make_trials<S: Sink>(
    request: &Request<'_>,
    bench: &mut Bench<'_>,
    skipped: &mut Skips,
    sink: &mut S,
    observer: &mut dyn Observer,
    stop: &Stop,
) -> Result<u32, RunError> {
    let mut design = Design::new(request.plan, request.resume.iter().flat_map(|record| &record.trials));
    skipped.keys().for_each(|cell| design.skip(cell));
    let (mut made, mut block) = (0, None);
    while let Some(planned) = design.next_trial() {
        if block.replace(planned.block) != Some(planned.block) {
            decide(request, &mut design, sink, observer)?;
        }
        if stop.is_asked() {
            return Err(RunError::Interrupted);
        }
        let cell = &request.plan.cells[planned.cell];
        observer.event(&Event::Trial { planned, cell });
        let path = path_of(request.scenario, cell);
        match bench.make(planned, cell, path, cell.path_mtu(request.scenario), observer)? {
            Made::Trial(trial) => {
                sink.trial(&request.id, &trial).map_err(keep)?;
                observer.event(&Event::Kept(&trial));
                design.saw(&trial);
                made += 1;
            }
            Made::Skipped(skip) => {
                keep_skip(request, &skip, sink, observer)?;
                design.skip(&skip.cell);
                skipped.insert(skip.cell.clone(), skip);
            }
        }
        thread::sleep(request.scenario.schedule.pause.into());
    }
    decide(request, &mut design, sink, observer)?;
    Ok(made)
}

/// Keeps and tells what the trials so far have decided.
fn decide<S: Sink>(
    request: &Request<'_>,
    design: &mut Design<'_>,
    sink: &mut S,
    observer: &mut dyn Observer,
) -> Result<(), RunError> {
    for end in design.ends() {
        sink.ended(&request.id, &end).map_err(keep)?;
    }
    if let Some(text) = design.other_objective() {
        observer.event(&Event::Notice(text));
    }
    observer.event(&Event::Decided(design));
    Ok(())
}

fn keep_skip<S: Sink>(
    request: &Request<'_>,
    skip: &Skipped,
    sink: &mut S,
    observer: &mut dyn Observer,
) -> Result<(), RunError> {
    sink.skipped(&request.id, skip).map_err(keep)?;
    observer.event(&Event::Skipped(skip));
    Ok(())
}

fn planned_paths<'a>(request: &'a Request<'_>) -> impl Iterator<Item = &'a Path> {
    let planned = |path: &&Path| request.plan.cells.iter().any(|cell| cell.path == path.name);
    request.scenario.paths.iter().filter(move |path| planned(path))
}

fn path_of<'a>(scenario: &'a Scenario, cell: &Cell) -> &'a Path {
    scenario.paths.iter().find(|path| path.name == cell.path).expect("a cell's path is one of its scenario's")
}

fn keep<E: std::error::Error + Send + Sync + 'static>(error: E) -> RunError {
    RunError::Keep(Box::new(error))
}
