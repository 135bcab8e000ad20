//! Analysis that depends on the kind of workload.

pub(crate) mod balloon;
pub(crate) mod connect;
pub(crate) mod first_touch;
pub(crate) mod ping_pong;
pub(crate) mod reported;
pub(crate) mod stream;

use findings::{ConsumerCost, Estimate, SingleOutcome, WorkloadSummary};
use samples::CpuUsage;
use units::Nanos;
use workload::Measurement;

use crate::{cpu_attribution, modality::SamplingUnit, observations::Observations, series::Series};

pub(crate) trait KindAnalysis {
    fn series(&self, asked: Option<Nanos>) -> Series {
        Series { of: "client", length: asked.unwrap_or_default(), rates: Vec::new() }
    }

    fn within(&self, series: &Series) -> (SamplingUnit, Vec<f64>) {
        (SamplingUnit::Intervals, series.rates.clone())
    }

    /// Returns `None` if the trial did no work, or more than one kind of work.
    fn cpu_per_work(&self, usage: &CpuUsage) -> Option<f64>;

    fn alone(&self, series: &Series) -> Option<SingleOutcome>;

    fn consumers(&self, usage: &CpuUsage) -> Vec<ConsumerCost> {
        cpu_attribution::measured(usage)
    }
}

pub(crate) const fn of(measurement: &Measurement) -> &dyn KindAnalysis {
    match measurement {
        Measurement::Stream(data) => data,
        Measurement::PingPong(data) => data,
        Measurement::Connect(data) => data,
        Measurement::FirstTouch(data) => data,
        Measurement::Balloon(data) => data,
        Measurement::Reported(data) => data,
    }
}

pub(crate) fn summary(result: &Observations<'_>, value: Estimate) -> WorkloadSummary {
    let of_kind = |measurement: &Measurement| match measurement {
        Measurement::Stream(_) => stream::summary(result, value).map(WorkloadSummary::Stream),
        Measurement::PingPong(_) => ping_pong::summary(result).map(WorkloadSummary::PingPong),
        Measurement::Connect(_) => connect::summary(result).map(WorkloadSummary::Connect),
        Measurement::FirstTouch(_) => first_touch::summary(result).map(WorkloadSummary::FirstTouch),
        Measurement::Balloon(_) => balloon::summary(result).map(WorkloadSummary::Balloon),
        Measurement::Reported(_) => None,
    };
    result.trials().find_map(|trial| of_kind(&trial.measurement)).unwrap_or(WorkloadSummary::Reported)
}
