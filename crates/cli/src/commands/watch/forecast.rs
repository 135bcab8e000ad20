//! `plumb watch --dry-run`: forecasts the next day's measurements and traffic from stored runs.

use std::path::Path;

use comfy_table::{Table, presets};
use jiff::{Timestamp, tz::TimeZone};
use samples::UnixMillis;
use serde::Serialize;
use units::{Bytes, Nanos};
use watch::{Admission, Archive, Timing, WatchState, Watched, admission, day_of};

use crate::{list_format, output};

#[derive(Debug, Clone, Copy)]
struct Known {
    timing: Timing,
    last: Option<UnixMillis>,
    again: Option<UnixMillis>,
    bytes: Option<Bytes>,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Day {
    next: Option<UnixMillis>,
    count: usize,
    skipped: usize,
}

#[derive(Debug, Serialize)]
struct Row<'a> {
    scenario: &'a str,
    every: Nanos,
    jitter: Nanos,
    #[serde(skip)]
    timing: String,
    /// Time at which the next measurement is due, without jitter (RFC 3339).
    next: Option<String>,
    measurements: usize,
    skipped: usize,
    bytes: Option<Bytes>,
}

pub(super) fn print(
    watched: &[Watched],
    budget: Option<Bytes>,
    mut archive: Archive,
    state: Option<&Path>,
    now: UnixMillis,
    is_json: bool,
) -> anyhow::Result<()> {
    let names: Vec<&str> = watched.iter().map(|watched| watched.name.as_str()).collect();
    let used = archive.sent_today(&names, now)?;
    let mut known = Vec::new();
    for watched in watched {
        let last = archive.last(&watched.digest, now)?;
        let bytes = archive.expected(&watched.digest)?;
        let failed = state.and_then(|state| WatchState::failed(state, &watched.name, &watched.digest));
        let completed = archive.completed(&watched.digest)?;
        let failed = failed.filter(|failed| completed.is_none_or(|start| start < *failed));
        let timing = watched.measure.timing;
        known.push(Known { timing, last, again: failed.map(|failed| timing.again(failed)), bytes });
    }
    let days = days(&known, budget, used, now);
    let rows: Vec<Row<'_>> = names
        .iter()
        .zip(known.iter().zip(&days))
        .map(|(name, (known, day))| row(name, known, *day))
        .collect();
    if is_json {
        for row in &rows {
            output::line(serde_json::to_string(row)?)?;
        }
        return Ok(());
    }
    output::line(table(&rows, &days))?;
    Ok(output::line(summary(&known, &days, budget, used))?)
}

fn row<'a>(scenario: &'a str, known: &Known, day: Day) -> Row<'a> {
    Row {
        scenario,
        every: known.timing.every,
        jitter: known.timing.jitter,
        timing: known.timing.to_string(),
        next: day.next.and_then(list_format::moment),
        measurements: day.count,
        skipped: day.skipped,
        bytes: known.bytes,
    }
}

/// Simulates the 24 hours after `now`. Each UTC day has a separate budget. A run of unknown size counts as 0 bytes.
fn days(known: &[Known], budget: Option<Bytes>, used: Bytes, now: UnixMillis) -> Vec<Day> {
    let due = known.iter().enumerate().flat_map(|(place, it)| {
        let again = it.again.map(|at| at.max(now));
        let usual = it.timing.day(again.or(it.last), now);
        again.into_iter().chain(usual).map(move |at| (at, place))
    });
    let mut due: Vec<(UnixMillis, usize)> = due.collect();
    due.sort_unstable();
    let mut days = vec![Day::default(); known.len()];
    let (mut used, mut today) = (used, day_of(now));
    for (at, place) in due {
        if day_of(at) != today {
            (used, today) = (Bytes(0), day_of(at));
        }
        let day = &mut days[place];
        day.next = day.next.or(Some(at));
        if admission(budget, used, known[place].bytes) == Admission::Skipped {
            day.skipped += 1;
        } else {
            day.count += 1;
            used = used + known[place].bytes.unwrap_or_default();
        }
    }
    days
}

fn table(rows: &[Row<'_>], days: &[Day]) -> Table {
    let mut table = Table::new();
    table.load_style(presets::NOTHING);
    table.set_header(["SCENARIO", "EVERY", "NEXT (UTC)", "IN 24 H", "SENDS (EACH)", "TOTAL", "SKIPPED"]);
    for (row, day) in rows.iter().zip(days) {
        let size =
            |bytes: Option<Bytes>| bytes.map_or_else(|| "unknown".to_owned(), |bytes| bytes.to_string());
        table.add_row([
            row.scenario.to_owned(),
            row.timing.clone(),
            day.next.map(time).unwrap_or_default(),
            row.measurements.to_string(),
            size(row.bytes),
            size(row.bytes.map(|bytes| times(bytes, row.measurements))),
            row.skipped.to_string(),
        ]);
    }
    table
}

fn summary(known: &[Known], days: &[Day], budget: Option<Bytes>, used: Bytes) -> String {
    let all = known.iter().zip(days).filter_map(|(known, day)| Some(times(known.bytes?, day.count)));
    let together: Bytes = all.sum();
    let budget = budget.map_or_else(|| "no budget".to_owned(), |budget| format!("budget {budget} per day"));
    format!(
        "{together} in the next 24 hours (may span two UTC days), estimated from stored runs; {used} so \
            far today; {budget}"
    )
}

fn times(bytes: Bytes, count: usize) -> Bytes {
    Bytes(bytes.0.saturating_mul(count as u64))
}

fn time(at: UnixMillis) -> String {
    Timestamp::from_millisecond(at.0)
        .map(|time| time.to_zoned(TimeZone::UTC).strftime("%Y-%m-%d %H:%M").to_string())
        .unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    const GB: u64 = 1_000_000_000;

    fn every(hours: u64, bytes: Option<u64>) -> Known {
        let timing = Timing { every: Nanos::from_secs(hours * 3600), jitter: Nanos(0), at: None };
        Known { timing, last: None, again: None, bytes: bytes.map(|bytes| Bytes(bytes * GB)) }
    }

    #[test]
    fn forecast_applies_budget_per_day() {
        let noon = UnixMillis(100 * watch::DAY + watch::DAY / 2);
        let simulate = |known: &[Known], budget: Option<u64>, used: u64| -> Vec<(usize, usize)> {
            let days = days(known, budget.map(|budget| Bytes(budget * GB)), Bytes(used * GB), noon);
            days.iter().map(|day| (day.count, day.skipped)).collect()
        };
        assert_eq!(simulate(&[every(1, Some(2))], None, 0), [(24, 0)]);
        assert_eq!(simulate(&[every(1, Some(2))], Some(20), 10), [(15, 9)]);
        assert_eq!(simulate(&[every(1, Some(30))], Some(20), 0), [(0, 24)]);
        assert_eq!(simulate(&[every(12, Some(20)), every(12, Some(1))], Some(20), 0), [(2, 0), (0, 2)]);
        assert_eq!(simulate(&[every(6, None)], Some(20), 15), [(2, 2)], "unknown sizes while half is left");
        let soon = UnixMillis(noon.0 + 60_000);
        let failed = Known { last: Some(noon), again: Some(soon), ..every(20, None) };
        assert_eq!(days(&[failed], None, Bytes(0), noon), [Day { next: Some(soon), count: 2, skipped: 0 }]);
    }
}
