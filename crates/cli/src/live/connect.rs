//! Progress lines for a connection rate test.

use traffic::Progress;
use units::Nanos;

#[derive(Debug)]
pub(crate) struct ConnectLines {
    every: Nanos,
    warmup: Nanos,
    since: Nanos,
    last: Nanos,
    done: u64,
    all: u64,
}

impl ConnectLines {
    pub(crate) fn new(every: Nanos, warmup: Nanos) -> Self {
        Self { every, warmup, since: Nanos(0), last: Nanos(0), done: 0, all: 0 }
    }

    pub(crate) fn take(&mut self, progress: &Progress) -> Option<String> {
        self.done += progress.round_trips;
        self.all += if self.is_warming() { 0 } else { progress.round_trips };
        self.last = progress.elapsed;
        let (end, due) = (self.since + self.every, progress.elapsed + Nanos(progress.covers.0 / 2));
        let warm = self.is_warming() && due >= self.warmup;
        (self.every.0 > 0 && (due >= end || warm)).then(|| self.close())
    }

    pub(crate) fn rest(&mut self) -> Option<String> {
        (self.every.0 > 0 && self.done > 0 && self.last > self.since).then(|| self.close())
    }

    pub(crate) fn total(&self) -> Option<String> {
        (self.every.0 > 0 && self.all > 0).then(|| line(self.warmup, self.last, self.all, false))
    }

    /// Only checks the interval's start, because its end may be slightly late.
    fn is_warming(&self) -> bool {
        self.since < self.warmup
    }

    fn close(&mut self) -> String {
        let line = line(self.since, self.last, self.done, self.is_warming());
        (self.since, self.done) = (self.last, 0);
        line
    }
}

fn line(start: Nanos, end: Nanos, done: u64, warmup: bool) -> String {
    let time = format!("{:.1}-{:.1} s", start.seconds(), end.seconds());
    let rate = done as f64 / (end - start).seconds().max(f64::MIN_POSITIVE);
    let mark = if warmup { "  (warm-up)" } else { "" };
    format!("{time:>13}  {done:>8} connections  {rate:>8.0} per second{mark}")
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Nanos = Nanos::from_secs(1);

    fn printed(lines: &mut ConnectLines, numbers: std::ops::RangeInclusive<u64>) -> Vec<String> {
        let covers = Nanos::from_millis(100);
        let progress = |number: u64| Progress {
            elapsed: Nanos(number * 100_300_000),
            covers,
            round_trips: 100,
            ..Progress::default()
        };
        numbers.filter_map(|number| lines.take(&progress(number))).collect()
    }

    #[test]
    fn aggregates_progress_into_lines() {
        let mut lines = ConnectLines::new(SECOND, Nanos(0));
        let printed = printed(&mut lines, 1..=23);
        assert_eq!(printed.len(), 2, "{printed:?}");
        assert_eq!(printed[0], "    0.0-1.0 s      1000 connections       997 per second");
        assert!(lines.total().is_some_and(|total| total.contains("2300 connections")));
        assert!(ConnectLines::new(Nanos(0), Nanos(0)).total().is_none());
    }

    #[test]
    fn prints_warm_up_and_last_partial_second_separately() {
        let mut lines = ConnectLines::new(SECOND, Nanos::from_millis(500));
        let mut printed = printed(&mut lines, 1..=20);
        printed.extend(lines.rest());
        let shown: Vec<_> = printed.iter().map(|line| (&line[4..13], line.ends_with("(warm-up)"))).collect();
        assert_eq!(shown, [("0.0-0.5 s", true), ("0.5-1.5 s", false), ("1.5-2.0 s", false)], "{printed:?}");
        assert!(lines.total().is_some_and(|total| total.contains("1500 connections")));
        assert_eq!(lines.rest(), None);
    }
}
