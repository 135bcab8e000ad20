//! One row for each cell. Must not know trials.

use findings::{
    CellSummary, Comparison, ConnectSummary, CpuCost, Difference, Distribution, Estimate, Findings,
    GuestTime, LatencySummary,
};

use samples::{EndReason, Owner};

use super::{basis, cell_columns::COLUMNS, ends, line, metric, optional};
use crate::labels;

const PERCENTILES: [f64; 6] = [0.25, 0.5, 0.75, 0.9, 0.99, 0.999];

pub(crate) fn cells(findings: &Findings) -> String {
    let factors = labels::factors(findings.cells.iter().map(|cell| &cell.levels));
    let names = factors.iter().map(|factor| format!("factor.{factor}"));
    let reported = labels::reported(findings.cells.iter());
    let columns = reported.iter().map(|column| format!("reported.{column}"));
    let owners = labels::owners(findings.cells.iter());
    let owned = owners.iter().map(|owner| format!("owner.{}", labels::owner_key(*owner)));
    let guests = labels::distinct(guests(findings).map(|guest| guest.end.as_str()));
    let seen = guests.iter().map(|end| format!("guest.{end}"));
    let further = names.chain(columns).chain(owned).chain(seen);
    let head = line(COLUMNS.map(str::to_owned).into_iter().chain(further));
    let of_cell = |cell: &CellSummary| -> Vec<String> {
        let owned = owners.iter().map(|it| optional(owner(cell, *it)));
        owned.chain(guests.iter().map(|end| optional(guest(cell, end)))).collect()
    };
    let rows = findings.cells.iter().map(|cell| row(findings, cell, &factors, &reported, of_cell(cell)));
    [head].into_iter().chain(rows).collect()
}

fn row(
    findings: &Findings,
    cell: &CellSummary,
    factors: &[&str],
    reported: &[&str],
    cpus: Vec<String>,
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
    fields.push(optional(place(findings, cell)));
    debug_assert_eq!(fields.len(), COLUMNS.len());
    fields.extend(factors.iter().map(|factor| cell.levels.get(*factor).cloned().unwrap_or_default()));
    let value =
        |name: &&str| cell.reported.iter().find(|value| value.name == **name).map(|value| value.value);
    fields.extend(reported.iter().map(|name| optional(value(name))));
    fields.extend(cpus);
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
        optional(probed.and_then(|probed| probed.calls.as_ref()).map(|calls| calls.all)),
    ]
}

/// Its place in a ranking.
fn place(findings: &Findings, cell: &CellSummary) -> Option<u32> {
    let mut ranks = findings.rankings.iter().flat_map(|ranking| &ranking.ranks);
    ranks.find(|rank| rank.cell == cell.id).map(|rank| rank.place)
}

fn guests(findings: &Findings) -> impl Iterator<Item = &GuestTime> {
    findings.cells.iter().flat_map(|cell| &cell.guests)
}

/// CPUs of an end's guest, by its own count.
fn guest(cell: &CellSummary, end: &str) -> Option<f64> {
    cell.guests.iter().find(|guest| guest.end == end).map(|guest| guest.busy)
}

/// CPUs of an owner.
fn owner(cell: &CellSummary, owner: Owner) -> Option<f64> {
    let cpu = cell.probed.as_ref()?.cpu.as_ref()?;
    cpu.owners.iter().find(|time| time.owner == owner).map(|time| time.cpus)
}

fn at(times: Option<&Distribution>, share: f64) -> String {
    optional(times.and_then(|times| times.at(share)).map(|time| time.0))
}
