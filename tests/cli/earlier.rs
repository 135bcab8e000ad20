//! Runs that an earlier version has stored, and what is reported of them today.

use std::{fs::File, io::Read, path::PathBuf};

use flate2::read::GzDecoder;
use plumb_tests::Sandbox;

use crate::sandbox;

/// What the runs are called, without the time.
const RUNS: [&str; 8] =
    ["kinds", "told-both", "told-log", "told-odd", "told-sender", "told-table", "told-times", "told-udp"];

/// Columns whose numbers were wrong, with the format that has them: what they hold now is told by other tests.
const CORRECTED: [(&str, &str); 0] = [];

fn data(name: &str) -> PathBuf {
    [env!("CARGO_MANIFEST_DIR"), "../../tests/cli/earlier", name].iter().collect()
}

/// A home with the runs.
fn with_runs() -> Sandbox {
    let sandbox = sandbox();
    let mut runs = Vec::new();
    let packed = File::open(data("runs.db.gz")).expect("the data is there");
    GzDecoder::new(packed).read_to_end(&mut runs).expect("the data is whole");
    std::fs::write(sandbox.database(), runs).expect("the home can be written");
    sandbox
}

/// A table with a head.
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

    /// The field of a row; empty where the column is not there.
    fn field(&self, row: usize, column: &str) -> &str {
        let place = self.head.iter().position(|name| name == column);
        place.map_or("", |place| &self.rows[row][place])
    }
}

/// The fields of a line; in quotes a separator is none.
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

pub(crate) fn stored_runs_are_reported_with_the_same_numbers() {
    let sandbox = with_runs();
    for run in RUNS {
        for (format, ending) in [("csv", "csv"), ("csv-trials", "trials.csv")] {
            let kept = std::fs::read_to_string(data(&format!("{run}.{ending}"))).expect("the data is there");
            let (before, now) = (Csv::read(&kept), Csv::reported(&sandbox, run, format));
            assert_eq!(before.rows.len(), now.rows.len(), "{run}, {format}");
            let columns = before.head.iter().filter(|name| !CORRECTED.contains(&(format, name)));
            for (column, row) in columns.flat_map(|name| (0..before.rows.len()).map(move |row| (name, row))) {
                let [before, now] = [&before, &now].map(|table| table.field(row, column));
                assert_eq!(before, now, "{run}, {format}: `{column}` of row {row}");
            }
        }
    }
}
