//! Round trips of a result, with the open-loop schedule and the concurrent stream.

use findings::{LatencySummary, OpenLoopSummary, SingleOutcome};
use samples::{Arm, CpuUsage, Trial};
use units::Nanos;
use workload::{OpenLoopData, PingPongData, Work};

use super::{KindAnalysis, stream};
use crate::{
    compare, distribution,
    modality::{self, SamplingUnit},
    observations::Observations,
    series::Series,
};

impl KindAnalysis for PingPongData {
    fn within(&self, _: &Series) -> (SamplingUnit, Vec<f64>) {
        (SamplingUnit::RoundTrips, modality::points(&self.round_trips))
    }

    /// Uses the average number of busy CPUs, because the CPU time includes the warm-up but the histogram does not.
    /// Returns `None` if there is a background stream, which takes most of the CPU time.
    fn cpu_per_work(&self, usage: &CpuUsage) -> Option<f64> {
        let count = self.round_trips.count();
        (count > 0 && self.under.is_none()).then_some(())?;
        Some(usage.own_cpus()? * self.elapsed.seconds() / count as f64 * Work::Messages.for_cpu().0)
    }

    fn alone(&self, _: &Series) -> Option<SingleOutcome> {
        together(&[self]).map(SingleOutcome::PingPong)
    }
}

pub(crate) fn summary(result: &Observations<'_>) -> Option<LatencySummary> {
    // Include trials without a reply, because most losses occur in them.
    let silent = result.unusable.iter().copied().filter(|trial| trial.arm == Arm::Measure);
    let all: Vec<&PingPongData> = result.trials().chain(silent).filter_map(ping_pong).collect();
    together(&all)
}

pub(crate) fn together(all: &[&PingPongData]) -> Option<LatencySummary> {
    let histogram = distribution::merged(all.iter().map(|data| &data.round_trips));
    let answered = all.iter().filter(|data| data.round_trips.count() > 0);
    let elapsed: Nanos = answered.map(|data| data.elapsed).sum();
    let round_trips = distribution::of_trials(&all.iter().map(|data| &data.round_trips).collect::<Vec<_>>())?;
    Some(LatencySummary {
        rate: (elapsed.0 > 0).then(|| round_trips.count as f64 / elapsed.seconds()),
        round_trips,
        lost: all_of(all, |data| data.lost),
        strays: all_of(all, |data| data.strays),
        duplicates: all_of(all, |data| data.duplicates),
        open_loop: open_loop(all),
        under: compare::estimate(&all.iter().filter_map(|data| background_rate(data)).collect::<Vec<_>>()),
        histogram,
    })
}

pub(crate) fn ping_pong(trial: &Trial) -> Option<&PingPongData> {
    PingPongData::of(&trial.measurement)
}

fn all_of(all: &[&PingPongData], count: fn(&PingPongData) -> Option<u64>) -> Option<u64> {
    all.iter().try_fold(0u64, |sum, data| Some(sum.saturating_add(count(data)?)))
}

fn open_loop(all: &[&PingPongData]) -> Option<OpenLoopSummary> {
    let open: Vec<&OpenLoopData> = all.iter().filter_map(|data| data.open_loop.as_ref()).collect();
    let of = |times: fn(&OpenLoopData) -> &_| {
        distribution::of_trials(&open.iter().map(|data| times(data)).collect::<Vec<_>>())
    };
    Some(OpenLoopSummary {
        since_intended: of(|data| &data.since_intended)?,
        lateness: of(|data| &data.lateness)?,
    })
}

fn background_rate(data: &PingPongData) -> Option<f64> {
    stream::received(&data.under.as_ref()?.flows, None)
}
