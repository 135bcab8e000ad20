//! Writes the header of a run's record.

use machine::Attached;
use samples::{
    BootedMachine, Environment, MachineChange, MissingProbe, RunHeader, SCHEMA, Sink, WorkloadLimit,
};
use scenario::{HostName, Path};

use crate::{
    error::RunError,
    event::{Event, Observer},
    record::{self, now},
    request::{Request, planned_paths},
};

/// Stores the header of a new run. For a resumed run, compares this machine with the header. `machines` were
/// booted for the run, and `missing` are requested probes that cannot run here.
pub(crate) fn begin<S: Sink>(
    request: &Request<'_>,
    environment: &Environment,
    machines: Vec<BootedMachine>,
    missing: &[MissingProbe],
    sink: &mut S,
    observer: &mut dyn Observer,
) -> Result<(), RunError> {
    if let Some(resumed) = request.resume {
        if let Some(before) = resumed.last_machine().filter(|last| !MachineChange::is_same(last, environment))
        {
            let trials_before = resumed.trials.len() as u32;
            let text = format!(
                "the run continues on another machine or kernel ({} CPUs, {}) than its first {trials_before} trials \
                 ({} CPUs, {}); reports will mention it",
                environment.cpus, environment.kernel, before.cpus, before.kernel
            );
            observer.event(&Event::Notice(&text));
            let change = MachineChange { at: now(), trials_before, environment: environment.clone() };
            sink.machine_changed(&request.id, &change).map_err(RunError::keep)?;
        }
        observer.event(&Event::Begun(&resumed.header));
        return Ok(());
    }
    let header = RunHeader { machines, ..header(request, environment, missing) };
    sink.begin(&header).map_err(RunError::keep)?;
    observer.event(&Event::Begun(&header));
    Ok(())
}

#[must_use]
pub fn header(request: &Request<'_>, environment: &Environment, missing: &[MissingProbe]) -> RunHeader {
    RunHeader {
        schema: SCHEMA,
        id: request.id.clone(),
        scenario: request.scenario.record(request.text),
        seed: request.plan.seed,
        blocks: request.plan.trials.iter().map(|trial| trial.block + 1).max().unwrap_or(0),
        planned: request.plan.trials.len() as u32,
        started: now(),
        tool: request.tool.to_owned(),
        design: request.plan.design,
        remedy_trials: request.remedy_trials.cloned(),
        probes: request.plan.probes.clone(),
        missing_probes: missing.to_vec(),
        environment: Some(environment.clone()),
        queue_factors: request.scenario.queue_factors(),
        workload_limits: workload_limits(request),
        paths: planned_paths(request).map(Path::record).collect(),
        results: record::results(request),
        ..RunHeader::default()
    }
}

fn workload_limits(request: &Request<'_>) -> Vec<WorkloadLimit> {
    let attachments = &request.attachments;
    let limit = |(host, attached): (&HostName, &Attached)| {
        let limit = attached.cpu_limit()?;
        Some(WorkloadLimit {
            host: host.to_string(),
            endpoint: request.scenario.lab.existing(host)?.access.to_string(),
            cpus: limit.cpus,
            source: limit.source,
            shared: attachments.as_workload,
        })
    };
    attachments.endpoints.iter().filter_map(limit).collect()
}
