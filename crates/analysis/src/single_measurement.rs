//! Analyses a single trial, which has no baseline, noise floor or other trials to compare it with.

use findings::{SINGLE_SCHEMA, SingleLevels, SingleMeasurement, SingleOutcome, SingleVerdict};
use samples::{CpuUsage, DeviceState, Environment, PathCounters, UnixMillis, ValidityWarning};
use workload::{Measurement, Placement, WorkloadSettings};

use crate::{
    cpu,
    hints::{self, SingleTrial},
    kind, modality, rule,
    series::{self, Series},
    sockets, steadiness, verdict, workload_summary,
};

/// With more shifts, the trial counts as alternating between two levels.
const FEW_SHIFTS: usize = 3;

#[derive(Debug, Clone, Copy)]
pub struct Single<'a> {
    pub tool: &'a str,
    pub started: UnixMillis,
    pub peer: &'a str,
    pub load: &'a WorkloadSettings,
    pub placement: &'a str,
    /// An end that sent no report has no intervals. An end that reported only a total has a single interval.
    pub measurement: &'a Measurement,
    pub cpu: &'a CpuUsage,
    pub warnings: &'a [ValidityWarning],
    pub environment: Option<&'a Environment>,
    pub devices: &'a [DeviceState],
    /// Counters of the client's own device and host.
    pub counters: Option<&'a PathCounters>,
}

#[must_use]
pub fn single_measurement(single: &Single<'_>) -> SingleMeasurement {
    let shifts = steadiness::shifts(&series(single));
    let sockets = sockets::ends([single.measurement].into_iter());
    let metric = single.measurement.kind().metric();
    let outcome = kind::of(single.measurement).alone(&series(single));
    let interval = outcome.as_ref().and_then(SingleOutcome::spread).map(|spread| spread.interval);
    let value = single.measurement.value(metric).filter(|_| outcome.is_some());
    let mut summary = SingleMeasurement {
        schema: SINGLE_SCHEMA,
        tool: single.tool.to_owned(),
        started: single.started,
        peer: single.peer.to_owned(),
        load: single.load.clone(),
        words: workload_summary::in_words(single.load, single.placement, &sockets),
        environment: single.environment.cloned(),
        verdict: SingleVerdict { metric, value, interval, limit: None, next: None, warnings: 0 },
        outcome,
        cpu: cpu::of_one(single.measurement, single.cpu),
        sockets,
        bimodal: bimodal(single).filter(|_| shifts.is_empty() || shifts.len() > FEW_SHIFTS),
        shifts,
        warnings: single.warnings.to_vec(),
        hints: Vec::new(),
    };
    summary.hints = rule::findings(hints::ALL, &SingleTrial { single, summary: &summary });
    let hint = summary.hints.iter().find(|hint| hint.superseded_by.is_none());
    summary.verdict.limit = hint.filter(|hint| hint.established).map(Into::into);
    summary.verdict.next = hint.and_then(|hint| verdict::suggested(hint, false));
    let warnings = summary.warnings.len() + summary.shifts.len() + usize::from(summary.bimodal.is_some());
    summary.verdict.warnings = u32::try_from(warnings).unwrap_or(u32::MAX);
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
        unpinned: single.placement == Placement::Free.to_string(),
    })
}

fn series(single: &Single<'_>) -> Series {
    series::of(single.measurement, Some(single.load.kind().interval()))
}

#[cfg(test)]
mod tests;
