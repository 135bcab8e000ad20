//! Analyses one trial without a baseline, a noise floor or other trials. Independent of `hints`.

use findings::{SINGLE_SCHEMA, SingleLevels, SingleMeasurement};
use samples::{CpuUsage, DeviceState, Environment, UnixMillis, ValidityWarning};
use workload::{Measurement, Placement, WorkloadSettings};

use crate::{
    cpu,
    hints::{self, SingleTrial},
    kind, modality, rule,
    series::{self, Series},
    sockets, steadiness, workload_summary,
};

/// More shifts than this are two levels that it went back and forth between.
const FEW_SHIFTS: usize = 3;

/// A trial and its environment.
#[derive(Debug, Clone, Copy)]
pub struct Single<'a> {
    /// The version of plumb that measured.
    pub tool: &'a str,
    /// When it began.
    pub started: UnixMillis,
    /// What it was measured against, as the user named it.
    pub peer: &'a str,
    /// What was sent.
    pub load: &'a WorkloadSettings,
    /// Where the threads of the ends ran.
    pub placement: &'a Placement,
    /// What was measured. An end that told nothing has no intervals; one that told only a total has one.
    pub measurement: &'a Measurement,
    /// CPU time beside it.
    pub cpu: &'a CpuUsage,
    /// Reasons to distrust it.
    pub warnings: &'a [ValidityWarning],
    /// The machine at this end, where known.
    pub environment: Option<&'a Environment>,
    /// The devices on the way, where known.
    pub devices: &'a [DeviceState],
}

/// Everything that can be said of a trial alone. Equal trials give equal documents.
#[must_use]
pub fn single_measurement(single: &Single<'_>) -> SingleMeasurement {
    let shifts = steadiness::shifts(&series(single));
    let sockets = sockets::ends([single.measurement].into_iter());
    let mut summary = SingleMeasurement {
        schema: SINGLE_SCHEMA,
        tool: single.tool.to_owned(),
        started: single.started,
        peer: single.peer.to_owned(),
        load: single.load.clone(),
        words: workload_summary::in_words(single.load, &single.placement.to_string(), &sockets),
        environment: single.environment.cloned(),
        outcome: kind::of(single.measurement).alone(&series(single)),
        cpu: cpu::of_one(single.measurement, single.cpu),
        sockets,
        bimodal: bimodal(single).filter(|_| shifts.is_empty() || shifts.len() > FEW_SHIFTS),
        shifts,
        warnings: single.warnings.to_vec(),
        hints: Vec::new(),
    };
    summary.hints = rule::claims(hints::ALL, &SingleTrial { single, summary: &summary });
    summary
}

fn bimodal(single: &Single<'_>) -> Option<SingleLevels> {
    let series = series(single);
    if modality::is_granular(single.load, series.length, &series.rates) {
        return None;
    }
    let (of, values) = kind::of(single.measurement).within(&series);
    let levels = modality::bimodal(&values)?;
    Some(SingleLevels {
        quantity: of.to_string(),
        low: levels.low,
        high: levels.high,
        share_high: levels.share_high,
        unpinned: *single.placement == Placement::Free,
    })
}

fn series(single: &Single<'_>) -> Series {
    series::of(single.measurement, Some(single.load.kind().interval()))
}

#[cfg(test)]
mod tests;
