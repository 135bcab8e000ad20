//! Converts parts of a scenario to parts of a run's record.

use std::time::{SystemTime, UNIX_EPOCH};

use samples::{PathRecord, ResultRecord, ScenarioRecord, UnixMillis, VmSettings, WorkloadSource};
use scenario::{Path, PlannedResult, Scenario, Vm};

pub(crate) fn scenario(scenario: &Scenario, text: &str) -> ScenarioRecord {
    ScenarioRecord {
        name: scenario.name.clone(),
        title: scenario.title.clone(),
        about: scenario.about.clone(),
        digest: scenario.digest.clone(),
        text: text.to_owned(),
    }
}

pub(crate) fn vm(vm: &Vm) -> VmSettings {
    VmSettings {
        monitor: vm.monitor.word().to_owned(),
        board: vm.board.word().to_owned(),
        vcpus: vm.vcpus,
        memory: vm.memory,
        queues: vm.queues,
        vhost: vm.vhost,
    }
}

pub(crate) fn path(path: &Path) -> PathRecord {
    PathRecord {
        name: path.name.to_string(),
        about: path.about.clone(),
        from: path.from.device.to_string(),
        to: path.to.device.to_string(),
        layers: path.layers.iter().map(ToString::to_string).collect(),
        devices: path.devices.iter().map(ToString::to_string).collect(),
        baseline: path.baseline,
    }
}

pub(crate) fn result(result: &PlannedResult) -> ResultRecord {
    ResultRecord {
        id: result.id.to_string(),
        path: result.path.to_string(),
        workload: result.workload.to_string(),
        levels: result.levels.iter().map(|(factor, level)| (factor.to_string(), level.clone())).collect(),
        sent: WorkloadSource::Load(result.load.clone()),
        placement: result.placement.to_string(),
        baseline: result.baseline,
    }
}

pub(crate) fn now() -> UnixMillis {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    UnixMillis(i64::try_from(since.as_millis()).unwrap_or(i64::MAX))
}
