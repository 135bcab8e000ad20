//! Sandboxes with stored runs.

use std::collections::BTreeMap;

use plumb_tests::{Random, Sandbox};
use serde_json::Value;

use crate::sandbox;

pub(crate) const KINDS: &str = "tests/cli/records/kinds.run.json.gz";
/// Streams in both directions, in reverse, over UDP in reverse and in limit mode, an open loop over TCP,
/// several clients, and first-touch memory.
const DIRECTIONS: &str = "tests/cli/records/directions.run.json.gz";
pub(crate) const GOLDEN: &str = "crates/analysis/tests/golden/egress.run.json";

const IMPORTS: [&[&str]; 8] = [
    &["iperf3/tcp.client.json", "iperf3/tcp.server.json"],
    INTERRUPTED,
    &["iperf3/udp.client.json"],
    &["sockperf-ping-pong.txt", "netperf-classic.txt"],
    &["sockperf-tcp-full-rtt-log.csv"],
    &["queues-and-channels.md"],
    &["vxlan.md"],
    &["vmm-comparison.md"],
];
const INTERRUPTED: &[&str] = &["iperf3/interrupted.client.txt"];

fn path(name: &str) -> String {
    format!("{}/../../{name}", env!("CARGO_MANIFEST_DIR"))
}

pub(crate) fn with_run(record: &str) -> Sandbox {
    let sandbox = sandbox();
    let _ = sandbox.succeed(&["runs", "import", &path(record)]);
    sandbox
}

fn with_import(logs: &[&str]) -> Sandbox {
    let sandbox = sandbox();
    let logs: Vec<String> = logs.iter().map(|log| path(&format!("crates/import/tests/data/{log}"))).collect();
    let words: Vec<&str> = ["import"].into_iter().chain(logs.iter().map(String::as_str)).collect();
    let _ = sandbox.succeed(&words);
    sandbox
}

pub(crate) const SILENT: &str = "vxlan-to-vxlan/bulk/underlay-offload=on/vxlan-offload=on";
pub(crate) const SLOWED: &str = "vxlan-to-vxlan/bulk/underlay-offload=on/vxlan-offload=off";
pub(crate) const SHORT: &str = "pod-to-target/bulk/underlay-offload=on/vxlan-offload=on";

/// Blocks that differ by up to 30 %, with one silent, one slowed and one missing trial.
pub(crate) fn with_uneven_run() -> Sandbox {
    with_record(&scaled("uneven", |result, block, index| {
        let own = 1.0 + 0.01 * (index * 5 % 7) as f64;
        let left = match (result, block) {
            (SHORT, 1) => return None,
            (SILENT, 2) => 0.0,
            (SLOWED, 3) => 0.3,
            _ => 1.0,
        };
        Some(left * own * [1.0, 0.7, 1.3, 0.8, 1.1, 0.9][block as usize])
    }))
}

pub(crate) fn golden(id: &str) -> Value {
    let mut record: Value = serde_json::from_str(&raw(GOLDEN)).expect("JSON");
    record["header"]["id"] = id.into();
    record
}

/// The golden run with the bytes of each trial multiplied by a factor for the result, block and index. Drops trials
/// without a factor.
fn scaled(id: &str, mut factor: impl FnMut(&str, u64, u64) -> Option<f64>) -> Value {
    let mut record = golden(id);
    record["trials"].as_array_mut().expect("trials").retain_mut(|trial| {
        let number = |name: &str| trial[name].as_u64().expect("a number");
        let by = factor(trial["result"].as_str().expect("a result"), number("block"), number("index"));
        scale(&mut trial["measurement"], "bytes", by.unwrap_or_default());
        by.is_some()
    });
    record
}

const SEEDS: std::ops::RangeInclusive<u32> = 1..=6;

/// Runs with random values, block effects and scatter, silent, slowed and missing trials, and an early end of one
/// result.
pub(crate) fn varied_runs() -> impl Iterator<Item = Sandbox> {
    SEEDS.map(|seed| with_record(&varied(seed)))
}

pub(crate) fn varied(seed: u32) -> Value {
    let mut random = Random::of(seed * 7919);
    let _ = random.fraction();
    let (level, scatter) = (10_f64.powf(3.0 * random.fraction() - 2.0), random.one_of(&[0.001, 0.02, 0.2]));
    let blocks: Vec<f64> = (0..6).map(|_| 1.0 + 0.4 * (random.fraction() - 0.5)).collect();
    let ended = random.one_of(&[SILENT, SLOWED, SHORT]);
    let mut results = BTreeMap::new();
    let mut record = scaled(&format!("varied-{seed}"), |result, block, _| {
        let own = *results.entry(result.to_owned()).or_insert_with(|| 0.5 + 2.0 * random.fraction());
        let left = match random.below(40) {
            0 => return None,
            1 => 0.0,
            2 => 0.3,
            _ => 1.0,
        };
        let noise = 1.0 + scatter * (random.fraction() - 0.5);
        let is_kept = result != ended || block < 3;
        is_kept.then_some(left * level * own * blocks[block as usize] * noise)
    });
    record["ends"] = serde_json::json!([{ "result": ended, "reason": { "kind": "clear" }, "trials": 3 }]);
    record
}

pub(crate) fn with_record(record: &Value) -> Sandbox {
    let sandbox = sandbox();
    let _ = sandbox.succeed(&["runs", "import", &sandbox.file("record.json", &record.to_string())]);
    sandbox
}

pub(crate) fn raw(record: &str) -> String {
    with_run(record).succeed(&["report", "latest", "--format", "raw"]).out
}

pub(crate) fn scale(record: &mut Value, number: &str, by: f64) {
    match record {
        Value::Object(fields) => {
            for (name, value) in fields {
                match value.as_f64().filter(|_| name == number) {
                    Some(old) => *value = ((old * by) as u64).into(),
                    None => scale(value, number, by),
                }
            }
        }
        Value::Array(values) => values.iter_mut().for_each(|value| scale(value, number, by)),
        _ => {}
    }
}

pub(crate) fn every_run() -> impl Iterator<Item = Sandbox> {
    let measured = [KINDS, DIRECTIONS, GOLDEN].into_iter().map(with_run).chain([with_uneven_run()]);
    measured.chain(IMPORTS.into_iter().map(with_import))
}

pub(crate) struct Csv {
    head: Vec<String>,
    pub(crate) rows: Vec<Vec<String>>,
}

impl Csv {
    pub(crate) fn read(text: &str) -> Self {
        let mut lines = text.split_terminator("\r\n").map(fields);
        Self { head: lines.next().expect("a head"), rows: lines.collect() }
    }

    pub(crate) fn reported(sandbox: &Sandbox, format: &str) -> Self {
        Self::read(&sandbox.succeed(&["report", "latest", "--format", format]).out)
    }

    pub(crate) fn field(&self, row: usize, column: &str) -> &str {
        let place = self.head.iter().position(|name| name == column);
        place.map_or("", |place| &self.rows[row][place])
    }
}

fn fields(line: &str) -> Vec<String> {
    let mut fields = vec![String::new()];
    let mut quoted = false;
    for letter in line.chars() {
        match letter {
            '"' => quoted = !quoted,
            ',' if !quoted => fields.push(String::new()),
            other => fields.last_mut().expect("one at least").push(other),
        }
    }
    fields
}

pub(crate) fn trial_rows_result_rows_and_report_agree() {
    let mut metrics = std::collections::BTreeSet::new();
    for sandbox in every_run() {
        let [results, trials] = ["csv", "csv-trials"].map(|format| Csv::reported(&sandbox, format));
        let findings = sandbox.findings("latest");
        let run = &findings["run"]["id"];
        for row in 0..results.rows.len() {
            let result = results.field(row, "result");
            let values: Vec<f64> = (0..trials.rows.len())
                .filter(|at| trials.field(*at, "result") == result && trials.field(*at, "arm") == "measure")
                .map(|at| trials.field(at, "value").parse().expect("a value"))
                .collect();
            let own = findings["results"].as_array().expect("results").iter().find(|own| own["id"] == result);
            let own = own.expect("the same results");
            assert_eq!(serde_json::json!(values), own["values"], "{run}: {result}");
            let value: f64 = results.field(row, "value").parse().expect("a value");
            assert_eq!(Some(value), own["value"]["estimate"].as_f64(), "{run}: {result}");
            // A robust average may differ from every trial's value.
            let (least, most) = extremes(&values);
            assert!(
                (least..=most).contains(&value) || is_near(value, least),
                "{run}: {result}: {value} of {least} to {most}"
            );
            metrics.insert(results.field(row, "metric").to_owned());
        }
    }
    for metric in ["throughput", "round-trip", "connection-rate", "latency", "message-rate", "touch-rate"] {
        assert!(metrics.contains(metric), "no {metric} in {metrics:?}");
    }
}

pub(crate) fn row_has_the_assessed_value_and_no_unknown_values() {
    let first = |sandbox: &Sandbox, result: &str, columns: &[&str]| -> Vec<String> {
        let table = Csv::reported(sandbox, "csv-trials");
        let row = (0..table.rows.len()).find(|row| table.field(*row, "result").contains(result));
        let row = row.unwrap_or_else(|| panic!("no {result}"));
        columns.iter().map(|column| table.field(row, column).to_owned()).collect()
    };
    let columns = ["value", "since_intended_p50_ns", "round_trip_p50_ns"];
    let open = first(&with_run(KINDS), "open", &columns);
    assert!(open[0] == open[1] && open[0] != open[2], "an open loop since the intended times: {open:?}");
    let sandbox = with_import(INTERRUPTED);
    let unknown = ["received_bytes", "cpu_busy_ns", "started_unix_ms"];
    assert_eq!(first(&sandbox, "tcp-stream", &unknown), [""; 3]);
    let known = first(&sandbox, "tcp-stream", &["value", "sent_bytes", "measured_ns"]);
    let [value, bytes, nanos] = [0, 1, 2].map(|at: usize| known[at].parse::<f64>().expect("a number"));
    assert!(is_near(value, bytes * 8e9 / nanos), "{known:?}");
    // The log prints 5.65 Gbit/s.
    assert!(is_near(value, 5_648_584_995.876_243), "{value}");
    let results = Csv::reported(&sandbox, "csv");
    assert_eq!(
        [results.field(0, "received_bits_per_second"), results.field(0, "metric")],
        ["", "throughput"]
    );
    let sandbox = crate::sandbox();
    let table = "## Odd columns\n| Size | Mean latency (us) | Throughput (Gbit/s) | Retransmits |\n\
                 | --- | --- | --- | --- |\n| 64 B | 21.5 | 1.2 | 4 |\n| 1400 B | 25.0 | 9.4 | 0 |\n";
    let _ = sandbox.succeed(&["import", &sandbox.file("odd.md", table)]);
    let odd = first(&sandbox, "64-b", &["value", "retransmits"]);
    assert_eq!(odd, ["1200000000", ""], "judged by the rate, which is not the first column");
}

fn extremes(values: &[f64]) -> (f64, f64) {
    values
        .iter()
        .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), value| (low.min(*value), high.max(*value)))
}

fn is_near(one: f64, other: f64) -> bool {
    (one - other).abs() <= 1e-9 * one.abs()
}
