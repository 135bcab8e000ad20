//! First-touch results: adds up page faults.

use findings::{FirstTouchSummary, SingleOutcome};
use samples::CpuUsage;
use units::{Bytes, Nanos};
use workload::{FirstTouchData, FirstTouchInterval, Work};

use super::KindAnalysis;
use crate::{
    observations::Observations,
    series::{Series, usual},
};

impl KindAnalysis for FirstTouchData {
    fn series(&self, asked: Option<Nanos>) -> Series {
        let length = |interval: &FirstTouchInterval| interval.end - interval.start;
        let measured = || self.intervals.iter().filter(|interval| !interval.warmup);
        let asked = asked.unwrap_or_else(|| usual(measured().map(length)));
        let whole = measured().filter(|interval| length(interval).0 >= (asked.0 / 2).max(1));
        Series { of: "client", length: asked, rates: whole.filter_map(FirstTouchInterval::rate).collect() }
    }

    fn cpu_per_work(&self, usage: &CpuUsage) -> Option<f64> {
        let rate = (self.touched.0 > 0 && self.elapsed.0 > 0)
            .then(|| self.touched.0 as f64 / self.elapsed.seconds())?;
        Some(usage.own_cpus()? / rate * Work::Memory.for_cpu().0)
    }

    fn alone(&self, _: &Series) -> Option<SingleOutcome> {
        None
    }
}

pub(crate) fn summary(result: &Observations<'_>) -> Option<FirstTouchSummary> {
    let all: Vec<&FirstTouchData> =
        result.trials().filter_map(|trial| FirstTouchData::of(&trial.measurement)).collect();
    let sum =
        |figure: fn(&FirstTouchData) -> u64| all.iter().copied().map(figure).fold(0, u64::saturating_add);
    let together = FirstTouchData {
        touched: Bytes(sum(|data| data.touched.0)),
        minor_faults: sum(|data| data.minor_faults),
        major_faults: sum(|data| data.major_faults),
        ..FirstTouchData::default()
    };
    Some(FirstTouchSummary {
        faults_per_gib: together.faults_per_gib()?,
        minor_faults: together.minor_faults,
        major_faults: together.major_faults,
    })
}
