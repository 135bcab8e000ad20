//! Runs stored by earlier versions, and their reports today.

use std::{fs::File, io::Read, path::PathBuf};

use flate2::read::GzDecoder;
use plumb_tests::Sandbox;

use crate::sandbox;

const RUNS: [(&str, &str); 9] = [
    (BEFORE_KINDS, "kinds"),
    (BEFORE_KINDS, "told-both"),
    (BEFORE_KINDS, "told-log"),
    (BEFORE_KINDS, "told-odd"),
    (BEFORE_KINDS, "told-sender"),
    (BEFORE_KINDS, "told-table"),
    (BEFORE_KINDS, "told-times"),
    (BEFORE_KINDS, "told-udp"),
    (FURTHER, "further"),
];
const BEFORE_KINDS: &str = "runs.db.gz";
/// Directions, modes and kinds missing from the earlier runs.
const FURTHER: &str = "further.db.gz";

/// Older versions wrote a number for an unknown value.
const LEFT_OUT: [(&str, &str); 5] = [
    // The sender's rate for a stream without a receiver's report.
    ("csv", "received_bits_per_second"),
    // Zeros for values that a log or a remote end does not report.
    ("csv-trials", "started_unix_ms"),
    ("csv-trials", "received_bytes"),
    ("csv-trials", "retransmits"),
    ("csv-trials", "cpu_busy_ns"),
];

/// Their meaning changed over the versions. Another test covers them.
const ELSEWHERE: [(&str, &str); 2] = [("csv-trials", "value"), ("csv-trials", "measured_ns")];

fn data(name: &str) -> PathBuf {
    [env!("CARGO_MANIFEST_DIR"), "../../tests/cli/earlier", name].iter().collect()
}

pub(crate) fn with_runs(database: &str) -> Sandbox {
    let sandbox = sandbox();
    let mut runs = Vec::new();
    let packed = File::open(data(database)).expect("the file is readable");
    GzDecoder::new(packed).read_to_end(&mut runs).expect("the data is whole");
    std::fs::write(sandbox.database(), runs).expect("the home can be written");
    sandbox
}

struct Csv {
    head: Vec<String>,
    rows: Vec<Vec<String>>,
}

impl Csv {
    fn read(text: &str) -> Self {
        let mut lines = text.split_terminator("\r\n").map(fields);
        Self { head: lines.next().expect("a head"), rows: lines.collect() }
    }

    fn reported(sandbox: &Sandbox, run: &str, format: &str) -> Self {
        Self::read(&sandbox.succeed(&["report", &format!("latest:{run}"), "--format", format]).out)
    }

    fn field(&self, row: usize, column: &str) -> &str {
        let place = self.head.iter().position(|name| name == column);
        place.map_or("", |place| &self.rows[row][place])
    }
}

/// Separators inside quotes do not split a field.
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

pub(crate) fn reports_stored_runs_with_the_same_numbers() {
    for (database, run) in RUNS {
        let sandbox = with_runs(database);
        for (format, ending) in [("csv", "csv"), ("csv-trials", "trials.csv")] {
            let kept =
                std::fs::read_to_string(data(&format!("{run}.{ending}"))).expect("the file is readable");
            let (before, now) = (Csv::read(&kept), Csv::reported(&sandbox, run, format));
            assert_eq!(before.rows.len(), now.rows.len(), "{run}, {format}");
            let elsewhere = |name: &str| database == BEFORE_KINDS && ELSEWHERE.contains(&(format, name));
            let columns = before.head.iter().filter(|name| !elsewhere(name));
            for (column, row) in columns.flat_map(|name| (0..before.rows.len()).map(move |row| (name, row))) {
                let [before, now] = [&before, &now].map(|table| table.field(row, column));
                let left_out =
                    now.is_empty() && database == BEFORE_KINDS && LEFT_OUT.contains(&(format, column));
                assert!(
                    left_out || before == now,
                    "{run}, {format}: `{column}` of row {row}: {before}, {now}"
                );
            }
        }
    }
}

/// Covers every kind of workload, schedule and source.
pub(crate) fn trial_rows_result_rows_and_report_agree() {
    let mut metrics = std::collections::BTreeSet::new();
    for (database, run) in RUNS {
        let sandbox = with_runs(database);
        let (cells, trials) =
            (Csv::reported(&sandbox, run, "csv"), Csv::reported(&sandbox, run, "csv-trials"));
        let findings = sandbox.findings(&format!("latest:{run}"));
        for row in 0..cells.rows.len() {
            let cell = cells.field(row, "cell");
            let values: Vec<f64> = (0..trials.rows.len())
                .filter(|at| trials.field(*at, "cell") == cell && trials.field(*at, "arm") == "measure")
                .map(|at| trials.field(at, "value").parse().expect("a value"))
                .collect();
            let own = findings["cells"].as_array().expect("cells").iter().find(|own| own["id"] == cell);
            let own = own.expect("the same cells");
            assert_eq!(serde_json::json!(values), own["values"], "{run}: {cell}");
            let median: f64 = cells.field(row, "median").parse().expect("a median");
            assert_eq!(Some(median), own["value"]["median"].as_f64(), "{run}: {cell}");
            assert!(is_near(median, middle(values)), "{run}: {cell}: {median}");
            metrics.insert((run, cells.field(row, "metric").to_owned()));
        }
    }
    let of = |wanted: &str| metrics.iter().filter(|(_, metric)| metric == wanted).count();
    let met =
        ["throughput", "round-trip", "connection-rate", "latency", "message-rate", "touch-rate"].map(of);
    assert!(met.iter().all(|runs| *runs > 0), "{metrics:?}");
}

pub(crate) fn row_has_the_judged_value_and_no_unknown_ones() {
    let sandbox = with_runs(BEFORE_KINDS);
    let first = |run: &str, cell: &str, columns: &[&str]| -> Vec<String> {
        let table = Csv::reported(&sandbox, run, "csv-trials");
        let row = (0..table.rows.len()).find(|row| table.field(*row, "cell").contains(cell));
        let row = row.unwrap_or_else(|| panic!("{run} has {cell}"));
        columns.iter().map(|column| table.field(row, column).to_owned()).collect()
    };
    let open = first("kinds", "open", &["value", "since_intended_p50_ns", "round_trip_p50_ns"]);
    assert!(open[0] == open[1] && open[0] != open[2], "an open loop since the intended times: {open:?}");
    let sender = ["received_bytes", "cpu_busy_ns", "started_unix_ms"];
    assert_eq!(first("told-sender", "tcp-stream", &sender), [""; 3]);
    let known = first("told-sender", "tcp-stream", &["value", "sent_bytes", "measured_ns"]);
    let [value, bytes, nanos] = [0, 1, 2].map(|at: usize| known[at].parse::<f64>().expect("a number"));
    assert!(is_near(value, bytes * 8e9 / nanos), "{known:?}");
    assert!(is_near(value, 5_644_322_033.898_305), "{value}");
    let odd = first("told-odd", "64-b", &["value", "retransmits"]);
    assert_eq!(odd, ["1200000000", ""], "judged by the rate, which is not the first column");
    let cells = Csv::reported(&sandbox, "told-sender", "csv");
    assert_eq!([cells.field(0, "received_bits_per_second"), cells.field(0, "metric")], ["", "throughput"]);
}

fn middle(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    let half = values.len() / 2;
    if values.len() % 2 == 1 { values[half] } else { (values[half - 1] + values[half]) / 2.0 }
}

fn is_near(one: f64, other: f64) -> bool {
    (one - other).abs() <= 1e-9 * one.abs()
}

/// Printed by the first two record formats for the run in shape-1.db.gz and shape-2.db.gz.
const MEDIANS: [(&str, f64); 8] = [
    ("node-to-node/bulk/underlay-offload=on", 19_990_000_000.0),
    ("node-to-node/bulk/underlay-offload=off", 20_009_999_984.0),
    ("vxlan-to-vxlan/bulk/underlay-offload=on/vxlan-offload=on", 15_999_999_984.0),
    ("vxlan-to-vxlan/bulk/underlay-offload=on/vxlan-offload=off", 4_797_600_000.0),
    ("pod-to-target/bulk/underlay-offload=on/vxlan-offload=on", 11_994_000_000.0),
    ("pod-to-target/bulk/underlay-offload=on/vxlan-offload=off", 3_605_399_984.0),
    ("node-to-node/ping/underlay-offload=on", 39_983.0),
    ("vxlan-to-vxlan/ping/underlay-offload=on/vxlan-offload=on", 45_983.0),
];

pub(crate) fn reads_records_of_every_earlier_version() {
    for database in ["shape-1.db.gz", "shape-2.db.gz"] {
        let sandbox = with_runs(database);
        let findings = sandbox.findings("latest");
        let cells = findings["cells"].as_array().expect("cells");
        let medians: Vec<_> = cells
            .iter()
            .map(|cell| {
                (cell["id"].as_str().expect("text"), cell["value"]["median"].as_f64().expect("a number"))
            })
            .collect();
        assert_eq!(medians, MEDIANS, "{database}");
        // Reading writes it back in today's format.
        let record = sandbox.record();
        assert_eq!((&record["header"]["schema"], plumb_tests::trials(&record).len()), (&3.into(), 60));
        let load = &record["header"]["cells"][0]["sent"]["load"];
        assert_eq!(
            (&load["transport"], &load["socket"]["congestion"]),
            (&"tcp".into(), &"cubic".into()),
            "{load}"
        );
    }
}
