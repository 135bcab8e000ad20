//! One row per trial, from the run's record if available, else from the findings.

use std::collections::BTreeMap;

use findings::{CellSummary, Findings};
use samples::{Arm, CellRecord, RunRecord, Trial};
use workload::Measurement;

use super::table::Table;
use crate::labels;

/// A trial, as far as it is known.
struct Row<'a> {
    cell: &'a str,
    path: Option<&'a str>,
    workload: Option<&'a str>,
    levels: Option<&'a BTreeMap<String, String>>,
    /// Value of the metric, also for probed trials; `None` if unknown.
    value: Option<f64>,
    trial: Option<&'a Trial>,
}

type Trials<'a> = Table<'a, Row<'a>>;

pub(crate) fn trials(findings: &Findings, record: Option<&RunRecord>) -> String {
    let factors = labels::factors(findings.cells.iter().map(|cell| &cell.levels));
    let table = columns(&findings.run.id.0).each(
        factors,
        |factor| format!("factor.{factor}"),
        |row: &Row<'_>, factor| row.levels?.get(factor).cloned(),
    );
    match record {
        Some(record) => table.write(record.trials.iter().map(|trial| recorded(findings, record, trial))),
        None => table.write(findings.cells.iter().flat_map(kept)),
    }
}

fn recorded<'a>(findings: &Findings, record: &'a RunRecord, trial: &'a Trial) -> Row<'a> {
    let cell: Option<&CellRecord> = record.header.cells.iter().find(|cell| cell.id == trial.cell);
    let judged = findings.cells.iter().find(|summary| summary.id == trial.cell);
    Row {
        cell: &trial.cell,
        path: cell.map(|cell| cell.path.as_str()),
        workload: cell.map(|cell| cell.workload.as_str()),
        levels: cell.map(|cell| &cell.levels),
        value: judged.and_then(|cell| trial.measurement.value(cell.metric)),
        trial: Some(trial),
    }
}

fn kept(cell: &CellSummary) -> impl Iterator<Item = Row<'_>> {
    cell.values.iter().map(|value| Row {
        cell: &cell.id,
        path: Some(&cell.path),
        workload: Some(&cell.workload),
        levels: Some(&cell.levels),
        value: Some(*value),
        trial: None,
    })
}

fn columns(run: &str) -> Trials<'_> {
    let table = Table::new()
        .column("run", "", move |_| Some(run))
        .column("cell", "", |row: &Row<'_>| Some(row.cell.to_owned()))
        .column("path", "", |row| row.path.map(str::to_owned))
        .column("workload", "", |row| row.workload.map(str::to_owned))
        .column("trial", "", |row| Some(row.trial?.index))
        .column("block", "", |row| Some(row.trial?.block))
        .column("again", "", |row| Some(row.trial?.arm == Arm::Again))
        // Logs without a timestamp.
        .column("started", "unix_ms", |row| Some(row.trial?.started.0).filter(|time| *time != 0))
        .column("value", "", |row| row.value);
    let first = [
        "flows",
        "sent_bytes",
        "received_bytes",
        "measured_ns",
        "retransmits",
        "round_trips",
        "round_trip_p50_ns",
        "round_trip_p99_ns",
        "lost",
    ];
    let table = first
        .into_iter()
        .fold(table, of_kinds)
        .column("cpu_busy", "ns", |row| {
            let machine = &row.trial?.cpu.machine;
            (machine.elapsed.0 > 0).then(|| machine.busy().0)
        })
        .column("doubts", "", |row| Some(row.trial?.doubts.len()));
    let then = [
        "reorderings",
        "datagrams_received",
        "datagrams_lost",
        "since_intended_p50_ns",
        "since_intended_p99_ns",
        "connections",
        "connections_failed",
    ];
    let table = then.into_iter().fold(table, of_kinds).column("arm", "", |row| Some(arm(row.trial?.arm)));
    Measurement::heads().iter().fold(
        table,
        |table, head| {
            if table.has(head) { table } else { of_kinds(table, head) }
        },
    )
}

/// Kind-specific column with this head.
fn of_kinds<'a>(table: Trials<'a>, head: &str) -> Trials<'a> {
    let phrase = head.to_owned();
    table.column(head, "", move |row: &Row<'_>| row.trial?.measurement.kind().column(&phrase))
}

/// Results never come from probed trials.
const fn arm(arm: Arm) -> &'static str {
    match arm {
        Arm::Measure => "measure",
        Arm::Again => "again",
        Arm::Probed => "probed",
        Arm::Alone => "alone",
    }
}
