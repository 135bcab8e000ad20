//! Connections of a result: merges histograms and adds up failures.

use findings::{ConnectSummary, SingleConnect, SingleOutcome, SingleRate};
use samples::{Arm, CpuUsage};
use units::Nanos;
use workload::{ConnectData, ConnectInterval, Work};

use super::KindAnalysis;
use crate::{
    distribution,
    observations::Observations,
    series::{Series, usual},
    steadiness,
};

impl KindAnalysis for ConnectData {
    fn series(&self, asked: Option<Nanos>) -> Series {
        let length = |interval: &ConnectInterval| interval.end - interval.start;
        let measured = || self.intervals.iter().filter(|interval| !interval.warmup);
        let asked = asked.unwrap_or_else(|| usual(measured().map(length)));
        let whole = measured().filter(|interval| length(interval).0 >= (asked.0 / 2).max(1));
        let rates = whole.map(|interval| interval.done as f64 / length(interval).seconds()).collect();
        Series { of: "client", length: asked, rates }
    }

    fn cpu_per_work(&self, usage: &CpuUsage) -> Option<f64> {
        Some(usage.own_cpus()? / self.rate()? * Work::Connections.for_cpu().0)
    }

    fn alone(&self, series: &Series) -> Option<SingleOutcome> {
        let rate = self.rate()?;
        let rate = SingleRate { rate, spread: steadiness::spread(series, rate) };
        Some(SingleOutcome::Connect(SingleConnect { rate, times: together(&[self])? }))
    }
}

pub(crate) fn summary(result: &Observations<'_>) -> Option<ConnectSummary> {
    // Include trials without a successful connection, because most failures occur in them.
    let barren = result.unusable.iter().copied().filter(|trial| trial.arm == Arm::Measure);
    together(
        &result
            .trials()
            .chain(barren)
            .filter_map(|trial| ConnectData::of(&trial.measurement))
            .collect::<Vec<_>>(),
    )
}

pub(crate) fn together(all: &[&ConnectData]) -> Option<ConnectSummary> {
    Some(ConnectSummary {
        connects: distribution::of_trials(&all.iter().map(|data| &data.connects).collect::<Vec<_>>())?,
        exchanges: distribution::of_trials(&all.iter().map(|data| &data.exchanges).collect::<Vec<_>>())?,
        failed: all.iter().fold(0, |sum, data| sum.saturating_add(data.failed)),
    })
}
