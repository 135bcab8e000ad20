//! Converts parts of a scenario to records of a run.

use samples::{CellRecord, PathRecord, ScenarioRecord, WorkloadSource};
use scenario::{Cell, Path, Scenario};

pub(crate) fn scenario(scenario: &Scenario, text: &str) -> ScenarioRecord {
    ScenarioRecord {
        name: scenario.name.clone(),
        title: scenario.title.clone(),
        about: scenario.about.clone(),
        digest: scenario.digest.clone(),
        text: text.to_owned(),
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

pub(crate) fn cell(cell: &Cell) -> CellRecord {
    CellRecord {
        id: cell.id.to_string(),
        path: cell.path.to_string(),
        workload: cell.workload.to_string(),
        levels: cell.levels.iter().map(|(factor, level)| (factor.to_string(), level.clone())).collect(),
        sent: WorkloadSource::Load(cell.load.clone()),
        placement: cell.placement.to_string(),
        baseline: cell.baseline,
    }
}
