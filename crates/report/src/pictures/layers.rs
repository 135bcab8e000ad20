//! Cost of each layer: a bar per path, with the cost or gain of its additional layers as the last part.

use findings::{CellSummary, CostStep, Difference, Findings, Ladder};

use super::columns::{CELL, ends, is_worse, number, of_cell, values};
use crate::{
    chart::{Axis, Chart, Data, Drawing, Key, Paint, Piece, Row, Rows, Scale},
    labels,
    page::{Bar, Bars},
    phrases::{self, Confidence},
    sections::Source,
    text::{Text, Tone},
};

pub(super) const KIND: &str = "layers";

pub(super) fn build(source: &Source<'_>) -> Vec<Chart> {
    source.findings.ladders.iter().map(|ladder| chart(source, ladder)).collect()
}

/// `stream, offload=on`.
pub(crate) fn title(ladder: &Ladder) -> String {
    let settings = labels::levels(&ladder.levels).map(|levels| format!(", {levels}")).unwrap_or_default();
    format!("{}{settings}", ladder.workload)
}

pub(crate) fn chart(source: &Source<'_>, ladder: &Ladder) -> Chart {
    let findings = source.findings;
    let bars: Vec<Bar> = ladder.rungs.iter().map(|step| bar(findings, ladder, step)).collect();
    let rows: Vec<Row> =
        ladder.rungs.iter().zip(&bars).map(|(step, bar)| row(findings, ladder, step, bar)).collect();
    let largest = rows.iter().flat_map(Row::reach).filter(|it| it.is_finite()).fold(0.0, f64::max);
    let scale = Scale::from_zero(rows.iter().flat_map(Row::reach));
    let axis = Axis::of_metric(ladder.metric, scale, largest);
    let phrase = bars.iter().map(|bar| {
        let note =
            bar.note.as_ref().map(|note| format!(" ({})", note.characters().trim())).unwrap_or_default();
        format!("{}: {}{note}", bar.label.characters(), bar.text.characters())
    });
    Chart {
        kind: KIND,
        title: format!("Cost of each layer: {} ({})", title(ladder), ladder.metric.measured_in()),
        about: phrase.collect::<Vec<_>>().join("; "),
        drawing: Drawing::Rows(Rows { axis, keys: keys(ladder, &rows), rows, reference: None }),
        data: data(findings, ladder),
        plain: Some(Bars { rows: bars }),
    }
}

fn find<'a>(findings: &'a Findings, step: &CostStep) -> Option<&'a CellSummary> {
    findings.cells.iter().find(|cell| cell.id == step.cell)
}

fn bar(findings: &Findings, ladder: &Ladder, step: &CostStep) -> Bar {
    let cell = find(findings, step);
    let text = cell.map_or_else(
        || phrases::value(ladder.metric, step.value),
        |cell| phrases::estimate(ladder.metric, &cell.value),
    );
    Bar {
        label: step.path.as_str().into(),
        value: step.value,
        range: cell.and_then(|cell| ends(cell.value.interval)),
        text: text.into(),
        note: note(findings, ladder, step),
    }
}

/// `+ vxlan: −20.9 % (…) of wire, −6.90 Gbit/s`.
fn note(findings: &Findings, ladder: &Ladder, step: &CostStep) -> Option<Text> {
    let cost = step.cost.as_ref()?;
    let tone = phrases::tone(ladder.metric, cost);
    let lead = Text::from(format!("+ {}: ", step.adds.join(", ")));
    let below = step.below.as_deref().unwrap_or("the path below");
    let number = Text::of(tone, phrases::gain(cost, Confidence::Inline))
        .and(Tone::Plain, format!(" of {below}, {}", phrases::difference_alone(ladder.metric, cost)));
    Some(lead.then(phrases::judged(findings, &ladder.workload, cost, number)))
}

/// The path below a step in the same breakdown.
fn below<'a>(ladder: &'a Ladder, step: &CostStep) -> Option<&'a CostStep> {
    let below = step.below.as_ref()?;
    ladder.rungs.iter().find(|other| other.path == *below)
}

/// A bar from zero; the last part is the difference from the path below.
fn row(findings: &Findings, ladder: &Ladder, step: &CostStep, bar: &Bar) -> Row {
    let before = below(ladder, step).map(|below| below.value);
    let whole = |to: f64, paint: Paint| Piece { from: 0.0, to, paint, is_unclear: false };
    let pieces = match (before, &step.cost) {
        (Some(before), Some(cost)) => {
            let change = step.value - before;
            let paint = if is_worse(ladder.metric, change) { Paint::Worse } else { Paint::Better };
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
        findings.noise.iter().find(|noise| noise.workload == ladder.workload).map(|noise| noise.floor);
    let band = before.zip(floor).map(|(before, floor)| (before * (1.0 - floor), before * (1.0 + floor)));
    Row {
        label: bar.label.characters(),
        pieces,
        interval: bar.range,
        middle: Some(bar.value),
        points: find(findings, step).map(|cell| cell.values.clone()).unwrap_or_default(),
        band,
        text: bar.text.clone(),
        note: bar.note.clone(),
    }
}

fn keys(ladder: &Ladder, rows: &[Row]) -> Vec<Key> {
    let has = |paint: Paint| rows.iter().flat_map(|row| &row.pieces).any(|piece| piece.paint == paint);
    let unclear = rows.iter().flat_map(|row| &row.pieces).any(|piece| piece.is_unclear);
    let (worse, better) = if ladder.metric.more_is_better() == Some(false) {
        ("added by the layers", "saved")
    } else {
        ("lost to the layers", "gained")
    };
    let surfaces = [
        (true, Key::Surface(Paint::Value, ladder.metric.name().to_owned())),
        (has(Paint::Worse), Key::Surface(Paint::Worse, worse.to_owned())),
        (has(Paint::Better), Key::Surface(Paint::Better, better.to_owned())),
        (unclear, Key::Hatched("not significant".to_owned())),
        (rows.iter().any(|row| row.band.is_some()), Key::Band("noise floor".to_owned())),
        (rows.iter().any(|row| row.interval.is_some()), Key::Interval("median and interval".to_owned())),
        (rows.iter().any(|row| !row.points.is_empty()), Key::Dot("a trial".to_owned())),
    ];
    surfaces.into_iter().filter_map(|(is_there, key)| is_there.then_some(key)).collect()
}

fn data(findings: &Findings, ladder: &Ladder) -> Data {
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
        findings.noise.iter().find(|noise| noise.workload == ladder.workload).map(|noise| noise.floor);
    for step in &ladder.rungs {
        let Some(cell) = find(findings, step) else { continue };
        let cost = step.cost.as_ref();
        let interval = cost.and_then(|cost| cost.difference_interval);
        data.push(of_cell(cell).into_iter().chain([
            step.below.clone(),
            Some(step.adds.join(" ")),
            number(cost.map(|cost| cost.difference)),
            number(interval.map(|it| it.low)),
            number(interval.map(|it| it.high)),
            number(cost.map(|cost| cost.ratio)),
            cost.map(|cost| verdict(cost.verdict).to_owned()),
            number(floor),
            values(cell),
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
