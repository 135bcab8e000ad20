//! Writes one row per trial, from the run's record, or from the findings if there is no record.

use std::collections::BTreeMap;

use findings::{Findings, ResultSummary};
use samples::{Arm, ResultRecord, RunRecord, Trial};
use workload::Measurement;

use super::table::Table;
use crate::labels;

struct Row<'a> {
    result: &'a str,
    path: Option<&'a str>,
    workload: Option<&'a str>,
    levels: Option<&'a BTreeMap<String, String>>,
    /// Probed trials also have a value.
    value: Option<f64>,
    trial: Option<&'a Trial>,
}

type Trials<'a> = Table<'a, Row<'a>>;

pub(crate) fn trials(findings: &Findings, record: Option<&RunRecord>) -> String {
    let factors = labels::factors(findings.results.iter().map(|result| &result.levels));
    let table = columns(&findings.run.id.0).each(
        factors,
        |factor| format!("factor.{factor}"),
        |row: &Row<'_>, factor| row.levels?.get(factor).cloned(),
    );
    match record {
        Some(record) => table.write(record.trials.iter().map(|trial| recorded(findings, record, trial))),
        None => table.write(findings.results.iter().flat_map(kept)),
    }
}

fn recorded<'a>(findings: &Findings, record: &'a RunRecord, trial: &'a Trial) -> Row<'a> {
    let result: Option<&ResultRecord> = record.header.results.iter().find(|result| result.id == trial.result);
    let judged = findings.result(&trial.result);
    Row {
        result: &trial.result,
        path: result.map(|result| result.path.as_str()),
        workload: result.map(|result| result.workload.as_str()),
        levels: result.map(|result| &result.levels),
        value: judged.and_then(|result| trial.value(result.metric)),
        trial: Some(trial),
    }
}

fn kept(result: &ResultSummary) -> impl Iterator<Item = Row<'_>> {
    result.values.iter().map(|value| Row {
        result: &result.id,
        path: Some(&result.path),
        workload: Some(&result.workload),
        levels: Some(&result.levels),
        value: Some(*value),
        trial: None,
    })
}

fn columns(run: &str) -> Trials<'_> {
    let table = Table::new()
        .column("run", "", move |_| Some(run))
        .column("result", "", |row: &Row<'_>| Some(row.result.to_owned()))
        .column("path", "", |row| row.path.map(str::to_owned))
        .column("workload", "", |row| row.workload.map(str::to_owned))
        .column("trial", "", |row| Some(row.trial?.index))
        .column("block", "", |row| Some(row.trial?.block))
        .column("again", "", |row| Some(row.trial?.arm == Arm::Again))
        // An imported log may lack a timestamp.
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
        .column("warnings", "", |row| Some(row.trial?.warnings.len()));
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

fn of_kinds<'a>(table: Trials<'a>, head: &str) -> Trials<'a> {
    let phrase = head.to_owned();
    table.column(head, "", move |row: &Row<'_>| row.trial?.measurement.kind().column(&phrase))
}

/// Findings exclude probed trials.
const fn arm(arm: Arm) -> &'static str {
    match arm {
        Arm::Measure => "measure",
        Arm::Again => "again",
        Arm::Probed => "probed",
        Arm::Alone => "alone",
    }
}
