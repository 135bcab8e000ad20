//! A scenario's parts as records: what is kept of them with a run.

use samples::{
    CellRecord, CpuSpread, DesignRecord, DeviceState, Interrupt, Objective, PathRecord, ProbeKind, RxTx,
    ScenarioRecord, Sent,
};
use scenario::{Cell, Design, Path, Scenario};
use units::Bytes;

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

/// A device as it was read back.
#[must_use]
pub fn device(state: &topology::DeviceState) -> DeviceState {
    DeviceState {
        device: state.at.to_string(),
        kind: state.kind.word().to_owned(),
        mtu: state.mtu,
        features: state.features.clone(),
        gso_max_size: Some(Bytes(state.gso_ipv4_max_size.into())),
        gro_max_size: Some(Bytes(state.gro_ipv4_max_size.into())),
        queues: state.queues.map(both),
        rings: state.rings.map(both),
        spread: state.spread.as_ref().map(spread),
    }
}

fn spread(spread: &topology::CpuSpread) -> CpuSpread {
    let interrupt = |interrupt: &topology::Interrupt| Interrupt {
        number: interrupt.number,
        name: interrupt.name.clone(),
        cpus: interrupt.cpus.clone(),
    };
    CpuSpread {
        rps: spread.rps.clone(),
        xps: spread.xps.clone(),
        interrupts: spread.interrupts.iter().map(interrupt).collect(),
    }
}

fn both(ways: topology::RxTx) -> RxTx {
    RxTx { rx: ways.rx, tx: ways.tx }
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
