//! A scenario's parts as records: what is kept of them with a run.

use samples::{CellRecord, DesignRecord, Objective, PathRecord, ProbeKind, ScenarioRecord, Sent};
use scenario::{Cell, Design, Path, Scenario};

/// The scenario itself, with its text.
pub(crate) fn scenario(scenario: &Scenario, text: &str) -> ScenarioRecord {
    ScenarioRecord {
        name: scenario.name.clone(),
        title: scenario.title.clone(),
        about: scenario.about.clone(),
        digest: scenario.digest.clone(),
        text: text.to_owned(),
    }
}

/// How trials are chosen.
pub(crate) fn design(design: &Design) -> DesignRecord {
    DesignRecord {
        budget: design.budget,
        precision: design.precision,
        objective: objective(design.objective),
    }
}

/// What the best setting is sought for.
pub(crate) fn objective(objective: scenario::Objective) -> Objective {
    match objective {
        scenario::Objective::Max => Objective::Max,
        scenario::Objective::Efficient => Objective::Efficient,
        scenario::Objective::LowCpu => Objective::LowCpu,
    }
}

/// A path.
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

/// A cell.
pub(crate) fn cell(cell: &Cell) -> CellRecord {
    CellRecord {
        id: cell.id.to_string(),
        path: cell.path.to_string(),
        workload: cell.workload.to_string(),
        levels: cell.levels.iter().map(|(factor, level)| (factor.to_string(), level.clone())).collect(),
        sent: Sent::Load(cell.load.clone()),
        placement: cell.placement.to_string(),
        baseline: cell.baseline,
    }
}

/// What a trial is watched with.
pub(crate) fn probe(kind: scenario::ProbeKind) -> ProbeKind {
    match kind {
        scenario::ProbeKind::Cpu => ProbeKind::Cpu,
        scenario::ProbeKind::Syscalls => ProbeKind::Syscalls,
        scenario::ProbeKind::PacketWay => ProbeKind::PacketWay,
    }
}

/// Why a trial is made.
pub(crate) fn arm(arm: scenario::Arm) -> samples::Arm {
    match arm {
        scenario::Arm::Measure => samples::Arm::Measure,
        scenario::Arm::Again => samples::Arm::Again,
        scenario::Arm::Probed => samples::Arm::Probed,
    }
}
