//! Shows the guarded metrics of both runs. The short table lists only changes.

use findings::{BoundedValue, GuardComparison, ResultComparison, RunComparison, Verdict};
use units::significant;

use super::results::tone;
use crate::{page::*, phrases};

const COLUMNS: [&str; 2] = ["Result", "Guarded metric"];
const NUMBERS: [&str; 3] = ["A", "B", "Change"];

type Row<'a> = (&'a ResultComparison, &'a GuardComparison);

pub(super) fn changed(comparison: &RunComparison) -> Option<Section> {
    let all = rows(comparison);
    let (same, changed): (Vec<Row<'_>>, Vec<Row<'_>>) =
        all.into_iter().partition(|(_, guard)| guard.verdict == Verdict::Same);
    let others = phrases::count_of(same.len(), "other has", "others have");
    let caption = (!same.is_empty()).then(|| Text::faint(format!("{others} no clear change.")));
    let table = || table(comparison, &changed, caption);
    (!changed.is_empty()).then(|| section("Guarded metrics", vec![Block::Table(table())]))
}

pub(super) fn all(comparison: &RunComparison) -> Option<Section> {
    let all = rows(comparison);
    let table = || table(comparison, &all, None);
    (!all.is_empty()).then(|| detail("Guarded metrics, all", vec![Block::Table(table())]))
}

fn rows(comparison: &RunComparison) -> Vec<Row<'_>> {
    comparison.results.iter().flat_map(|result| result.guards.iter().map(move |it| (result, it))).collect()
}

fn table(comparison: &RunComparison, rows: &[Row<'_>], caption: Option<Text>) -> Table {
    let mut columns = COLUMNS.map(left).to_vec();
    columns.extend(NUMBERS.map(right));
    columns.push(left("Verdict"));
    let row = |(result, guard): &Row<'_>| {
        let show = |value: f64| glued(&guard.metric.show(value));
        vec![
            comparison.label(result).into(),
            guard.metric.name().into(),
            with_ends(&guard.a, show).into(),
            with_ends(&guard.b, show).into(),
            with_ends(&guard.change, |value| change(guard, value)).into(),
            Text::of(tone(guard.verdict), word(guard.verdict)),
        ]
    };
    Table { columns, rows: rows.iter().map(row).collect(), caption }
}

const fn word(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Better => "better",
        Verdict::Worse => "worse",
        Verdict::Same => "no clear change",
        Verdict::Unknown => "unknown",
    }
}

fn with_ends(value: &BoundedValue, show: impl Fn(f64) -> String) -> String {
    match (value.low, value.high) {
        (Some(low), Some(high)) => format!("{} ({} to {})", show(value.value), show(low), show(high)),
        (Some(low), None) => format!("{} (at least {})", show(value.value), show(low)),
        (None, Some(high)) => format!("{} (at most {})", show(value.value), show(high)),
        (None, None) => show(value.value),
    }
}

fn change(guard: &GuardComparison, value: f64) -> String {
    if guard.metric.is_fraction() {
        let sign = if value < 0.0 { "−" } else { "+" };
        glued(&format!("{sign}{} points", significant(value.abs() * 100.0, 3)))
    } else {
        glued(&findings::change(value))
    }
}
