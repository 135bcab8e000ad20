//! Reads CSV of kubernetes/perf-tests (network/benchmarks/netperf, nptest): one line per test case and one column per
//! segment size.

use super::row::{Row, separated};

/// The file does not contain the unit.
pub(super) const NOTE: &str = "has the layout of kubernetes/perf-tests; its rates are read as Mbit/s";

pub(super) fn heading(heading: &Row) -> Option<Row> {
    let [first, most, sizes @ ..] = heading.cells.as_slice() else { return None };
    let digits = |size: &String| size.bytes().all(|byte| byte.is_ascii_digit());
    if first != "MSS" || most != "Maximum" || sizes.is_empty() || !sizes.iter().all(digits) {
        return None;
    }
    let sizes = sizes.iter().map(|size| format!("MSS={size} (Mbit/s)"));
    let cells = ["Test".to_owned(), "Throughput (Mbit/s)".to_owned()].into_iter().chain(sizes).collect();
    Some(Row { cells, closed: false })
}

/// Clears the maximum, because it repeats the value of one of the sizes. Rows of UDP and netperf have a single value
/// and no sizes. A zero means that the test failed.
pub(super) fn row(line: &str, columns: usize) -> Option<Row> {
    let mut row = separated(line)?;
    if row.cells.len() == 3 && columns > 3 {
        row.cells.truncate(2);
    } else {
        row.cells[1].clear();
    }
    let is_zero = |cell: &str| cell.parse::<f64>().is_ok_and(|value| value == 0.0);
    row.cells.iter_mut().filter(|cell| is_zero(cell)).for_each(|cell| "failed".clone_into(cell));
    row.cells.resize(columns.max(row.cells.len()), String::new());
    Some(row)
}
