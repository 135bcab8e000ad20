//! Reports memory reclaimed from and returned to virtual machines.

use findings::BalloonSummary;
use units::{Nanos, significant};
use workload::{BalloonData, BalloonInterval, BalloonMove, Column, Metric};

use super::{Field, KindReport};
use crate::{page::*, phrases, sections::intervals::span};

pub(super) const COLUMNS: &[Column<BalloonSummary>] = &[
    Column::new("method", "", |balloon| Some(balloon.method.word().to_owned())),
    Column::new("first_moved", "ns", |balloon| Some(balloon.first.to_string())),
    Column::new("touching", "share", |balloon| Some(balloon.touching.to_string())),
    Column::new("resident_per_byte", "", |balloon| Some(balloon.resident_per_byte.to_string())),
    Column::new("longest_guest_stall", "ns", |balloon| Some(balloon.longest_stall.to_string())),
];

impl KindReport for BalloonSummary {
    fn column(&self, head: &str) -> Option<String> {
        Column::cell(COLUMNS, head, self)
    }

    fn further(&self) -> Vec<Field> {
        let time = |nanos: f64| Nanos(nanos.round() as u64).to_string();
        let share = |share: f64| format!("{} %", significant(share * 100.0, 3));
        let resident = Some(share(self.resident_per_byte));
        let [freed, populated] = match self.direction {
            BalloonMove::Shrink => [resident, None],
            BalloonMove::Grow => [None, resident],
        };
        vec![
            ("Method", Some(self.method.word().to_owned())),
            ("First after", Some(time(self.first))),
            ("Touching", (self.touching > 0.0).then(|| share(self.touching))),
            ("Freed", freed),
            ("Populated", populated),
            ("Stall", Some(time(self.longest_stall))),
        ]
    }

    fn caption(&self) -> Option<&'static str> {
        Some(
            "moved: time from the request to the last byte, as seen by the host; first after: time to the \
             first byte; freed, populated: change in host memory; stall: longest delay, in any trial, of a \
             guest thread that sleeps for 4 ms at a time",
        )
    }
}

pub(super) fn intervals(balloon: &BalloonData) -> Vec<Block> {
    if balloon.intervals.is_empty() {
        return Vec::new();
    }
    let columns = vec![left("Interval"), right("Moved"), right("Rate")];
    let row = |interval: &BalloonInterval| -> Vec<Text> {
        let rate = interval.rate().map(|rate| phrases::value(Metric::BalloonRate, rate));
        vec![
            span(interval.start, interval.end, false),
            interval.moved.to_string().into(),
            rate.unwrap_or_else(|| "-".to_owned()).into(),
        ]
    };
    vec![Block::Table(Table { columns, rows: balloon.intervals.iter().map(row).collect(), caption: None })]
}

#[cfg(test)]
mod tests {
    use workload::BalloonMethod;

    use super::*;

    #[test]
    fn reports_memory_that_the_host_gained_or_gave() {
        let mut balloon = BalloonSummary {
            method: BalloonMethod::VirtioBalloon,
            direction: BalloonMove::Shrink,
            first: 2e6,
            touching: 0.0,
            resident_per_byte: 0.998,
            longest_stall: 3.1e7,
        };
        let phrase = |balloon: &BalloonSummary| -> Vec<String> {
            balloon
                .further()
                .into_iter()
                .filter_map(|(title, phrase)| Some(format!("{title}: {}", phrase?)))
                .collect()
        };
        let method = "Method: virtio-balloon";
        let [first, stall] = ["First after: 2.00 ms", "Stall: 31.0 ms"];
        assert_eq!(phrase(&balloon), [method, first, "Freed: 99.8 %", stall]);
        (balloon.direction, balloon.touching) = (BalloonMove::Grow, 0.5);
        assert_eq!(phrase(&balloon), [method, first, "Touching: 50.0 %", "Populated: 99.8 %", stall]);
    }
}
