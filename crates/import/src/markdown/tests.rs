//! Tests with tables and lists as they appear in files.

use workload::{Measurement, Quantity};

use super::*;
use crate::imported_test::ImportedTest;

fn read(text: &str) -> Out {
    read_with(text, &Options::default(), "Latency Comparison")
}

fn read_with(text: &str, options: &Options, title: &str) -> Out {
    let mut markdown = Markdown::new(options);
    let mut out = Out { title: vec![title.to_owned()], ..Out::default() };
    let ended = text.ends_with('\n');
    let last = text.lines().count();
    for (text, number) in text.lines().zip(1..) {
        let whole = ended || number < last;
        let _ = markdown.line(&Line { number: number as u64, text, whole }, &mut out);
    }
    markdown.end(&mut out);
    out
}

type Levels<'a> = Vec<(&'a str, &'a str)>;
type Values<'a> = Vec<(&'a str, Quantity, f64)>;

fn levels_and_values(found: &ImportedTest) -> (Levels<'_>, Values<'_>) {
    let Measurement::Reported(data) = &found.measurement else { panic!("a table reports") };
    let levels = found.levels.iter().map(|(factor, level)| (factor.as_str(), level.as_str()));
    let values = data.values.iter().map(|value| (value.name.as_str(), value.quantity, value.value));
    (levels.collect(), values.collect())
}

#[test]
fn row_becomes_cell_of_its_settings() {
    let out = read(
        "text\n\n\
         | Queue | 채널 수 | 대역폭 (Gbit/sec) | Server VM CPU (%) |\n\
         |-------|---------|-------------------|-------------------|\n\
         | 1     | 2       | 25.8             | 4                 |\n\
         | 40    | 128     | 70.7             | 96                |\n\
         * 160 is more than the 128 channels that iperf3 allows.\n",
    );
    let values: Vec<_> = out.founds.iter().map(levels_and_values).collect();
    assert_eq!(
        values,
        [
            (
                vec![("Queue", "1"), ("채널 수", "2")],
                vec![("대역폭", Quantity::BitRate, 25.8e9), ("Server VM CPU", Quantity::Share, 0.04)]
            ),
            (
                vec![("Queue", "40"), ("채널 수", "128")],
                vec![("대역폭", Quantity::BitRate, 70.7e9), ("Server VM CPU", Quantity::Share, 0.96)]
            ),
        ]
    );
    assert_eq!(out.founds[1].lines, 6..=6);
    assert_eq!(
        out.table_notes,
        ["Remark on the table above line 7: 160 is more than the 128 channels that iperf3 allows."]
    );
}

#[test]
fn transposes_table_of_statistics() {
    let out = read(
        "| Configuration | Avg Latency |\n|---|---|\n| **BM-BM** | **32.867 μs** |\n| VM-VM | 88.612 μs |\n\n\
         | Percentile | BM-BM | VM-VM |\n|---|---|---|\n\
         | **Min** | 31.6 μs | 81.4 μs |\n| **50th (Median)** | 32.3 μs | 88.2 μs |\n| 99.9th | 44.7 μs | lost |\n",
    );
    let turned: Vec<_> = out.founds.iter().skip(2).map(levels_and_values).collect();
    let time = Quantity::Time;
    assert_eq!(
        turned,
        [
            (
                vec![("Configuration", "BM-BM")],
                vec![("p50", time, 32_300.0), ("min", time, 31_600.0), ("p99.9", time, 44_700.0)]
            ),
            (vec![("Configuration", "VM-VM")], vec![("p50", time, 88_200.0), ("min", time, 81_400.0)]),
        ]
    );
    assert_eq!(
        out.table_notes,
        ["In the table at line 6, `VM-VM` is not a valid number at line 10 (`lost`); treated as unknown."]
    );
}

#[test]
fn notes_non_numeric_cells_as_unknown() {
    let out = read(
        "| Host | Rate (Gbit/s) | Loss |\n|---|---|---|\n| a | nan | 1% |\n| b | 12.7 | - |\n| c | inf | |\n\
         | d | -5 | 2% |\n| e | 1e999 | 3% |\n| | 7 | 1% |\n| g | 5 |\n| h | 5 | 1% | 2 |\n| i | 12.7 | 4\n",
    );
    let values: Vec<_> = out.founds.iter().map(|found| levels_and_values(found).1).collect();
    let loss = |share| vec![("Loss", Quantity::Share, share)];
    assert_eq!(values, [loss(0.01), vec![("Rate", Quantity::BitRate, 12.7e9)], loss(0.02), loss(0.03)]);
    assert_eq!(
        out.table_notes,
        [
            "In the table at line 1, skipped rows whose number of cells differs from the heading: lines 9, 10 and 11.",
            "In the table at line 1, skipped rows with an empty `Host`: line 8.",
            "In the table at line 1, `Rate` is not a valid number at lines 3, 5, 6 and 1 more (`nan`); treated as unknown.",
        ]
    );
}

#[test]
fn skips_truncated_row() {
    let out = read("Host | Rate (Gbit/s)\n--- | ---\na | 12.75\nb | 12.7");
    assert_eq!(out.founds.len(), 1);
    assert_eq!(
        out.table_notes,
        ["In the table at line 1, skipped rows whose number of cells differs from the heading: line 4."]
    );
}

#[test]
fn options_choose_columns() {
    let table = "| Rate (Gbit/s) | Score |\n|---|---|\n| 10 | 5 |\n| 25 | 7 |\n";
    let options = Options { factors: vec!["Rate".to_owned()], ..Options::default() };
    let out = read_with(table, &options, "");
    assert_eq!(
        levels_and_values(&out.founds[1]),
        (vec![("Rate", "25")], vec![("Score", Quantity::Count, 7.0)])
    );
    let repeated = read(table);
    assert_eq!(levels_and_values(&repeated.founds[1]).0, []);
    assert!(repeated.table_notes[0].contains("each row is a separate result"), "{}", repeated.table_notes[0]);
}

#[test]
fn ignores_text_that_resembles_a_table() {
    let out = read("a | b\nc | d\n\n| a | b |\n|---|\n| 1 Gbit/s | 2 |\n---\n|---|---|\n| x | y |\n");
    assert_eq!(out.founds, []);
    assert_eq!(out.table_notes, ["Skipped the table at line 4: 2 headings for 1 columns."]);
    let words = read("| a | b |\n|---|---|\n| x | y |\n");
    assert_eq!((words.founds.len(), words.table_notes.len()), (0, 1));
}

#[test]
fn holds_only_sample_rows_of_a_long_table() {
    let mut markdown = Markdown::default();
    let mut out = Out::default();
    let heading = ["| Step | Rate (Mbit/s) |".to_owned(), "|---|---|".to_owned()];
    let rows = (0..100_000).map(|at| format!("| {at} | {at}.5 |"));
    let mut found = 0;
    for (text, number) in heading.into_iter().chain(rows).zip(1..) {
        let _ = markdown.line(&Line { number, text: &text, whole: true }, &mut out);
        found += out.founds.drain(..).count();
    }
    markdown.end(&mut out);
    assert_eq!((found, out.founds.len(), out.table_notes.len()), (100_000, 0, 0));
}
