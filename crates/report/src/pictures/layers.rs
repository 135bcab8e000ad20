//! Shows the cost of each layer, with one bar per path.

use findings::{CostBreakdown, CostStep, Difference, Findings};

use super::columns::{CELL, MARK, bases, ends, interval_key, is_worse, number, of_result, values};
use crate::{
    chart::*,
    labels,
    page::{Bar, Bars, *},
    phrases::{self, Confidence},
    sections::Source,
};

pub(super) const KIND: &str = "layers";

pub(super) fn build(source: &Source<'_>) -> Vec<Chart> {
    source.findings.cost_breakdowns.iter().map(|breakdown| chart(source, breakdown)).collect()
}

pub(crate) fn title(breakdown: &CostBreakdown) -> String {
    let settings = labels::levels(&breakdown.levels).map(|levels| format!(", {levels}")).unwrap_or_default();
    format!("{}{settings}", breakdown.workload)
}

pub(crate) fn chart(source: &Source<'_>, breakdown: &CostBreakdown) -> Chart {
    let findings = source.findings;
    let bars: Vec<Bar> = breakdown.steps.iter().map(|step| bar(findings, breakdown, step)).collect();
    let rows: Vec<Row> =
        breakdown.steps.iter().zip(&bars).map(|(step, bar)| row(findings, breakdown, step, bar)).collect();
    let largest = rows.iter().flat_map(Row::reach).filter(|it| it.is_finite()).fold(0.0, f64::max);
    let scale = Scale::from_zero(rows.iter().flat_map(Row::reach));
    let axis = Axis::of_metric(breakdown.metric, scale, largest);
    let phrase = bars.iter().map(|bar| {
        let note =
            bar.note.as_ref().map(|note| format!(" ({})", note.characters().trim())).unwrap_or_default();
        format!("{}: {}{note}", bar.label.characters(), bar.text.characters())
    });
    Chart {
        kind: KIND,
        title: format!("Cost of each layer: {} ({})", title(breakdown), breakdown.metric.measured_in()),
        about: phrase.collect::<Vec<_>>().join("; "),
        drawing: Drawing::Rows(Rows { axis, keys: keys(findings, breakdown, &rows), rows, reference: None }),
        data: data(findings, breakdown),
        plain: Some(Bars { rows: bars }),
    }
}

fn bar(findings: &Findings, breakdown: &CostBreakdown, step: &CostStep) -> Bar {
    let result = findings.result(&step.result);
    let text = result.map_or_else(
        || phrases::value(breakdown.metric, step.value),
        |result| phrases::estimate(breakdown.metric, &result.value),
    );
    Bar {
        label: step.path.as_str().into(),
        value: step.value,
        range: result.and_then(|result| ends(result.value.interval)),
        text: text.into(),
        note: note(breakdown, step),
    }
}

fn note(breakdown: &CostBreakdown, step: &CostStep) -> Option<Text> {
    let cost = step.cost.as_ref()?;
    let tone = phrases::tone(breakdown.metric, cost);
    let lead = Text::from(format!("+ {}: ", step.adds.join(", ")));
    let below = step.below.as_deref().unwrap_or("the path below");
    let number = Text::of(tone, phrases::gain(cost, Confidence::Inline))
        .and_plain(format!(" of {below}, {}", phrases::difference_alone(breakdown.metric, step.value, cost)));
    Some(lead.then(phrases::judged(cost, number)))
}

fn below<'a>(breakdown: &'a CostBreakdown, step: &CostStep) -> Option<&'a CostStep> {
    let below = step.below.as_ref()?;
    breakdown.steps.iter().find(|other| other.path == *below)
}

fn row(findings: &Findings, breakdown: &CostBreakdown, step: &CostStep, bar: &Bar) -> Row {
    let before = below(breakdown, step).map(|below| below.value);
    let whole = |to: f64, paint: Paint| Piece { from: 0.0, to, paint, is_unclear: false };
    let pieces = match (before, &step.cost) {
        (Some(before), Some(cost)) => {
            let change = step.value - before;
            let paint = if is_worse(breakdown.metric, change) { Paint::Worse } else { Paint::Better };
            let is_unclear = matches!(cost.verdict, Difference::None | Difference::Unclear);
            let paint = if is_unclear { Paint::Faint } else { paint };
            vec![
                whole(before.min(step.value), Paint::Value),
                Piece { from: before, to: step.value, paint, is_unclear },
            ]
        }
        _ => vec![whole(step.value, Paint::Value)],
    };
    let floor =
        findings.noise.iter().find(|noise| noise.workload == breakdown.workload).map(|noise| noise.floor);
    let band = before.zip(floor).map(|(before, floor)| (before * (1.0 - floor), before * (1.0 + floor)));
    Row {
        label: bar.label.characters(),
        pieces,
        interval: bar.range,
        middle: Some(bar.value),
        points: findings.result(&step.result).map(|result| result.values.clone()).unwrap_or_default(),
        band,
        text: bar.text.clone(),
        note: bar.note.clone(),
    }
}

fn keys(findings: &Findings, breakdown: &CostBreakdown, rows: &[Row]) -> Vec<Key> {
    let has = |paint: Paint| rows.iter().flat_map(|row| &row.pieces).any(|piece| piece.paint == paint);
    let unclear = rows.iter().flat_map(|row| &row.pieces).any(|piece| piece.is_unclear);
    let (worse, better) = if breakdown.metric.more_is_better() == Some(false) {
        ("added by the layers", "saved")
    } else {
        ("lost to the layers", "gained")
    };
    let surfaces = [
        (true, Key::Surface(Paint::Value, breakdown.metric.name().to_owned())),
        (has(Paint::Worse), Key::Surface(Paint::Worse, worse.to_owned())),
        (has(Paint::Better), Key::Surface(Paint::Better, better.to_owned())),
        (unclear, Key::Hatched("not significant".to_owned())),
        (rows.iter().any(|row| row.band.is_some()), Key::Band("noise floor".to_owned())),
    ];
    let results = breakdown.steps.iter().filter_map(|step| findings.result(&step.result));
    let has_dots = rows.iter().any(|row| !row.points.is_empty());
    let surfaces = surfaces.into_iter().filter_map(|(is_there, key)| is_there.then_some(key));
    surfaces
        .chain(interval_key("value", MARK, bases(results)))
        .chain(has_dots.then(|| Key::Dot("a trial".to_owned())))
        .collect()
}

fn data(findings: &Findings, breakdown: &CostBreakdown) -> Data {
    let more = [
        "below",
        "adds",
        "step_difference",
        "step_low",
        "step_high",
        "step_ratio",
        "step_verdict",
        "noise_floor",
        "values",
    ];
    let mut data = Data::new(CELL.into_iter().chain(more));
    let floor =
        findings.noise.iter().find(|noise| noise.workload == breakdown.workload).map(|noise| noise.floor);
    for step in &breakdown.steps {
        let Some(result) = findings.result(&step.result) else { continue };
        let cost = step.cost.as_ref();
        let interval = cost.and_then(|cost| cost.difference_interval);
        data.push(of_result(result).into_iter().chain([
            step.below.clone(),
            Some(step.adds.join(" ")),
            number(cost.map(|cost| cost.difference)),
            number(interval.map(|it| it.low)),
            number(interval.map(|it| it.high)),
            number(cost.map(|cost| cost.ratio)),
            cost.map(|cost| verdict(cost.verdict).to_owned()),
            number(floor),
            values(result),
        ]));
    }
    data
}

const fn verdict(verdict: Difference) -> &'static str {
    match verdict {
        Difference::Lower => "lower",
        Difference::Higher => "higher",
        Difference::None => "none",
        Difference::Unclear => "unclear",
    }
}
