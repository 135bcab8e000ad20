//! The lines that are printed while connections are made and closed.

use traffic::Beat;
use units::Nanos;

/// Makes lines of beats, which come about ten times a second.
#[derive(Debug)]
pub(crate) struct ConnectLines {
    every: Nanos,
    since: Nanos,
    last: Nanos,
    done: u64,
    all: u64,
}

impl ConnectLines {
    /// A line as often as said, and none when that is nought.
    pub(crate) fn new(every: Nanos) -> Self {
        Self { every, since: Nanos(0), last: Nanos(0), done: 0, all: 0 }
    }

    /// Takes a beat and gives the line that it completes.
    pub(crate) fn take(&mut self, beat: &Beat) -> Vec<String> {
        self.done += beat.round_trips;
        self.all += beat.round_trips;
        self.last = beat.elapsed;
        let due = self.since.0 + self.every.0;
        if self.every.0 == 0 || beat.elapsed.0 + beat.covers.0 / 2 < due {
            return Vec::new();
        }
        let line = line(self.since, beat.elapsed, self.done);
        (self.since, self.done) = (beat.elapsed, 0);
        vec![line]
    }

    /// All of them on a line, where connections were made at all.
    pub(crate) fn total(&self) -> Option<String> {
        (self.every.0 > 0 && self.all > 0).then(|| line(Nanos(0), self.last, self.all))
    }
}

fn line(start: Nanos, end: Nanos, done: u64) -> String {
    let time = format!("{:.1}-{:.1} s", start.seconds(), end.seconds());
    let rate = done as f64 / (end - start).seconds().max(f64::MIN_POSITIVE);
    format!("{time:>13}  {done:>8} connections  {rate:>8.0} a second")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn beats_are_put_together_to_lines() {
        let mut lines = ConnectLines::new(Nanos::from_secs(1));
        let tenth = Nanos::from_millis(100);
        let mut said = Vec::new();
        for beat in 1..=21 {
            let elapsed = Nanos(beat * 100_300_000);
            said.extend(lines.take(&Beat { elapsed, covers: tenth, round_trips: 100, ..Beat::default() }));
        }
        assert_eq!(said.len(), 2, "{said:?}");
        assert_eq!(said[0], "    0.0-1.0 s      1000 connections       997 a second");
        assert!(lines.total().is_some_and(|total| total.contains("2100 connections")));
        assert!(ConnectLines::new(Nanos(0)).total().is_none());
    }
}
