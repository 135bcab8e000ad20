//! Memory moved by a balloon workload.

use findings::{BalloonSummary, SingleOutcome};
use samples::CpuUsage;
use workload::{BalloonData, Work};

use super::KindAnalysis;
use crate::{observations::Observations, series::Series};

/// Each move is a single sample. The rate may change during a trial because memory becomes scarce, so a change does
/// not mean that the machine drifts.
impl KindAnalysis for BalloonData {
    fn cpu_per_work(&self, usage: &CpuUsage) -> Option<f64> {
        Some(usage.own_cpus()? / self.rate()? * Work::Memory.for_cpu().0)
    }

    fn alone(&self, _: &Series) -> Option<SingleOutcome> {
        None
    }
}

pub(crate) fn summary(result: &Observations<'_>) -> Option<BalloonSummary> {
    let all: Vec<&BalloonData> =
        result.trials().filter_map(|trial| BalloonData::of(&trial.measurement)).collect();
    let first = all.iter().find(|data| data.rate().is_some())?;
    let median = |figure: fn(&BalloonData) -> f64| {
        let figures: Vec<f64> =
            all.iter().filter(|data| data.rate().is_some()).map(|data| figure(data)).collect();
        stats::describe::median(&figures).unwrap_or_default()
    };
    Some(BalloonSummary {
        method: first.method,
        direction: first.direction,
        first: median(|data| data.first.0 as f64),
        touching: median(|data| data.touching.0 as f64 / data.elapsed.0.max(1) as f64),
        resident_per_byte: median(|data| data.freed().unsigned_abs() as f64 / data.moved.0.max(1) as f64),
        longest_stall: all.iter().map(|data| data.stall.0 as f64).fold(0.0, f64::max),
    })
}
