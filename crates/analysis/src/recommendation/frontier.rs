//! Settings that no other setting beats in both the metric and CPU time.

use findings::FrontierPoint;

use super::{
    cpu::Cpu,
    sweep::{Setting, Sweep},
};

/// Minimum relative step in CPU time. Smaller steps are noise, so no marginal gain is computed for them.
const LEAST_STEP: f64 = 0.01;

pub(super) fn frontier(sweep: &Sweep<'_>) -> Vec<FrontierPoint> {
    let settings = sweep.settings.iter();
    let mut settings: Vec<(&Setting<'_>, &Cpu)> =
        settings.filter_map(|setting| Some((setting, setting.cpu.as_ref()?))).collect();
    settings.sort_by(|one, other| {
        let cheaper = one.1.total.total_cmp(&other.1.total);
        cheaper.then(other.0.good().total_cmp(&one.0.good()))
    });
    let mut points: Vec<FrontierPoint> = Vec::new();
    let mut best = 0.0;
    for (setting, cpu) in settings {
        if setting.good() <= best {
            continue;
        }
        best = setting.good();
        points.push(point(setting, cpu, points.last()));
    }
    points
}

fn point(setting: &Setting<'_>, cpu: &Cpu, before: Option<&FrontierPoint>) -> FrontierPoint {
    FrontierPoint {
        result: setting.result.id.clone(),
        levels: setting.result.levels.clone(),
        value: setting.value,
        cpu: cpu.total,
        consumers: cpu.consumers.clone(),
        marginal: before.and_then(|before| {
            let more = cpu.total - before.cpu;
            (more > LEAST_STEP * cpu.total).then(|| (setting.value - before.value) / more)
        }),
    }
}
