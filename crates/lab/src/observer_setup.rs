//! Starts the observer of a run and reports missing probes.

use std::collections::BTreeMap;

use protocol::WatchedDevice;
use samples::{MissingProbe, ProbeKind};
use scenario::{Path, Plan};
use topology::Topology;

use crate::{
    error::RunError,
    event::{Event, Observer},
    lab_handle::LabHandle,
    observer::{Watcher, all_missing},
    request::{Request, planned_paths},
    stop::Stop,
};

pub(crate) struct Watch {
    pub(crate) watcher: Option<Watcher>,
    pub(crate) missing: Vec<MissingProbe>,
    pub(crate) plan: Plan,
}

pub(crate) fn begin(
    request: &Request<'_>,
    lab_handle: &LabHandle<'_>,
    observer: &mut dyn Observer,
    stop: &Stop,
) -> Result<Watch, RunError> {
    let plan = request.plan.clone();
    let lab = &request.scenario.lab;
    let is_here = |path: &Path| [&path.from, &path.to].into_iter().any(|end| !lab.is_remote(&end.host));
    if !planned_paths(request).any(is_here) {
        let reason = "all paths are between other machines; probes observe only this one";
        let missing = all_missing(&plan.probes, reason);
        messages_for(&missing).iter().for_each(|text| observer.event(&Event::Notice(text)));
        let plan = if request.resume.is_none() { plan.limited_to(&[]) } else { plan };
        return Ok(Watch { watcher: None, missing, plan });
    }
    if !plan.probes.is_empty() {
        observer.event(&Event::Step("loading the probes"));
    }
    let (mut watcher, missing) = match Watcher::start(request, stop, devices(lab_handle)) {
        Ok((watcher, missing)) => (Some(watcher), missing),
        Err(RunError::Interrupted) => return Err(RunError::Interrupted),
        Err(error) => {
            let text = format!("cannot record the CPU use of other processes: {error}");
            observer.event(&Event::Notice(&text));
            (None, all_missing(&plan.probes, &error.to_string()))
        }
    };
    for text in messages_for(&missing) {
        observer.event(&Event::Notice(&text));
    }
    // A resumed run needs its original plan, because the plan's indexes identify trials.
    let probes = watcher.as_ref().map_or(&[][..], Watcher::probes);
    let plan = if request.resume.is_none() { plan.limited_to(probes) } else { plan };
    if let (Some(watcher), Some(resumed)) = (&mut watcher, request.resume) {
        let had = |probe: &MissingProbe| resumed.header.probes.contains(&probe.probe);
        watcher.goes_without(&missing.iter().filter(|probe| had(probe)).cloned().collect::<Vec<_>>());
    }
    Ok(Watch { watcher, missing, plan })
}

fn devices(lab_handle: &LabHandle<'_>) -> Vec<WatchedDevice> {
    let device = |device: topology::PresentDevice| WatchedDevice {
        name: device.at.to_string(),
        kind: device.kind.word().to_owned(),
        namespace: device.namespace,
        index: device.index,
    };
    lab_handle.topologies().flat_map(Topology::devices).map(device).collect()
}

fn messages_for(missing: &[MissingProbe]) -> Vec<String> {
    let mut reason: BTreeMap<&str, Vec<ProbeKind>> = BTreeMap::new();
    for probe in missing {
        reason.entry(&probe.reason).or_default().push(probe.probe);
    }
    let text = |(reason, probes): (&str, Vec<ProbeKind>)| {
        let names: Vec<&str> = probes.iter().map(|probe| probe.word()).collect();
        let probe = if names.len() > 1 { "probes" } else { "probe" };
        format!("without {probe} {}: {reason}", names.join(", "))
    };
    reason.into_iter().map(text).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_missing_probes_by_reason() {
        let missing = |probe, reason: &str| MissingProbe { probe, reason: reason.to_owned() };
        let rights = "no rights; run as root";
        let messages = messages_for(&[
            missing(ProbeKind::Cpu, rights),
            missing(ProbeKind::Syscalls, rights),
            missing(ProbeKind::PacketWay, "no such tracepoint"),
        ]);
        assert_eq!(
            messages,
            [
                "without probes cpu, syscalls: no rights; run as root",
                "without probe packet-way: no such tracepoint"
            ]
        );
    }
}
