//! A complete run, as a list of steps in order.

use std::{
    collections::{BTreeMap, BTreeSet, HashSet},
    time::Duration,
};

use machine::Namespace;
use protocol::{Order, Reply};
use samples::{Environment, RunId, Sink, SkippedResult};
use scenario::{HostName, PathName};
use topology::Topology;

use crate::{
    agents::Agents,
    error::RunError,
    event::{Event, Observer},
    existing_hosts, header,
    lab_handle::LabHandle,
    left_out, machines,
    observer_setup::{self, Watch},
    record,
    request::{Request, Skips, paths_of, planned_paths},
    run_loop::RunLoop,
    skip::MissingCapabilities,
    stop::Stop,
    trial_runner::{Emulation, TrialRunner},
    vm_balloon::Balloons,
};

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Outcome {
    pub id: RunId,
    pub completed: u32,
    pub skipped: Vec<SkippedResult>,
}

/// Creates the lab, runs the missing trials, storing each as it finishes, and removes the lab.
///
/// Must be called from a thread that lives as long as the run, because agents exit with the thread that
/// started them.
pub fn run<S: Sink>(
    request: &Request<'_>,
    sink: &mut S,
    observer: &mut dyn Observer,
    stop: &Stop,
) -> Result<Outcome, RunError> {
    check_plan(request)?;
    observer.event(&Event::Step("creating the lab"));
    let lab = &request.scenario.lab;
    let topology = Topology::create(lab)?;
    let capabilities = MissingCapabilities::of(lab, topology.missing(), request.firecracker.as_deref());
    let between = request.attachments.reader.as_ref();
    let lab_handle = LabHandle { lab, topology: &topology, between };
    let Endpoints { mut agents, environment, emulated } =
        start(request, &lab_handle, &capabilities, observer, stop)?;
    let scenario = existing_hosts::located(request, &mut agents, observer)?;
    let reservation = (request.id.0.as_str(), request.hosts.wait);
    existing_hosts::reserve(&scenario, &mut agents, reservation, observer)?;
    let lab_handle = LabHandle { lab: &scenario.lab, ..lab_handle };
    lab_handle.create_on_existing(&mut agents, observer)?;
    let Watch { watcher, missing, plan } = observer_setup::begin(request, &lab_handle, observer, stop)?;
    let watched = Request { scenario: &scenario, plan: &plan, ..request.clone() };
    observer.event(&Event::Step("checking the paths"));
    let skipped = missing_results(&watched, &capabilities);
    let booted = agents.booted(lab_handle.lab);
    let (agents, usable_cpus) = (&mut agents, &environment.usable_cpus);
    let balloons = Balloons::new();
    let black_holes = BTreeMap::new();
    let mut runner =
        TrialRunner { lab_handle, agents, watcher, usable_cpus, balloons, set: None, emulated, black_holes };
    check_paths(&watched, &mut runner, &skipped, observer)?;
    header::begin(&watched, &environment, booted, &missing, sink, observer)?;
    let paths = paths_of(&watched);
    let mut run_loop = RunLoop { request: &watched, sink, observer, skipped, paths };
    let completed = run_loop.make(&mut runner, stop)?;
    runner.agents.left_out.check()?;
    let outcome =
        Outcome { id: request.id.clone(), completed, skipped: run_loop.skipped.into_values().collect() };
    sink.complete(&request.id).map_err(RunError::keep)?;
    observer.event(&Event::Step("removing the lab"));
    Ok(outcome)
}

struct Endpoints {
    agents: Agents,
    environment: Environment,
    emulated: Emulation,
}

fn start(
    request: &Request<'_>,
    lab_handle: &LabHandle<'_>,
    missing: &MissingCapabilities<'_>,
    observer: &mut dyn Observer,
    stop: &Stop,
) -> Result<Endpoints, RunError> {
    observer.event(&Event::Step("starting the agents"));
    let ends = ends(request, missing);
    let machines = machines::prepare(&ends, lab_handle.topology, request, stop)?;
    if let Some(reason) = &machines.emulated {
        observer.event(&Event::Notice(&format!("virtual machines are emulated: {reason}")));
    }
    let emulated = match (request.inside, &machines.emulated) {
        (Some(_), _) => Emulation::Everything,
        (None, Some(_)) => Emulation::Guests,
        (None, None) => Emulation::Nothing,
    };
    let dispensable = left_out::dispensable(lab_handle.lab);
    let agents = Agents::start_all(
        machines.waiting,
        dispensable,
        request.timeout_factors(),
        request.tool,
        stop,
        observer,
    )?;
    let mut agents = agents.with_seats(lab_handle.lab);
    lab_handle.configure_guests(&mut agents)?;
    let inside = request.inside.map(|inside| inside.reason.to_owned());
    let environment = Environment { inside, ..describe(request, &ends, &mut agents, observer, stop)? };
    Ok(Endpoints { agents, environment, emulated })
}

/// Compares the results with those of the run to resume, including all settings: if a default has changed,
/// results with the same name have different workloads.
fn check_plan(request: &Request<'_>) -> Result<(), RunError> {
    match request.resume {
        Some(resumed) if record::results(request) != resumed.header.results => {
            Err(RunError::OtherPlan { run: request.id.to_string() })
        }
        _ => Ok(()),
    }
}

/// A lab device on an existing host belongs to that host.
fn ends<'a>(request: &'a Request<'_>, missing: &MissingCapabilities<'_>) -> BTreeSet<&'a HostName> {
    let paths = planned_paths(request).filter(|path| missing.of_path(path).is_none());
    let lab = &request.scenario.lab;
    let seats = paths.flat_map(|path| {
        let ends = [&path.from.host, &path.to.host].into_iter().map(|host| lab.seat(host).unwrap_or(host));
        ends.chain(path.devices.iter().filter_map(|at| lab.seat(&at.host)))
    });
    seats.collect()
}

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
        other => Err(RunError::unexpected(host, &other)),
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

fn missing_results(request: &Request<'_>, missing: &MissingCapabilities<'_>) -> Skips {
    let paths = paths_of(request);
    let found = request.plan.results.iter().zip(paths).filter_map(|(result, path)| {
        let skip = missing.of_result(result, path)?;
        Some((skip.result.clone(), skip))
    });
    found.collect()
}

/// With many hosts, continues without lost hosts and broken paths until no path remains.
fn check_paths(
    request: &Request<'_>,
    runner: &mut TrialRunner<'_>,
    skipped: &Skips,
    observer: &mut dyn Observer,
) -> Result<(), RunError> {
    let results = request.plan.results.iter().filter(|result| !skipped.contains_key(result.id.as_str()));
    let needed: HashSet<&PathName> = results.map(|result| &result.path).collect();
    let mut left = false;
    for path in planned_paths(request).filter(|path| needed.contains(&path.name)) {
        while !path.is_host()
            && !runner.is_left_out(path)
            && let Err(error) = runner.check_reachable(path)
        {
            runner.leave_out(error, &[path], observer)?;
        }
        left |= !runner.is_left_out(path);
    }
    match &runner.agents.left_out {
        all if !left && !all.is_empty() => Err(RunError::NothingLeft { what: all.to_string() }),
        _ => Ok(()),
    }
}
