//! Compares two runs. Each result has a row with the ratio and its interval, which includes the noise between runs.

use findings::{ResultComparison, RunComparison, Verdict};

use super::columns::{MARK, ends, interval_key, number};
use crate::{
    backends::{csv_basis, csv_unit, csv_verdict as verdict_word, csv_word},
    chart::*,
    labels,
    page::*,
    phrases::{self, Confidence},
};

pub(super) const KIND: &str = "comparison";

pub(super) fn build(comparison: &RunComparison) -> Vec<Chart> {
    labels::compared(comparison).into_iter().filter_map(|workload| chart(comparison, workload)).collect()
}

pub(crate) fn chart(comparison: &RunComparison, workload: &str) -> Option<Chart> {
    let of_workload = |result: &&ResultComparison| result.workload == workload && result.comparison.is_some();
    let results: Vec<&ResultComparison> = comparison.results.iter().filter(of_workload).collect();
    let metric = results.first().map(|result| result.metric)?;
    let rows: Vec<Row> = results.iter().filter_map(|result| row(result)).collect();
    let reach = || rows.iter().flat_map(Row::reach).chain([1.0]);
    let (low, high) = (reach().fold(f64::INFINITY, f64::min), reach().fold(0.0, f64::max));
    // On a logarithmic scale, half and double have the same distance from 1. For small ranges, a linear scale looks the
    // same.
    let scale = if low > 0.0 && high / low > 3.0 { Scale::log(reach()) } else { Scale::around(reach()) };
    let mut phrase = rows.iter().map(|row| format!("{}: {}", row.label, row.text.characters()));
    let better =
        metric.more_is_better().map_or("", |more| if more { "; more is better" } else { "; less is better" });
    let compared = results.iter().filter_map(|result| result.comparison);
    let bases = compared.filter(|it| it.ratio_interval.is_some()).map(|it| it.basis);
    let keys = interval_key("ratio", MARK, bases);
    Some(Chart {
        kind: KIND,
        title: format!("{workload}: {}, B/A", metric.name()),
        about: phrase.join("; "),
        drawing: Drawing::Rows(Rows {
            axis: Axis { title: format!("B/A, {}{better}", metric.name()), scale, ticks: Ticks::Percent },
            rows,
            keys: keys.into_iter().collect(),
            reference: Some(1.0),
        }),
        data: data(&results),
        plain: None,
    })
}

fn row(result: &ResultComparison) -> Option<Row> {
    let comparison = result.comparison.as_ref()?;
    let (tone, paint) = match result.verdict {
        Verdict::Better => (Tone::Good, Paint::Better),
        Verdict::Worse => (Tone::Bad, Paint::Worse),
        Verdict::Same | Verdict::Unknown => (Tone::Faint, Paint::Faint),
    };
    let is_unclear = result.verdict == Verdict::Unknown;
    let phrase = phrases::times(comparison, Confidence::InHead);
    Some(Row {
        label: findings::label_in_workload(&result.path, &result.levels, &result.workload),
        pieces: vec![Piece { from: 1.0, to: comparison.ratio, paint, is_unclear }],
        interval: ends(comparison.ratio_interval),
        middle: Some(comparison.ratio),
        text: Text::plain(phrase).and(tone, format!(" {}", verdict_word(result.verdict))),
        ..Row::default()
    })
}

fn data(results: &[&ResultComparison]) -> Data {
    let mut data = Data::new([
        "result",
        "path",
        "workload",
        "metric",
        "unit",
        "a_value",
        "b_value",
        "ratio",
        "ratio_low",
        "ratio_high",
        "ratio_basis",
        "noise_floor",
        "verdict",
    ]);
    for result in results {
        let interval = result.comparison.and_then(|it| it.ratio_interval);
        data.push([
            Some(result.result.clone()),
            Some(result.path.clone()),
            Some(result.workload.clone()),
            Some(csv_word(result.metric)),
            Some(csv_unit(result.metric).to_owned()),
            number(Some(result.a.estimate)),
            number(Some(result.b.estimate)),
            number(result.comparison.map(|it| it.ratio)),
            number(interval.map(|it| it.low)),
            number(interval.map(|it| it.high)),
            result.comparison.map(|it| csv_basis(it.basis).to_owned()),
            number(result.floor),
            Some(verdict_word(result.verdict).to_owned()),
        ]);
    }
    data
}
