//! Writes one row per result.

use findings::{Comparison, CpuCost, Difference, Findings, ResultSummary};
use samples::{CpuConsumer, EndReason};
use units::Nanos;
use workload::Work;

use super::{basis, table::Table, unit, word};
use crate::{kind, labels};

type Results<'a> = Table<'a, &'a ResultSummary>;

pub(crate) fn results(findings: &Findings) -> String {
    let table = compared(value(identity(Table::new(), findings)));
    let table = of_machine(of_kinds(table, &TRANSFER));
    let table = design(of_kinds(table, &SCHEDULE));
    let table = probed(table).column("place", "", |result| place(findings, result));
    by_run(of_kinds(table, &[]), findings).write(&findings.results)
}

const TRANSFER: [&str; 16] = [
    "sent_bits_per_second",
    "received_bits_per_second",
    "retransmits",
    "cwnd_min_bytes",
    "cwnd_max_bytes",
    "rtt_under_load_ns",
    "round_trip_min_ns",
    "round_trip_p25_ns",
    "round_trip_p75_ns",
    "round_trip_p90_ns",
    "round_trip_p99_ns",
    "round_trip_p99.9_ns",
    "round_trip_max_ns",
    "round_trip_mean_ns",
    "round_trips",
    "round_trips_lost",
];

const SCHEDULE: [&str; 18] = [
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
    "since_intended_p99_ns",
    "since_intended_p99.9_ns",
    "background_bits_per_second",
    "connect_p50_ns",
    "connect_p99_ns",
    "exchange_p50_ns",
    "exchange_p99_ns",
    "connections_failed",
];

fn of_kinds<'a>(table: Results<'a>, heads: &[&'static str]) -> Results<'a> {
    let further = || kind::heads().into_iter().filter(|head| !table.has(head)).collect();
    let heads: Vec<String> =
        if heads.is_empty() { further() } else { heads.iter().map(ToString::to_string).collect() };
    heads.into_iter().fold(table, |table, head| {
        let name = head.clone();
        table.column(&name, "", move |result| kind::of(result).column(&head))
    })
}

fn identity<'a>(table: Results<'a>, findings: &'a Findings) -> Results<'a> {
    table
        .column("run", "", |_| Some(&findings.run.id))
        .column("result", "", |result| Some(&result.id))
        .column("path", "", |result| Some(&result.path))
        .column("layers", "", |result| Some(result.layers.join(" ")))
        .column("workload", "", |result| Some(&result.workload))
        .column("load", "", |result| Some(&result.load))
        .column("baseline", "", |result| Some(result.baseline))
        .column("metric", "", |result| Some(word(result.metric)))
        .column("unit", "", |result| Some(unit(result.metric)))
}

fn value(table: Results<'_>) -> Results<'_> {
    table
        .column("trials", "", |result| Some(result.value.trials))
        .column("value", "", |result| Some(result.value.estimate))
        .column("low", "", |result| Some(result.value.interval?.low))
        .column("high", "", |result| Some(result.value.interval?.high))
        .column("confidence", "", |result| Some(result.value.interval?.confidence))
        .column("mean", "", |result| Some(result.value.mean))
        .column("standard_deviation", "", |result| result.value.deviation)
}

fn compared(table: Results<'_>) -> Results<'_> {
    table
        .column("baseline_ratio", "", |result| Some(result.against_baseline?.ratio))
        .column("baseline_ratio_low", "", |result| Some(result.against_baseline?.ratio_interval?.low))
        .column("baseline_ratio_high", "", |result| Some(result.against_baseline?.ratio_interval?.high))
        .column("baseline_ratio_confidence", "", |result| {
            Some(result.against_baseline?.ratio_interval?.confidence)
        })
        .column("baseline_difference", "", |result| Some(result.against_baseline?.difference))
        .column("baseline_verdict", "", |result| Some(verdict(result.against_baseline.as_ref()?)))
}

const fn verdict(comparison: &Comparison) -> &'static str {
    match comparison.verdict {
        Difference::Lower => "lower",
        Difference::Higher => "higher",
        Difference::None => "none",
        Difference::Unclear => "unclear",
    }
}

fn of_machine(table: Results<'_>) -> Results<'_> {
    let per_gigabyte =
        |cpu: CpuCost| cpu.per_work.filter(|cost| cost.work == Work::Bytes).map(|cost| cost.seconds);
    table
        .column("path_mtu", "bytes", |result| result.path_mtu)
        .column("cpus", "", |result| Some(result.cpu?.cpus))
        .column("cpus_busy", "", |result| Some(result.cpu?.busy))
        .column("cpus_interrupts", "", |result| Some(result.cpu?.interrupts))
        .column("cpus_client", "", |result| Some(result.cpu?.client))
        .column("cpus_server", "", |result| Some(result.cpu?.server))
        .column("cpu_seconds_per_gigabyte", "", move |result| per_gigabyte(result.cpu?))
        .column("warnings", "", |result| Some(result.warnings.len()))
}

fn design(table: Results<'_>) -> Results<'_> {
    table
        .column("interval_basis", "", |result| result.value.interval.map(|_| basis(result.value.basis)))
        .column("ended", "", |result| Some(ended(&result.ended.as_ref()?.reason)))
        .column("level_shifts", "", |result| Some(result.shifts.len()))
}

const fn ended(reason: &EndReason) -> &'static str {
    match reason {
        EndReason::Planned => "planned",
        EndReason::Precise { .. } => "precise",
        EndReason::Budget { .. } => "budget",
        EndReason::Settled => "settled",
        EndReason::Clear => "clear",
        EndReason::Unusable { .. } => "unusable",
    }
}

fn probed(table: Results<'_>) -> Results<'_> {
    let engine = |result: &ResultSummary| -> Option<Nanos> { result.latency_breakdown()?.engine };
    table
        .column("probed_trials", "", |result| Some(result.probed.as_ref()?.trials))
        .column("consumers_busy_cpus", "", |result| Some(result.probed.as_ref()?.cpu.as_ref()?.busy))
        .column("consumers_unexplained_share", "", |result| {
            Some(result.probed.as_ref()?.cpu.as_ref()?.unexplained_share)
        })
        .column("calls_client_per_unit", "", |result| calls(result, "client"))
        .column("calls_server_per_unit", "", |result| calls(result, "server"))
        .column("breakdown_sum", "ns", |result| Some(result.latency_breakdown()?.sum.0))
        .column("breakdown_engine_p50", "ns", move |result| Some(engine(result)?.0))
        .column("breakdown_unexplained_share", "", |result| Some(result.latency_breakdown()?.unexplained))
        .column("calls_per_unit", "", |result| Some(result.probed.as_ref()?.calls.as_ref()?.all))
}

fn calls(result: &ResultSummary, end: &str) -> Option<f64> {
    let calls = result.probed.as_ref()?.calls.as_ref()?;
    calls.ends.iter().find(|calls| calls.end.as_deref() == Some(end)).map(|calls| calls.rate)
}

fn place(findings: &Findings, result: &ResultSummary) -> Option<u32> {
    let mut ranks = findings.rankings.iter().flat_map(|ranking| &ranking.ranks);
    ranks.find(|rank| rank.result == result.id).map(|rank| rank.place)
}

fn by_run<'a>(table: Results<'a>, findings: &'a Findings) -> Results<'a> {
    let guests = findings.results.iter().flat_map(|result| &result.guests).map(|guest| guest.end.as_str());
    table
        .each(
            labels::factors(findings.results.iter().map(|result| &result.levels)),
            |factor| format!("factor.{factor}"),
            |result, factor| result.levels.get(factor),
        )
        .each(
            labels::reported(findings.results.iter()),
            |column| format!("reported.{column}"),
            |result, column| result.reported.iter().find(|it| it.name == column).map(|it| it.value),
        )
        .each(
            labels::consumers(findings.results.iter()),
            |consumer| format!("owner.{}", labels::owner_key(consumer)),
            |result, consumer| of_owner(result, consumer),
        )
        .each(
            labels::distinct(guests),
            |end| format!("guest.{end}"),
            |result, end| result.guests.iter().find(|guest| guest.end == end).map(|guest| guest.busy),
        )
}

fn of_owner(result: &ResultSummary, consumer: CpuConsumer) -> Option<f64> {
    let cpu = result.probed.as_ref()?.cpu.as_ref()?;
    cpu.consumers.iter().find(|time| time.consumer == consumer).map(|time| time.cpus)
}
