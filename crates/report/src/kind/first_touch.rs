//! Reports first touches of memory.

use findings::FirstTouchSummary;
use units::Bytes;
use workload::{Column, FirstTouchData, FirstTouchInterval, Metric};

use super::{Field, KindReport, TimeSample, TimeSeries};
use crate::{page::*, phrases, sections::intervals::span};

pub(super) const COLUMNS: &[Column<FirstTouchSummary>] = &[
    Column::new("faults", "per_gib", |touch| Some(touch.faults_per_gib.to_string())),
    Column::new("minor_faults", "", |touch| Some(touch.minor_faults.to_string())),
    Column::new("major_faults", "", |touch| Some(touch.major_faults.to_string())),
];

pub(super) fn series(data: &FirstTouchData) -> TimeSeries {
    let sample = |interval: &FirstTouchInterval| {
        let [start, end] = [interval.start, interval.end].map(units::Nanos::seconds);
        Some(TimeSample { start, end, value: interval.rate()?, warmup: interval.warmup })
    };
    let samples = data.intervals.iter().filter_map(sample).collect();
    TimeSeries { what: "memory touched per second", metric: Metric::TouchRate, samples }
}

impl KindReport for FirstTouchSummary {
    fn column(&self, head: &str) -> Option<String> {
        Column::cell(COLUMNS, head, self)
    }

    fn further(&self) -> Vec<Field> {
        const GIB: f64 = (1_u64 << 30) as f64;
        let faults = phrases::grouped(self.faults_per_gib.round() as u64);
        let each = (self.faults_per_gib > 0.0).then(|| Bytes((GIB / self.faults_per_gib).round() as u64));
        let major = (self.major_faults > 0).then(|| phrases::grouped(self.major_faults));
        vec![
            ("Faults/GiB", Some(faults)),
            ("Per fault", each.map(|bytes| bytes.to_string())),
            ("Major faults", major),
        ]
    }

    fn caption(&self) -> Option<&'static str> {
        Some("touched: rate of all threads while they touch memory; map and unmap only count as CPU time")
    }
}

pub(super) fn intervals(touch: &FirstTouchData) -> Vec<Block> {
    if touch.intervals.is_empty() {
        return Vec::new();
    }
    let columns = vec![left("Interval"), right("Touched"), right("Rate")];
    let row = |interval: &FirstTouchInterval| -> Vec<Text> {
        let rate = interval.rate().map(|rate| phrases::value(Metric::TouchRate, rate));
        vec![
            span(interval.start, interval.end, interval.warmup),
            interval.touched.to_string().into(),
            rate.unwrap_or_else(|| "-".to_owned()).into(),
        ]
    };
    vec![Block::Table(Table { columns, rows: touch.intervals.iter().map(row).collect(), caption: None })]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distinguishes_small_from_huge_pages_by_fault_size() {
        let check = |faults_per_gib: f64, major_faults: u64, expected: [Option<&str>; 3]| {
            let touch = FirstTouchSummary { faults_per_gib, minor_faults: 0, major_faults };
            let phrase: Vec<Option<String>> = touch.further().into_iter().map(|(_, phrase)| phrase).collect();
            assert_eq!(phrase, expected.map(|phrase| phrase.map(str::to_owned)));
        };
        check(262_144.0, 0, [Some("262,144"), Some("4.00 KiB"), None]);
        check(512.0, 3, [Some("512"), Some("2.00 MiB"), Some("3")]);
        check(0.0, 0, [Some("0"), None, None]);
    }
}
