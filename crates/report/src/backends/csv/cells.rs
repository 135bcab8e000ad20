//! One row for each cell. Must not know trials.

use findings::{CellSummary, Comparison, Difference, Estimate, Findings, Interval, LatencySummary, Metric};
use units::Nanos;

use super::{line, optional};
use crate::labels;

const COLUMNS: [&str; 47] = [
    "run",
    "cell",
    "path",
    "layers",
    "workload",
    "load",
    "baseline",
    "metric",
    "unit",
    "trials",
    "median",
    "low",
    "high",
    "confidence",
    "mean",
    "standard_deviation",
    "baseline_ratio",
    "baseline_ratio_low",
    "baseline_ratio_high",
    "baseline_ratio_confidence",
    "baseline_difference",
    "baseline_verdict",
    "sent_bits_per_second",
    "received_bits_per_second",
    "retransmits",
    "cwnd_min_bytes",
    "cwnd_max_bytes",
    "rtt_under_load_ns",
    "round_trip_min_ns",
    "round_trip_p25_ns",
    "round_trip_p50_ns",
    "round_trip_p75_ns",
    "round_trip_p90_ns",
    "round_trip_p99_ns",
    "round_trip_p99.9_ns",
    "round_trip_max_ns",
    "round_trip_mean_ns",
    "round_trips",
    "round_trips_lost",
    "path_mtu_bytes",
    "cpus",
    "cpus_busy",
    "cpus_interrupts",
    "cpus_client",
    "cpus_server",
    "cpu_seconds_per_gigabyte",
    "doubts",
];
const PERCENTILES: [f64; 6] = [0.25, 0.5, 0.75, 0.9, 0.99, 0.999];

pub(crate) fn cells(findings: &Findings) -> String {
    let factors = labels::factors(&findings.cells);
    let names = factors.iter().map(|factor| format!("factor.{factor}"));
    let head = line(COLUMNS.map(str::to_owned).into_iter().chain(names));
    let rows = findings.cells.iter().map(|cell| row(findings, cell, &factors));
    [head].into_iter().chain(rows).collect()
}

fn row(findings: &Findings, cell: &CellSummary, factors: &[&str]) -> String {
    let mut fields = identity(findings, cell);
    fields.extend(value(&cell.value));
    fields.extend(against(cell.against_baseline.as_ref()));
    fields.extend(stream(cell));
    fields.extend(latency(cell.latency.as_ref()));
    fields.extend(cost(cell));
    debug_assert_eq!(fields.len(), COLUMNS.len());
    fields.extend(factors.iter().map(|factor| cell.levels.get(*factor).cloned().unwrap_or_default()));
    line(fields)
}

fn identity(findings: &Findings, cell: &CellSummary) -> Vec<String> {
    let (metric, unit) = match cell.metric {
        Metric::Throughput => ("throughput", "bit/s"),
        Metric::RoundTrip => ("round-trip", "ns"),
    };
    vec![
        findings.run.id.to_string(),
        cell.id.clone(),
        cell.path.clone(),
        cell.layers.join(" "),
        cell.workload.clone(),
        cell.load.clone(),
        cell.baseline.to_string(),
        metric.to_owned(),
        unit.to_owned(),
    ]
}

fn value(estimate: &Estimate) -> Vec<String> {
    let interval = ends(estimate.interval);
    let [low, high, confidence] = interval;
    vec![
        estimate.trials.to_string(),
        estimate.median.to_string(),
        low,
        high,
        confidence,
        estimate.mean.to_string(),
        optional(estimate.deviation),
    ]
}

fn against(comparison: Option<&Comparison>) -> Vec<String> {
    let verdict = |comparison: &Comparison| match comparison.verdict {
        Difference::Lower => "lower",
        Difference::Higher => "higher",
        Difference::None => "none",
        Difference::Unclear => "unclear",
    };
    let [low, high, confidence] = ends(comparison.and_then(|comparison| comparison.ratio_interval));
    let ratio = optional(comparison.map(|comparison| comparison.ratio));
    let difference = optional(comparison.map(|comparison| comparison.difference));
    vec![ratio, low, high, confidence, difference, optional(comparison.map(verdict))]
}

fn stream(cell: &CellSummary) -> Vec<String> {
    let stream = cell.stream.as_ref();
    vec![
        optional(stream.map(|stream| stream.sent.median)),
        optional(stream.map(|stream| stream.received.median)),
        optional(stream.map(|stream| stream.retransmits)),
        optional(stream.and_then(|stream| stream.cwnd).map(|cwnd| cwnd.0.0)),
        optional(stream.and_then(|stream| stream.cwnd).map(|cwnd| cwnd.1.0)),
        optional(stream.and_then(|stream| stream.rtt).map(|rtt| rtt.0)),
    ]
}

fn latency(latency: Option<&LatencySummary>) -> Vec<String> {
    let nanos = |time: Option<Nanos>| optional(time.map(|time| time.0));
    let at = |share: f64| {
        let percentiles = latency.map(|latency| latency.percentiles.as_slice()).unwrap_or_default();
        nanos(percentiles.iter().find(|(other, _)| (other - share).abs() < 1e-9).map(|(_, time)| *time))
    };
    let mut fields = vec![nanos(latency.map(|latency| latency.min))];
    fields.extend(PERCENTILES.map(at));
    fields.extend([
        nanos(latency.map(|latency| latency.max)),
        optional(latency.map(|latency| latency.mean)),
        optional(latency.map(|latency| latency.count)),
        optional(latency.map(|latency| latency.lost)),
    ]);
    fields
}

fn cost(cell: &CellSummary) -> Vec<String> {
    let cpu = &cell.cpu;
    let mut fields = vec![optional(cell.path_mtu), cpu.cpus.to_string()];
    fields.extend([cpu.busy, cpu.interrupts, cpu.client, cpu.server].map(|cpus| cpus.to_string()));
    fields.extend([optional(cpu.per_gigabyte), cell.doubts.len().to_string()]);
    fields
}

fn ends(interval: Option<Interval>) -> [String; 3] {
    let end = |of: fn(Interval) -> f64| optional(interval.map(of));
    [end(|interval| interval.low), end(|interval| interval.high), end(|interval| interval.confidence)]
}
