//! One row for each trial, from the run's record; without it only what findings kept of each trial.
//! Must not know statistics.

use findings::Findings;
use samples::{Arm, CellRecord, RunRecord, Trial};
use units::Bytes;
use workload::{
    ConnectData, EndSeries, Flow, Measurement, PingPongData, ReportedData, StreamData, TcpSample,
};

use super::{line, optional};
use crate::labels;

const COLUMNS: [&str; 28] = [
    "run",
    "cell",
    "path",
    "workload",
    "trial",
    "block",
    "again",
    "started_unix_ms",
    "value",
    "flows",
    "sent_bytes",
    "received_bytes",
    "measured_ns",
    "retransmits",
    "round_trips",
    "round_trip_p50_ns",
    "round_trip_p99_ns",
    "lost",
    "cpu_busy_ns",
    "doubts",
    "reorderings",
    "datagrams_received",
    "datagrams_lost",
    "since_intended_p50_ns",
    "since_intended_p99_ns",
    "connections",
    "connections_failed",
    "arm",
];

pub(crate) fn trials(findings: &Findings, record: Option<&RunRecord>) -> String {
    let factors = labels::factors(findings.cells.iter().map(|cell| &cell.levels));
    let names = factors.iter().map(|factor| format!("factor.{factor}"));
    let head = line(COLUMNS.map(str::to_owned).into_iter().chain(names));
    let rows: Vec<String> = match record {
        Some(record) => record.trials.iter().map(|trial| recorded(record, trial, &factors)).collect(),
        None => kept(findings, &factors),
    };
    [head].into_iter().chain(rows).collect()
}

/// `value` is in the unit of the cell: bits per second received, the median round trip in nanoseconds, or connections
/// per second.
fn recorded(record: &RunRecord, trial: &Trial, factors: &[&str]) -> String {
    let cell = record.header.cells.iter().find(|cell| cell.id == trial.cell);
    let mut fields = vec![
        record.header.id.to_string(),
        trial.cell.clone(),
        optional(cell.map(|cell| &cell.path)),
        optional(cell.map(|cell| &cell.workload)),
        trial.index.to_string(),
        trial.block.to_string(),
        (trial.arm == Arm::Again).to_string(),
        trial.started.0.to_string(),
    ];
    fields.extend(match &trial.measurement {
        Measurement::Stream(stream) => streamed(stream),
        Measurement::PingPong(ping_pong) => ping_ponged(ping_pong),
        Measurement::Connect(connect) => connected(connect),
        Measurement::Reported(data) => reported(data),
    });
    fields.extend([trial.cpu.machine.busy().0.to_string(), trial.doubts.len().to_string()]);
    fields.extend(further(&trial.measurement));
    fields.push(arm(trial.arm).to_owned());
    debug_assert_eq!(fields.len(), COLUMNS.len());
    let level = |factor: &&str| cell.and_then(|cell: &CellRecord| cell.levels.get(*factor)).cloned();
    fields.extend(factors.iter().map(|factor| level(factor).unwrap_or_default()));
    line(fields)
}

/// Why the trial was made: no number of a cell comes from a probed one.
const fn arm(arm: Arm) -> &'static str {
    match arm {
        Arm::Measure => "measure",
        Arm::Again => "again",
        Arm::Probed => "probed",
    }
}

fn streamed(stream: &StreamData) -> Vec<String> {
    let bytes =
        |end: fn(&Flow) -> &EndSeries| stream.flows.iter().map(|flow| end(flow).bytes()).sum::<Bytes>();
    let longest = stream.flows.iter().map(|flow| flow.receiver.elapsed().0).max();
    let retransmits: u64 = stream.flows.iter().map(|flow| flow.sender.retransmits()).sum();
    let rate: f64 = EndSeries::rate_together(stream.flows.iter().map(|flow| &flow.receiver)).0;
    let mut fields = vec![rate.to_string(), stream.flows.len().to_string()];
    fields
        .extend([bytes(|flow| &flow.sender), bytes(|flow| &flow.receiver)].map(|bytes| bytes.0.to_string()));
    fields.extend([optional(longest), retransmits.to_string()]);
    fields.extend([const { String::new() }; 4]);
    fields
}

fn ping_ponged(ping_pong: &PingPongData) -> Vec<String> {
    let times = &ping_pong.round_trips;
    let at = |share: f64| optional(times.quantile(share).map(|time| time.0));
    let mut fields = vec![at(0.5)];
    fields.extend([const { String::new() }; 3]);
    fields.extend([ping_pong.elapsed.0.to_string(), String::new(), times.count().to_string()]);
    fields.extend([at(0.5), at(0.99), optional(ping_pong.lost)]);
    fields
}

fn reported(data: &ReportedData) -> Vec<String> {
    let mut fields = vec![optional(data.values.first().map(|value| value.value))];
    fields.extend([const { String::new() }; 9]);
    fields
}

fn connected(connect: &ConnectData) -> Vec<String> {
    let mut fields = vec![optional(connect.rate())];
    fields.extend([const { String::new() }; 3]);
    fields.push(connect.elapsed.0.to_string());
    fields.extend([const { String::new() }; 5]);
    fields
}

/// What only some kinds of loads have.
fn further(measurement: &Measurement) -> [String; 7] {
    let mut fields = [const { String::new() }; 7];
    match measurement {
        Measurement::Stream(stream) => {
            let senders = stream.flows.iter().flat_map(|flow| flow.sender.measured());
            let whole = senders.filter_map(|it| it.tcp).filter(TcpSample::is_whole);
            let tcp: Vec<u64> = whole.map(|tcp| u64::from(tcp.reorderings)).collect();
            let received = || stream.flows.iter().filter_map(|flow| flow.receiver.datagrams());
            fields[0] = optional((!tcp.is_empty()).then(|| tcp.iter().sum::<u64>()));
            fields[1] = optional(received().map(|sample| sample.count).reduce(|a, b| a + b));
            fields[2] = optional(received().map(|sample| sample.lost).reduce(|a, b| a + b));
        }
        Measurement::PingPong(ping_pong) => {
            let intended = ping_pong.open_loop.as_ref().map(|open| &open.since_intended);
            let at =
                |share: f64| optional(intended.and_then(|times| times.quantile(share)).map(|time| time.0));
            (fields[3], fields[4]) = (at(0.5), at(0.99));
        }
        Measurement::Connect(connect) => {
            (fields[5], fields[6]) = (connect.exchanges.count().to_string(), connect.failed.to_string());
        }
        Measurement::Reported(_) => {}
    }
    fields
}

fn kept(findings: &Findings, factors: &[&str]) -> Vec<String> {
    let rows = findings.cells.iter().flat_map(|cell| cell.values.iter().map(move |value| (cell, value)));
    rows.map(|(cell, value)| {
        let mut fields =
            vec![findings.run.id.to_string(), cell.id.clone(), cell.path.clone(), cell.workload.clone()];
        fields.extend([const { String::new() }; 4]);
        fields.push(value.to_string());
        fields.resize(COLUMNS.len(), String::new());
        fields.extend(factors.iter().map(|factor| cell.levels.get(*factor).cloned().unwrap_or_default()));
        line(fields)
    })
    .collect()
}
