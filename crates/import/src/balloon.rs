//! Reads the durations of size changes from the guest kernel log of a patched virtio balloon driver. Also reads tables
//! that compute speeds from these durations.
//!
//! In `[ 19.069262] balloon: hetero size change has taken 10818601803`, the number has no unit. The timestamp marks
//! the end of the change. If the unit is nanoseconds, the timestamp minus the number gives the start, which must be
//! after boot. Changes that were requested together must start together.

use samples::{ImportedKind, ImportedSettings};
use workload::{Measurement, Quantity, ReportedData, ReportedValue};

use crate::{
    format::{Claim, Format, Line, Out},
    imported_test::ImportedTest,
    quantity::leading_number,
};

const FORMAT: &str = "balloon's kernel log";
/// Changes that start within this many seconds of each other were requested together.
const TOGETHER: f64 = 0.01;
const MOST: usize = 1000;

#[derive(Debug, Default)]
pub(crate) struct Balloon {
    changes: Vec<Change>,
}

#[derive(Debug, Clone)]
struct Change {
    line: u64,
    title: Vec<String>,
    taken: u64,
    ended: Option<f64>,
    size: Option<f64>,
}

impl Format for Balloon {
    fn line(&mut self, line: &Line<'_>, out: &mut Out) -> Claim {
        if let Some((taken, ended)) = change(line.text).filter(|_| line.whole || is_complete(line.text)) {
            if self.changes.len() < MOST {
                let title = out.title.clone();
                self.changes.push(Change { line: line.number, title, taken, ended, size: None });
            } else {
                out.unread("balloon changes beyond the limit per file", line.number);
            }
            return Claim::Claimed;
        }
        Claim::Declined
    }

    fn end(&mut self, _out: &mut Out) {}

    fn table_row(&mut self, row: &Line<'_>, out: &mut Out) {
        self.row(row, out);
    }

    /// Waits for the end of the file, because a table may be far below the log.
    fn finish(&mut self, out: &mut Out) {
        for change in std::mem::take(&mut self.changes) {
            if change.began().is_some_and(|began| began < 0.0) {
                out.note(format!(
                    "line {}: skipped {}: in nanoseconds, the change would have started before boot",
                    change.line, change.taken
                ));
            } else {
                out.found(change.found());
            }
        }
    }
}

impl Balloon {
    /// Reads a table row that divides a duration by a clock rate:
    /// `| 4G | 10818601803/2.4GHz=4.5077507512s | 1.59G/s |`.
    fn row(&mut self, line: &Line<'_>, out: &mut Out) {
        let cells: Vec<&str> = line.text.trim().trim_matches('|').split('|').map(str::trim).collect();
        let Some((taken, clock)) = cells.iter().find_map(|cell| divided(cell)) else { return };
        let Some(at) = self.changes.iter().position(|change| change.taken == taken) else { return };
        let size = cells.iter().find_map(|cell| gibibytes(cell));
        let change = &mut self.changes[at];
        change.size = size.or(change.size);
        let seconds = change.seconds();
        let speed = |size: f64| format!("{:.2} GiB/s", size / seconds);
        let printed = cells.last().copied().unwrap_or_default();
        let result = size.map_or_else(String::new, |size| {
            format!(", so the rate for {size} GiB is {}, not {printed}", speed(size))
        });
        let change = self.changes[at].clone();
        out.note(format!(
            "line {}: {taken} is divided by {clock} as if it were CPU cycles. In nanoseconds it is {seconds:.1} s{result}.{}",
            line.number,
            self.together(&change)
        ));
    }

    /// Looks for another change that starts at the same time. If the unit were cycles instead of nanoseconds, that
    /// would be a coincidence.
    fn together(&self, change: &Change) -> String {
        let began = change.began();
        let same = |other: &&Change| {
            other.line != change.line
                && other.began().zip(began).is_some_and(|(one, other)| (one - other).abs() < TOGETHER)
        };
        match (self.changes.iter().find(same), began) {
            (Some(other), Some(began)) => format!(
                " The unit is nanoseconds: the changes in lines {} and {} then both start at {:.4} s",
                change.line.min(other.line),
                change.line.max(other.line),
                f64::midpoint(began, other.began().unwrap_or(began))
            ),
            _ => " The log has no unit".to_owned(),
        }
    }
}

impl Change {
    fn seconds(&self) -> f64 {
        self.taken as f64 / 1e9
    }

    fn began(&self) -> Option<f64> {
        self.ended.map(|ended| ended - self.seconds())
    }

    fn found(self) -> ImportedTest {
        let seconds = self.seconds();
        let value = |name: &str, quantity, value| ReportedValue { name: name.to_owned(), quantity, value };
        let bytes = self.size.map(|size| size * 1_073_741_824.0);
        let mut values = vec![value("size change", Quantity::Time, self.taken as f64)];
        values.extend(bytes.map(|bytes| value("size", Quantity::Size, bytes)));
        values.extend(
            bytes.map(|bytes| value("speed", Quantity::ByteRate, bytes / seconds)).filter(|_| seconds > 0.0),
        );
        let settings = ImportedSettings::of("virtio balloon", ImportedKind::Other);
        let measurement = Measurement::Reported(ReportedData { values });
        let mut found = ImportedTest::new(FORMAT, self.line..=self.line, settings, measurement);
        found.title = self.title;
        found.levels.extend(self.size.map(|size| ("inflate".to_owned(), format!("{size} GiB"))));
        found
    }
}

fn change(text: &str) -> Option<(u64, Option<f64>)> {
    let (before, after) = text.split_once("size change has taken ")?;
    let (head, _) = before.split_once("balloon")?;
    let taken: u64 = after.split(|sign: char| !sign.is_ascii_digit()).next()?.parse().ok()?;
    let ended = head.rsplit_once('[').and_then(|(_, time)| time.split_once(']')?.0.trim().parse().ok());
    (taken > 0).then_some((taken, ended.filter(|ended: &f64| ended.is_finite())))
}

fn is_complete(text: &str) -> bool {
    text.ends_with(|sign: char| !sign.is_ascii_digit())
}

/// Parses `10818601803/2.4GHz=4.5s`.
fn divided(cell: &str) -> Option<(u64, &str)> {
    let (taken, rest) = cell.split_once('/')?;
    let clock = rest.split(['=', ' ']).next()?;
    clock.ends_with("Hz").then_some((taken.trim().parse().ok()?, clock))
}

fn gibibytes(cell: &str) -> Option<f64> {
    let (size, unit) = leading_number(cell)?;
    (matches!(unit.trim(), "G" | "GB" | "GiB") && size > 0.0).then_some(size)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Out {
        let (mut out, mut balloon) = (Out::default(), Balloon::default());
        for (line, number) in text.lines().zip(1..) {
            let line = Line { number, text: line, whole: true };
            let _ = balloon.line(&line, &mut out);
            balloon.table_row(&line, &mut out);
        }
        balloon.finish(&mut out);
        out
    }

    const LOG: &str = "[   19.069262] balloon: hetero size change has taken 10818601803\n\
                       [   21.589000] balloon: size change has taken 13338485865\n";

    fn values(out: &Out) -> Vec<Vec<f64>> {
        let values_of = |found: &ImportedTest| match &found.measurement {
            Measurement::Reported(data) => data.values.iter().map(|value| value.value).collect(),
            _ => Vec::new(),
        };
        out.founds.iter().map(values_of).collect()
    }

    #[test]
    fn change_duration_is_in_nanoseconds() {
        let out = read(LOG);
        assert_eq!(values(&out), [[10_818_601_803.0], [13_338_485_865.0]]);
        assert_eq!(out.notes, Vec::<String>::new());
        let early = read("[    3.000000] balloon: size change has taken 10818601803\n");
        assert!(early.founds.is_empty() && early.notes[0].contains("before boot"), "{:?}", early.notes);
    }

    #[test]
    fn notes_table_that_treats_nanoseconds_as_cycles() {
        let out = read(&format!(
            "{LOG}| Inflate | Time | Speed |\n| 4G | 10818601803/2.4GHz=4.5077507512s | 1.59G/s |\n\
             | 6G | 13338485865/2.4GHz=5.5577024438s | 1.08G/s |\n"
        ));
        let gibibyte = 1_073_741_824.0;
        for (values, (size, speed)) in values(&out).iter().zip([(4.0, 0.37), (6.0, 0.45)]) {
            assert_eq!(values[1], size * gibibyte);
            assert!((values[2] / gibibyte - speed).abs() < 0.005, "{values:?}");
        }
        for (note, words) in out.notes.iter().zip([
            "it is 10.8 s, so the rate for 4 GiB is 0.37 GiB/s, not 1.59G/s",
            "13.3 s, so the rate for 6 GiB is 0.45 GiB/s, not 1.08G/s",
        ]) {
            assert!(note.contains(words), "{note}");
            assert!(note.contains("the changes in lines 1 and 2 then both start at 8.2506 s"), "{note}");
        }
    }
}
