//! One row for each cell. Must not know trials.

use findings::{
    CellSummary, Comparison, ConnectSummary, CpuCost, Difference, Distribution, Estimate, Findings,
    LatencySummary,
};

use samples::{EndReason, Owner};

use super::{basis, ends, line, metric, optional};
use crate::labels;

const COLUMNS: [&str; 77] = [
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
    "reorderings",
    "out_of_order_segments",
    "datagrams_per_second",
    "datagrams_lost",
    "datagrams_loss",
    "datagrams_reordered",
    "datagrams_duplicate",
    "jitter_ns",
    "send_lateness_p50_ns",
    "send_lateness_p99_ns",
    "since_intended_p50_ns",
    "since_intended_p99_ns",
    "since_intended_p99.9_ns",
    "beside_bits_per_second",
    "connect_p50_ns",
    "connect_p99_ns",
    "exchange_p50_ns",
    "exchange_p99_ns",
    "connections_failed",
    "interval_basis",
    "ended",
    "level_shifts",
    "probed_trials",
    "owners_busy_cpus",
    "owners_unexplained_share",
    "calls_client_per_unit",
    "calls_server_per_unit",
    "way_sum_ns",
    "way_engine_p50_ns",
    "way_unexplained_share",
];
const PERCENTILES: [f64; 6] = [0.25, 0.5, 0.75, 0.9, 0.99, 0.999];

pub(crate) fn cells(findings: &Findings) -> String {
    let factors = labels::factors(findings.cells.iter().map(|cell| &cell.levels));
    let names = factors.iter().map(|factor| format!("factor.{factor}"));
    let reported = labels::reported(findings.cells.iter());
    let columns = reported.iter().map(|column| format!("reported.{column}"));
    let owners = labels::owners(findings.cells.iter());
    let owned = owners.iter().map(|owner| format!("owner.{}", labels::owner_key(*owner)));
    let head = line(COLUMNS.map(str::to_owned).into_iter().chain(names).chain(columns).chain(owned));
    let of_owners =
        |cell: &CellSummary| owners.iter().map(|it| optional(owner(cell, *it))).collect::<Vec<_>>();
    let rows = findings.cells.iter().map(|cell| row(findings, cell, &factors, &reported, of_owners(cell)));
    [head].into_iter().chain(rows).collect()
}

fn row(
    findings: &Findings,
    cell: &CellSummary,
    factors: &[&str],
    reported: &[&str],
    owned: Vec<String>,
) -> String {
    let mut fields = identity(findings, cell);
    fields.extend(value(&cell.value));
    fields.extend(against(cell.against_baseline.as_ref()));
    fields.extend(stream(cell));
    fields.extend(latency(cell.latency.as_ref()));
    fields.extend(cost(cell));
    fields.extend(datagrams(cell));
    fields.extend(schedule(cell));
    fields.extend(connections(cell.connect.as_ref()));
    let ended = cell.ended.as_ref().map(|end| ended(&end.why));
    fields.extend([
        optional(cell.value.interval.map(|_| basis(cell.value.basis))),
        optional(ended),
        cell.shifts.len().to_string(),
    ]);
    fields.extend(probed(cell));
    debug_assert_eq!(fields.len(), COLUMNS.len());
    fields.extend(factors.iter().map(|factor| cell.levels.get(*factor).cloned().unwrap_or_default()));
    let value =
        |name: &&str| cell.reported.iter().find(|value| value.name == **name).map(|value| value.value);
    fields.extend(reported.iter().map(|name| optional(value(name))));
    fields.extend(owned);
    line(fields)
}

const fn ended(why: &EndReason) -> &'static str {
    match why {
        EndReason::Planned => "planned",
        EndReason::Precise { .. } => "precise",
        EndReason::Budget { .. } => "budget",
        EndReason::Settled => "settled",
        EndReason::Unusable { .. } => "unusable",
    }
}

fn identity(findings: &Findings, cell: &CellSummary) -> Vec<String> {
    let (metric, unit) = metric(cell.metric);
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
    let tcp = stream.and_then(|stream| stream.tcp);
    vec![
        optional(stream.and_then(|stream| stream.sent).map(|sent| sent.median)),
        optional(stream.map(|stream| stream.received.median)),
        optional(tcp.map(|tcp| tcp.retransmits)),
        optional(tcp.and_then(|tcp| tcp.cwnd).map(|cwnd| cwnd.0.0)),
        optional(tcp.and_then(|tcp| tcp.cwnd).map(|cwnd| cwnd.1.0)),
        optional(tcp.and_then(|tcp| tcp.rtt).map(|rtt| rtt.0)),
    ]
}

fn latency(latency: Option<&LatencySummary>) -> Vec<String> {
    let times = latency.map(|latency| &latency.round_trips);
    let mut fields = vec![optional(times.map(|times| times.min.0))];
    fields.extend(PERCENTILES.map(|share| at(times, share)));
    fields.extend([
        optional(times.map(|times| times.max.0)),
        optional(times.map(|times| times.mean)),
        optional(times.map(|times| times.count)),
        optional(latency.and_then(|latency| latency.lost)),
    ]);
    fields
}

fn cost(cell: &CellSummary) -> Vec<String> {
    let cpu = cell.cpu;
    let of = |figure: fn(&CpuCost) -> f64| optional(cpu.as_ref().map(figure));
    let mut fields = vec![optional(cell.path_mtu), optional(cpu.map(|cpu| cpu.cpus))];
    fields.extend([of(|cpu| cpu.busy), of(|cpu| cpu.interrupts), of(|cpu| cpu.client), of(|cpu| cpu.server)]);
    fields.extend([optional(cpu.and_then(|cpu| cpu.per_gigabyte)), cell.doubts.len().to_string()]);
    fields
}

/// What went wrong on the way, of TCP and of UDP.
fn datagrams(cell: &CellSummary) -> Vec<String> {
    let tcp = cell.stream.as_ref().and_then(|stream| stream.tcp);
    let udp = cell.stream.as_ref().and_then(|stream| stream.datagrams);
    vec![
        optional(tcp.and_then(|tcp| tcp.reorderings)),
        optional(tcp.and_then(|tcp| tcp.out_of_order)),
        optional(udp.map(|udp| udp.rate)),
        optional(udp.map(|udp| udp.lost)),
        optional(udp.map(|udp| udp.loss)),
        optional(udp.map(|udp| udp.reordered)),
        optional(udp.map(|udp| udp.duplicates)),
        optional(udp.map(|udp| udp.jitter.0)),
    ]
}

/// What a schedule shows: of a stream with a rate, of an open loop, of a ping-pong with something beside it.
fn schedule(cell: &CellSummary) -> Vec<String> {
    let late = cell.stream.as_ref().and_then(|stream| stream.lateness.as_ref());
    let open = cell.latency.as_ref().and_then(|latency| latency.open_loop.as_ref());
    let (late, intended) = (late.or(open.map(|open| &open.lateness)), open.map(|open| &open.since_intended));
    let under = cell.latency.as_ref().and_then(|latency| latency.under);
    let mut fields = vec![at(late, 0.5), at(late, 0.99)];
    fields.extend([0.5, 0.99, 0.999].map(|share| at(intended, share)));
    fields.push(optional(under.map(|rate| rate.median)));
    fields
}

fn connections(connect: Option<&ConnectSummary>) -> Vec<String> {
    let (connects, exchanges) = (connect.map(|it| &it.connects), connect.map(|it| &it.exchanges));
    let mut fields: Vec<String> =
        [connects, exchanges].into_iter().flat_map(|times| [at(times, 0.5), at(times, 0.99)]).collect();
    fields.push(optional(connect.map(|connect| connect.failed)));
    fields
}

/// What probes saw; calls are for each megabyte, message or connection.
fn probed(cell: &CellSummary) -> Vec<String> {
    let probed = cell.probed.as_ref();
    let cpu = probed.and_then(|probed| probed.cpu.as_ref());
    let calls = |end: &str| {
        let ends = probed.and_then(|probed| probed.calls.as_ref()).map(|calls| calls.ends.as_slice());
        let found = ends.unwrap_or_default().iter().find(|calls| calls.end.as_deref() == Some(end));
        optional(found.map(|calls| calls.rate))
    };
    let way = cell.way();
    vec![
        optional(probed.map(|probed| probed.trials)),
        optional(cpu.map(|cpu| cpu.busy)),
        optional(cpu.map(|cpu| cpu.unexplained_share)),
        calls("client"),
        calls("server"),
        optional(way.map(|way| way.sum.0)),
        optional(way.and_then(|way| way.engine).map(|engine| engine.0)),
        optional(way.map(|way| way.unexplained)),
    ]
}

/// CPUs of an owner.
fn owner(cell: &CellSummary, owner: Owner) -> Option<f64> {
    let cpu = cell.probed.as_ref()?.cpu.as_ref()?;
    cpu.owners.iter().find(|time| time.owner == owner).map(|time| time.cpus)
}

fn at(times: Option<&Distribution>, share: f64) -> String {
    optional(times.and_then(|times| times.at(share)).map(|time| time.0))
}
