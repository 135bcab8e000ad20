//! Comparisons as a table for people. Computes no number.

use comfy_table::{CellAlignment, Table, presets};

use crate::{
    comparison::{Comparison, Spread},
    environment::Environment,
};

const HEADER: [&str; 8] =
    ["BENCH", "UNIT", "PLUMB (RANGE)", "PEER", "PEER (RANGE)", "PLUMB/PEER (INTERVAL)", "TARGET", ""];

/// The table, and below it what a reader must know.
pub(crate) fn text(environment: &Environment, comparisons: &[Comparison]) -> String {
    let mut table = Table::new();
    table.load_style(presets::NOTHING);
    table.set_header(HEADER);
    for comparison in comparisons {
        table.add_row(row(comparison));
    }
    for number in [2, 4] {
        if let Some(column) = table.column_mut(number) {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
    let mut lines = vec![table.trim_fmt(), String::new()];
    lines.extend(subjects(comparisons));
    lines.extend(comparisons.iter().filter_map(failure));
    lines.extend(confidence(comparisons));
    lines.push(machine(environment));
    lines.join("\n")
}

fn row(comparison: &Comparison) -> [String; 8] {
    [
        comparison.name.into(),
        comparison.unit.into(),
        spread(comparison.our_spread()),
        comparison.peer.into(),
        spread(comparison.peer_spread()),
        ratio(comparison),
        comparison.target.to_string(),
        comparison.verdict().word().into(),
    ]
}

fn spread(spread: Option<Spread>) -> String {
    let show = |Spread { median, least, most }| format!("{median:.1} ({least:.1} to {most:.1})");
    spread.map_or_else(|| "-".into(), show)
}

fn ratio(comparison: &Comparison) -> String {
    let Some(ratio) = comparison.ratio else { return "-".into() };
    let interval =
        ratio.interval.map_or_else(String::new, |it| format!(" ({:.3} to {:.3})", it.low, it.high));
    format!("{:.3}{interval}", ratio.value)
}

/// What each bench did, once.
fn subjects(comparisons: &[Comparison]) -> Vec<String> {
    let mut lines: Vec<String> = comparisons.iter().map(|it| format!("{}: {}.", it.name, it.what)).collect();
    lines.sort();
    lines.dedup();
    lines
}

fn failure(comparison: &Comparison) -> Option<String> {
    let reason = comparison.failure.as_ref()?;
    Some(format!(
        "{}: {} came no further than {} rounds: {reason}.",
        comparison.name,
        comparison.peer,
        comparison.pairs.len()
    ))
}

fn confidence(comparisons: &[Comparison]) -> Option<String> {
    let known = comparisons.iter().filter_map(|it| Some((it.pairs.len(), it.ratio?.interval?.confidence)));
    let (pairs, confidence) = known.min_by(|one, other| one.1.total_cmp(&other.1))?;
    Some(format!(
        "Medians with the smallest and largest value; ratios of pairs ({pairs} or more) with intervals of at least {:.1} %.",
        confidence * 100.0
    ))
}

fn machine(environment: &Environment) -> String {
    let load = environment.load.map_or_else(|| "unknown".into(), |load| format!("{load:.2}"));
    let busy =
        if environment.was_busy() { "; it was busy with something else, so repeat this at rest" } else { "" };
    format!(
        "Linux {}, {} CPUs, load average {load} at the start{busy}.",
        environment.kernel, environment.cpus
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{comparison::Target, rounds::Taken};

    fn taken(name: &'static str, values: &[f64], failure: Option<&str>) -> Taken {
        Taken {
            name,
            values: values.iter().map(|value| vec![*value]).collect(),
            failure: failure.map(str::to_owned),
        }
    }

    #[test]
    fn a_row_shows_both_sides_the_ratio_the_target_and_the_verdict() {
        let ours = taken("plumb", &[10.0, 20.0, 30.0, 20.0, 20.0, 20.0], None);
        let able = taken("able", &[100.0, 200.0, 300.0, 200.0, 200.0, 200.0], None);
        let absent = taken("absent", &[], Some("it is not installed"));
        let labels = ("frob", "frobs a thousand times", "ms");
        let of = |peer| Comparison::new(labels, (&ours, peer), 0, Target::at_most(0.2));
        let environment = Environment { kernel: "6.1".into(), cpus: 4, load: Some(1.5) };
        let text = text(&environment, &[of(&able), of(&absent)]);
        let line = |word: &str| text.lines().find(|line| line.contains(word)).unwrap_or_default().to_owned();
        let words =
            ["20.0 (10.0 to 30.0)", "200.0 (100.0 to 300.0)", "0.100 (0.100 to 0.100)", "<= 0.200", "met"];
        for word in words {
            assert!(line(" able").contains(word), "{word} in\n{text}");
        }
        assert!(line(" absent ").contains("not measured"), "{text}");
        assert!(text.contains("0 rounds: it is not installed"), "{text}");
        assert!(text.contains("busy"), "{text}");
    }
}
