//! The parts of a scenario and its plan that a run records.

use samples::{PathRecord, ResultRecord, ScenarioRecord, VmSettings, WorkloadSource};

use crate::{path::Path, plan::PlannedResult, scenario::Scenario, vm::Vm};

impl Scenario {
    #[must_use]
    pub fn record(&self, text: &str) -> ScenarioRecord {
        ScenarioRecord {
            name: self.name.clone(),
            title: self.title.clone(),
            about: self.about.clone(),
            digest: self.digest.clone(),
            text: text.to_owned(),
        }
    }
}

impl Vm {
    #[must_use]
    pub fn record(&self) -> VmSettings {
        VmSettings {
            monitor: self.monitor.word().to_owned(),
            board: self.board.word().to_owned(),
            vcpus: self.vcpus,
            memory: self.memory,
            queues: self.queues,
            vhost: self.vhost,
        }
    }
}

impl Path {
    #[must_use]
    pub fn record(&self) -> PathRecord {
        PathRecord {
            name: self.name.to_string(),
            about: self.about.clone(),
            from: self.from.device.to_string(),
            to: self.to.device.to_string(),
            layers: self.layers.iter().map(ToString::to_string).collect(),
            devices: self.devices.iter().map(ToString::to_string).collect(),
            baseline: self.baseline,
        }
    }
}

impl PlannedResult {
    #[must_use]
    pub fn record(&self) -> ResultRecord {
        ResultRecord {
            id: self.id.to_string(),
            path: self.path.to_string(),
            workload: self.workload.to_string(),
            levels: self.levels.iter().map(|(factor, level)| (factor.to_string(), level.clone())).collect(),
            sent: WorkloadSource::Load(self.load.clone()),
            placement: self.placement.to_string(),
            baseline: self.baseline,
        }
    }
}
