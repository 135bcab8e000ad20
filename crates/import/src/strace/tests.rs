//! Tests with real and damaged tables of strace 6.1.

use super::*;

const HEADING: &str = "% time     seconds  usecs/call     calls    errors syscall\n\
                       ------ ----------- ----------- --------- --------- ----------------\n";

fn read(text: &str) -> Out {
    let mut out = Out::default();
    let mut strace = Strace::default();
    let last = text.lines().count();
    for (line, number) in text.lines().zip(1..) {
        let whole = number < last || text.ends_with('\n');
        let _ = strace.line(&Line { number: number as u64, text: line, whole }, &mut out);
    }
    strace.end(&mut out);
    out
}

/// Name, calls, errors, and CPU time and elapsed time in nanoseconds.
type Counted = (&'static str, u64, Option<u64>, Option<u64>, Option<u64>);

fn check(rows: &str, expected: &[Counted], note: &str) {
    let out = read(&format!("{HEADING}{rows}"));
    let calls = out.founds.iter().flat_map(|found| &found.syscalls);
    let nanos = |time: Option<Nanos>| time.map(|time| time.0);
    let counted: Vec<_> = calls
        .map(|call| (call.call.as_str(), call.calls, call.errors, nanos(call.running), nanos(call.total)))
        .collect();
    assert_eq!(counted, expected, "{rows}");
    assert!(out.notes.iter().any(|line| line.contains(note)), "no {note} in {:?}", out.notes);
}

#[test]
fn seconds_are_cpu_time_unless_sleeping_calls_exceed_it() {
    check(
        " 50.34    0.140502          27      5097           recvfrom\n  0.00    0.000000           0         1         1 access\n\
         ------ ----------- ----------- --------- --------- ----------------\n\
         100.00    0.140502          27      5098         1 total\n",
        &[("recvfrom", 5097, Some(0), Some(140_502_000), None), ("access", 1, Some(1), Some(0), None)],
        "treated as CPU time",
    );
    check(
        " 79.82    2.201556      550389         4           clock_nanosleep\n100.00    2.201556      550389         4           total\n",
        &[("clock_nanosleep", 4, Some(0), None, Some(2_201_556_000))],
        "enter to exit",
    );
}

#[test]
fn notes_truncated_table_and_skips_truncated_row() {
    let row = ("read", 5, Some(0), Some(1000), None);
    check(
        " 50.34    0.000001          27      5           read\n 50.34    0.14",
        &[row],
        "is truncated after line 3",
    );
    check(
        " 50.34    0.000001          27      5           read\n 50.34    0.14",
        &[row],
        "skipped invalid rows: line 4",
    );
    check(" 50.34    0.000001          27      5           read\n\n", &[row], "is truncated");
}

#[test]
fn skips_non_numeric_rows() {
    for row in [
        " nan 0.1 27 5 read",
        " 1.0 nan 27 5 read",
        " 1.0 -0.1 27 5 read",
        " 1.0 0.1 27 99999999999999999999 read",
        " 1.0 9999999999999999 27 5 read",
        " 1.0 0.1 27 5 5 5 read",
        " 1.0 0.1 27 5 7",
    ] {
        let out = read(&format!("{HEADING}{row}\n100.00 0.1 27 5 total\n"));
        assert_eq!(out.founds.len(), 0, "{row}");
        assert!(!out.notes.is_empty(), "{row}");
    }
}

#[test]
fn total_reveals_missing_rows() {
    let row = ("read", 5, Some(0), Some(1000), None);
    check(" 50.34 0.000001 27 5 read\n100.00 0.000001 27 9 total\n", &[row], "differs from the total");
}
