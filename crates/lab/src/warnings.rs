//! Warnings about the validity of a single trial. The analysis compares trials with each other.

mod ping_pong;
mod stream;

use protocol::EndReport;
use samples::{CpuUsage, ValidityWarning};
use units::{BitRate, Nanos};
use workload::{
    EndSeries, Flow, Measurement, PingPongData, PingPongSettings, StreamData, StreamSettings,
    WorkloadSettings,
};

/// The minimum fraction of stolen CPU time for a warning.
const STOLEN: f64 = 0.02;
/// Maximum deviation from the requested duration of a trial, as a fraction.
const TOLERANCE: f64 = 0.1;
/// Gaps shorter than this are ordinary scheduling delays.
const SHORTEST_STALL: Nanos = Nanos::from_millis(100);
/// The time slice of a thread under contention (base_slice_ns in the kernel, 3 ms with few CPUs).
const TIME_SLICE: Nanos = Nanos::from_millis(4);
/// The minimum fraction of the requested rate that a stream must reach. A sender catches up after short
/// stalls.
const MIN_RATE: f64 = 0.97;

/// An end that reported no intervals causes no warnings.
#[must_use]
pub fn warnings(load: &WorkloadSettings, measurement: &Measurement, cpu: &CpuUsage) -> Vec<ValidityWarning> {
    let mut warnings = of_kind(load, measurement, cpu);
    warnings.extend(stolen(cpu));
    warnings.extend(other_duration(load, measurement));
    warnings
}

fn of_kind(load: &WorkloadSettings, measurement: &Measurement, cpu: &CpuUsage) -> Vec<ValidityWarning> {
    let of_stream = StreamSettings::of(load).zip(StreamData::of(measurement));
    let of_ping = PingPongSettings::of(load).zip(PingPongData::of(measurement));
    let found = of_stream.map(|(requested, data)| stream::warnings(requested, data, cpu));
    found
        .or_else(|| of_ping.map(|(requested, data)| ping_pong::warnings(requested, data)))
        .unwrap_or_default()
}

/// Why a trial is discarded: a thread did not run most of the time, or nothing arrived.
pub(crate) fn void(load: &WorkloadSettings, measurement: &Measurement) -> Option<ValidityWarning> {
    let lasted = durations(load, measurement);
    let short = lasted.is_some_and(|(requested, measured)| measured.0 < requested.0 / 2);
    (short || measurement.kind().is_void()).then(|| ValidityWarning::Interrupted {
        requested: load.kind().lasts(),
        measured: lasted.map_or(Nanos(0), |(_, measured)| measured),
    })
}

/// Warns about the longest stall of an end, if it is long compared with the trial and with scheduling delays
/// among the ends' threads. Skips guests, because their clocks may stop during a stall. Also skips ends that a
/// CPU quota paused for at least as long, because the quota is part of the system under test.
pub(crate) fn stalled(
    load: &WorkloadSettings,
    ends: [Option<&EndReport>; 2],
    guests: [bool; 2],
) -> Option<ValidityWarning> {
    let threads = ends.iter().flatten().map(|end| end.threads.len() as u64).sum::<u64>();
    let ends = ends.into_iter().zip(guests).zip(["client", "server"]);
    let known = ends.filter(|((_, is_guest), _)| !is_guest);
    let paused = |end: &EndReport| end.throttled.as_ref().map_or(Nanos(0), |throttled| throttled.time);
    let is_unexplained = |(end, _): &(&EndReport, _)| paused(end) < end.stalled;
    let longest = known
        .filter_map(|((end, _), name)| Some((end?, name)))
        .filter(is_unexplained)
        .max_by_key(|(end, _)| end.stalled);
    let (end, name) = longest?;
    let lasted = load.kind().lasts().unwrap_or(end.machine.elapsed);
    let turns = Nanos(TIME_SLICE.0 * threads / u64::from(end.machine.cpus.max(1)));
    let bound = SHORTEST_STALL.max(Nanos((lasted.0 as f64 * TOLERANCE) as u64)).max(turns);
    (end.stalled >= bound).then(|| ValidityWarning::Stalled { end: name.to_owned(), stalled: end.stalled })
}

fn rate_not_reached(requested: BitRate, flows: &[Flow]) -> Option<ValidityWarning> {
    let known = || flows.iter().map(|flow| &flow.sender).filter(|sender| sender.elapsed().0 > 0);
    let achieved = known().map(EndSeries::rate).min_by(|one, other| one.0.total_cmp(&other.0))?;
    let skipped = known().any(|sender| sender.skipped > Some(Nanos(0)));
    (skipped || achieved.0 < requested.0 * MIN_RATE)
        .then_some(ValidityWarning::RateNotReached { requested, achieved })
}

fn stolen(cpu: &CpuUsage) -> Option<ValidityWarning> {
    let possible = cpu.machine.elapsed.0 as f64 * f64::from(cpu.machine.cpus);
    let share = cpu.machine.steal.0 as f64 / possible.max(1.0);
    (share >= STOLEN).then_some(ValidityWarning::Stolen { share })
}

fn other_duration(load: &WorkloadSettings, measurement: &Measurement) -> Option<ValidityWarning> {
    let (requested, measured) = durations(load, measurement)?;
    let off = measured.0.abs_diff(requested.0) as f64 / requested.0.max(1) as f64;
    (off > TOLERANCE).then_some(ValidityWarning::OtherDuration { requested, measured })
}

fn durations(load: &WorkloadSettings, measurement: &Measurement) -> Option<(Nanos, Nanos)> {
    let requested = load.kind().lasts()?;
    let measured = measurement.kind().lasted(requested)?;
    Some((requested, measured))
}

#[cfg(test)]
mod tests;
