//! The cost ladder: a bar for each path, and what the layers that it adds take.
//! Must not know how nested paths were found.

use findings::{Comparison, CostStep, Findings, Ladder};
use samples::{Arm, Trial};

use super::Source;
use crate::{
    labels,
    page::{Bar, Bars, Block, Section, section},
    phrases::{self, Confidence},
    text::{Text, Tone},
};

pub(super) fn build(source: &Source<'_>) -> Option<Section> {
    let findings = source.findings;
    let mut shown: Vec<&str> = Vec::new();
    let (mut blocks, mut others) = (Vec::new(), Vec::new());
    for ladder in &findings.ladders {
        let drawn = [Block::Heading(heading(ladder)), bars(source, ladder)];
        if shown.contains(&ladder.workload.as_str()) {
            others.extend(drawn);
        } else {
            shown.push(&ladder.workload);
            blocks.extend(drawn);
        }
    }
    if !others.is_empty() {
        blocks.push(Block::Folded { title: "At other settings".into(), blocks: others });
    }
    (!blocks.is_empty()).then(|| section("What each layer costs", blocks))
}

fn heading(ladder: &Ladder) -> Text {
    let measured = phrases::measured_in(Some(ladder.metric));
    let settings = labels::levels(&ladder.levels).map(|levels| format!(", {levels}")).unwrap_or_default();
    Text::of(Tone::Strong, format!("{}{settings}", ladder.workload))
        .and(Tone::Faint, format!(" ({measured})"))
}

fn bars(source: &Source<'_>, ladder: &Ladder) -> Block {
    Block::Bars(Bars { rows: ladder.rungs.iter().map(|rung| bar(source, ladder, rung)).collect() })
}

fn bar(source: &Source<'_>, ladder: &Ladder, rung: &CostStep) -> Bar {
    let findings = source.findings;
    let of_cell = |trial: &&Trial| trial.cell == rung.cell && trial.arm != Arm::Probed;
    let trials = source.record.into_iter().flat_map(|record| &record.trials).filter(of_cell);
    let cell = findings.cells.iter().find(|cell| cell.id == rung.cell);
    let text = cell.map_or_else(
        || phrases::value(ladder.metric, rung.value),
        |cell| phrases::estimate(ladder.metric, &cell.value),
    );
    Bar {
        label: rung.path.as_str().into(),
        value: rung.value,
        range: cell.and_then(|cell| cell.value.interval).map(|interval| (interval.low, interval.high)),
        points: trials.filter_map(|trial| trial.measurement.value(ladder.metric)).collect(),
        text: text.into(),
        note: rung.cost.as_ref().map(|cost| note(findings, ladder, rung, cost)),
    }
}

/// `+ vxlan: −6.90 Gbit/s (…), 79.1 % of wire (…)`.
fn note(findings: &Findings, ladder: &Ladder, rung: &CostStep, cost: &Comparison) -> Text {
    let tone = phrases::tone(ladder.metric, cost);
    let lead = Text::from(format!("+ {}: ", rung.adds.join(", ")));
    let below = rung.below.as_deref().unwrap_or("the path below");
    let number = Text::of(tone, phrases::difference(ladder.metric, cost, Confidence::Inline))
        .and(Tone::Plain, format!(", {} of {below}", phrases::share(cost, Confidence::InHead)));
    lead.then(phrases::judged(findings, &ladder.workload, cost, number))
}
