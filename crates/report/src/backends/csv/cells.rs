//! One row for each cell.

use findings::{CellSummary, Comparison, CpuCost, Difference, Findings};
use samples::{CpuOwner, EndReason};
use units::Nanos;
use workload::Work;

use super::{basis, table::Table, unit, word};
use crate::{kind, labels};

type Cells<'a> = Table<'a, &'a CellSummary>;

pub(crate) fn cells(findings: &Findings) -> String {
    let table = compared(value(identity(Table::new(), findings)));
    let table = of_machine(of_kinds(table, &TRANSFER));
    let table = design(of_kinds(table, &SCHEDULE));
    let table = probed(table).column("place", "", |cell| place(findings, cell));
    by_run(of_kinds(table, &[]), findings).write(&findings.cells)
}

/// Kind-specific columns before those of the machine.
const TRANSFER: [&str; 17] = [
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
];

/// Kind-specific columns after those of the machine.
const SCHEDULE: [&str; 19] = [
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
];

/// Kind-specific columns with these heads; without heads, all remaining ones.
fn of_kinds<'a>(table: Cells<'a>, heads: &[&'static str]) -> Cells<'a> {
    let further = || kind::heads().into_iter().filter(|head| !table.has(head)).collect();
    let heads: Vec<String> =
        if heads.is_empty() { further() } else { heads.iter().map(ToString::to_string).collect() };
    heads.into_iter().fold(table, |table, head| {
        let name = head.clone();
        table.column(&name, "", move |cell| kind::of(cell).column(&head))
    })
}

fn identity<'a>(table: Cells<'a>, findings: &'a Findings) -> Cells<'a> {
    table
        .column("run", "", |_| Some(&findings.run.id))
        .column("cell", "", |cell| Some(&cell.id))
        .column("path", "", |cell| Some(&cell.path))
        .column("layers", "", |cell| Some(cell.layers.join(" ")))
        .column("workload", "", |cell| Some(&cell.workload))
        .column("load", "", |cell| Some(&cell.load))
        .column("baseline", "", |cell| Some(cell.baseline))
        .column("metric", "", |cell| Some(word(cell.metric)))
        .column("unit", "", |cell| Some(unit(cell.metric)))
}

fn value(table: Cells<'_>) -> Cells<'_> {
    table
        .column("trials", "", |cell| Some(cell.value.trials))
        .column("median", "", |cell| Some(cell.value.median))
        .column("low", "", |cell| Some(cell.value.interval?.low))
        .column("high", "", |cell| Some(cell.value.interval?.high))
        .column("confidence", "", |cell| Some(cell.value.interval?.confidence))
        .column("mean", "", |cell| Some(cell.value.mean))
        .column("standard_deviation", "", |cell| cell.value.deviation)
}

fn compared(table: Cells<'_>) -> Cells<'_> {
    table
        .column("baseline_ratio", "", |cell| Some(cell.against_baseline?.ratio))
        .column("baseline_ratio_low", "", |cell| Some(cell.against_baseline?.ratio_interval?.low))
        .column("baseline_ratio_high", "", |cell| Some(cell.against_baseline?.ratio_interval?.high))
        .column("baseline_ratio_confidence", "", |cell| {
            Some(cell.against_baseline?.ratio_interval?.confidence)
        })
        .column("baseline_difference", "", |cell| Some(cell.against_baseline?.difference))
        .column("baseline_verdict", "", |cell| Some(verdict(cell.against_baseline.as_ref()?)))
}

const fn verdict(comparison: &Comparison) -> &'static str {
    match comparison.verdict {
        Difference::Lower => "lower",
        Difference::Higher => "higher",
        Difference::None => "none",
        Difference::Unclear => "unclear",
    }
}

fn of_machine(table: Cells<'_>) -> Cells<'_> {
    let per_gigabyte =
        |cpu: CpuCost| cpu.per_work.filter(|cost| cost.work == Work::Bytes).map(|cost| cost.seconds);
    table
        .column("path_mtu", "bytes", |cell| cell.path_mtu)
        .column("cpus", "", |cell| Some(cell.cpu?.cpus))
        .column("cpus_busy", "", |cell| Some(cell.cpu?.busy))
        .column("cpus_interrupts", "", |cell| Some(cell.cpu?.interrupts))
        .column("cpus_client", "", |cell| Some(cell.cpu?.client))
        .column("cpus_server", "", |cell| Some(cell.cpu?.server))
        .column("cpu_seconds_per_gigabyte", "", move |cell| per_gigabyte(cell.cpu?))
        .column("doubts", "", |cell| Some(cell.doubts.len()))
}

fn design(table: Cells<'_>) -> Cells<'_> {
    table
        .column("interval_basis", "", |cell| cell.value.interval.map(|_| basis(cell.value.basis)))
        .column("ended", "", |cell| Some(ended(&cell.ended.as_ref()?.why)))
        .column("level_shifts", "", |cell| Some(cell.shifts.len()))
}

const fn ended(why: &EndReason) -> &'static str {
    match why {
        EndReason::Planned => "planned",
        EndReason::Precise { .. } => "precise",
        EndReason::Budget { .. } => "budget",
        EndReason::Settled => "settled",
        EndReason::Clear => "clear",
        EndReason::Unusable { .. } => "unusable",
    }
}

/// Probe data; calls per megabyte, message or connection.
fn probed(table: Cells<'_>) -> Cells<'_> {
    let engine = |cell: &CellSummary| -> Option<Nanos> { cell.way()?.engine };
    table
        .column("probed_trials", "", |cell| Some(cell.probed.as_ref()?.trials))
        .column("owners_busy_cpus", "", |cell| Some(cell.probed.as_ref()?.cpu.as_ref()?.busy))
        .column("owners_unexplained_share", "", |cell| {
            Some(cell.probed.as_ref()?.cpu.as_ref()?.unexplained_share)
        })
        .column("calls_client_per_unit", "", |cell| calls(cell, "client"))
        .column("calls_server_per_unit", "", |cell| calls(cell, "server"))
        .column("way_sum", "ns", |cell| Some(cell.way()?.sum.0))
        .column("way_engine_p50", "ns", move |cell| Some(engine(cell)?.0))
        .column("way_unexplained_share", "", |cell| Some(cell.way()?.unexplained))
        .column("calls_per_unit", "", |cell| Some(cell.probed.as_ref()?.calls.as_ref()?.all))
}

fn calls(cell: &CellSummary, end: &str) -> Option<f64> {
    let calls = cell.probed.as_ref()?.calls.as_ref()?;
    calls.ends.iter().find(|calls| calls.end.as_deref() == Some(end)).map(|calls| calls.rate)
}

/// Its place in a ranking.
fn place(findings: &Findings, cell: &CellSummary) -> Option<u32> {
    let mut ranks = findings.rankings.iter().flat_map(|ranking| &ranking.ranks);
    ranks.find(|rank| rank.cell == cell.id).map(|rank| rank.place)
}

/// Columns that depend on the run: factors, columns of other tools, CPUs by owner and guest.
fn by_run<'a>(table: Cells<'a>, findings: &'a Findings) -> Cells<'a> {
    let guests = findings.cells.iter().flat_map(|cell| &cell.guests).map(|guest| guest.end.as_str());
    table
        .each(
            labels::factors(findings.cells.iter().map(|cell| &cell.levels)),
            |factor| format!("factor.{factor}"),
            |cell, factor| cell.levels.get(factor),
        )
        .each(
            labels::reported(findings.cells.iter()),
            |column| format!("reported.{column}"),
            |cell, column| cell.reported.iter().find(|it| it.name == column).map(|it| it.value),
        )
        .each(
            labels::owners(findings.cells.iter()),
            |owner| format!("owner.{}", labels::owner_key(owner)),
            |cell, owner| of_owner(cell, owner),
        )
        .each(
            labels::distinct(guests),
            |end| format!("guest.{end}"),
            |cell, end| cell.guests.iter().find(|guest| guest.end == end).map(|guest| guest.busy),
        )
}

/// CPUs of an owner.
fn of_owner(cell: &CellSummary, owner: CpuOwner) -> Option<f64> {
    let cpu = cell.probed.as_ref()?.cpu.as_ref()?;
    cpu.owners.iter().find(|time| time.owner == owner).map(|time| time.cpus)
}
