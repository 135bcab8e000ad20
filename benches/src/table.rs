//! Formats comparisons as a table: two contenders at a time, with their values below.

use comfy_table::{CellAlignment, Table, presets};
use units::significant;

use crate::{
    comparison::{Comparison, ExtraValue, Spread},
    environment::Environment,
};

const HEADER: [&str; 6] = ["", "PLUMB (RANGE)", "PEER (RANGE)", "PLUMB/PEER (INTERVAL)", "TARGET", ""];

pub(crate) fn text(environment: &Environment, comparisons: &[Comparison]) -> String {
    let mut table = Table::new();
    table.load_style(presets::NOTHING);
    table.set_header(HEADER);
    for comparison in comparisons {
        table.add_row(row(comparison));
    }
    for number in [1, 2] {
        if let Some(column) = table.column_mut(number) {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
    let text = table.trim_fmt();
    let mut rows = text.lines();
    let mut lines: Vec<String> = rows.next().map(str::to_owned).into_iter().collect();
    let (mut before, mut warnings): (Option<&Comparison>, Vec<String>) = (None, Vec::new());
    for (comparison, row) in comparisons.iter().zip(rows) {
        if !before.is_some_and(|before| before.is_of_the_same_two(comparison)) {
            lines.append(&mut warnings);
            lines.extend(heading(comparison, before));
        }
        lines.push(row.to_owned());
        warnings.extend(comparison.unsteady().map(|(name, spread)| warning(comparison.unit, name, spread)));
        before = Some(comparison);
    }
    lines.append(&mut warnings);
    lines.push(String::new());
    lines.extend(confidence(comparisons));
    lines.push(machine(environment));
    lines.join("\n")
}

fn heading(comparison: &Comparison, before: Option<&Comparison>) -> Vec<String> {
    let mut lines = Vec::new();
    if before.is_none_or(|before| before.name != comparison.name) {
        lines.extend([String::new(), format!("{}: {}", comparison.name, comparison.what)]);
    }
    let mut notes: Vec<String> = comparison.extra.iter().map(extra).collect();
    notes.push(comparison.others.to_string());
    lines.push(format!("{} | {} ({})", comparison.ours, comparison.peer, notes.join("; ")));
    let failed = |who: &str, reason: &Option<String>| {
        let rounds = comparison.pairs.len();
        reason.as_ref().map(|reason| format!("  {who} stopped after {rounds} rounds: {reason}"))
    };
    lines.extend(failed(comparison.ours, &comparison.our_failure));
    lines.extend(failed(comparison.peer, &comparison.failure));
    lines
}

fn extra(it: &ExtraValue) -> String {
    let show = |value: Option<f64>| value.map_or_else(|| "-".into(), |value| significant(value, 3));
    format!("{} {} | {}", it.what, show(it.ours), show(it.peer))
}

fn warning(unit: &str, name: &str, spread: Spread) -> String {
    let [least, most, times] = [spread.least, spread.most, spread.width()].map(|value| significant(value, 3));
    format!(
        "  warning: {unit} of {name} ranges from {least} to {most} ({times}x): bimodal or unsteady, so the \
                 median is not meaningful"
    )
}

fn row(comparison: &Comparison) -> [String; 6] {
    [
        format!("  {}", comparison.unit),
        spread(comparison.our_spread()),
        spread(comparison.peer_spread()),
        ratio(comparison),
        comparison.target.to_string(),
        comparison.verdict().word().into(),
    ]
}

fn spread(spread: Option<Spread>) -> String {
    let show = |Spread { median, least, most }| {
        let [median, least, most] = [median, least, most].map(|value| significant(value, 3));
        format!("{median} ({least} to {most})")
    };
    spread.map_or_else(|| "-".into(), show)
}

fn ratio(comparison: &Comparison) -> String {
    let Some(ratio) = comparison.ratio else { return "-".into() };
    let interval =
        ratio.interval.map_or_else(String::new, |it| format!(" ({:.3} to {:.3})", it.low, it.high));
    format!("{:.3}{interval}", ratio.value)
}

fn confidence(comparisons: &[Comparison]) -> Option<String> {
    let known = comparisons.iter().filter_map(|it| Some((it.pairs.len(), it.ratio?.interval?.confidence)));
    let (pairs, confidence) = known.min_by(|one, other| one.1.total_cmp(&other.1))?;
    Some(format!(
        "Medians, with the smallest and largest values; ratios from at least {pairs} pairs, with confidence intervals of at least {:.1} %.",
        confidence * 100.0
    ))
}

fn machine(environment: &Environment) -> String {
    let load = environment.load.map_or_else(|| "unknown".into(), |load| format!("{load:.2}"));
    let busy =
        if environment.was_busy() { "; the machine was busy: repeat this when it is idle" } else { "" };
    let versions: Vec<&str> = environment.peers.iter().map(String::as_str).collect();
    format!(
        "Linux {}, {} CPUs, congestion control {} by default, load average {load} at the start{busy}.\n{}.",
        environment.kernel,
        environment.cpus,
        environment.congestion.as_deref().unwrap_or("unknown"),
        versions.join(", ")
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        comparison::{Pairing, Subject, compare},
        rounds::{Measured, Taken},
        target::Target,
    };

    fn taken(name: &'static str, values: &[f64], failure: Option<&str>) -> Taken {
        let round = |value: &f64| Measured { values: vec![*value], extra: vec![("retransmits", 7.0)] };
        let rounds = values.iter().map(round).collect();
        Taken { name, rounds, failure: failure.map(str::to_owned), ..Taken::default() }
    }

    #[test]
    fn row_has_values_ratio_target_and_verdict() {
        const TARGETS: &[Target] = &[Target::at_most(0.2)];
        let all = [
            taken("plumb", &[10.0, 20.0, 30.0, 20.0, 20.0, 20.0], None),
            taken("able", &[100.0, 200.0, 300.0, 200.0, 200.0, 200.0], None),
            taken("absent", &[], Some("it is not installed")),
        ];
        let subject = Subject { name: "frob", what: "frobs a thousand times", units: &["ms"] };
        let against = |peer| Pairing { ours: "plumb", peer, targets: TARGETS };
        let comparisons = compare(&subject, &[against("able"), against("absent")], &all);
        let environment = Environment {
            kernel: "6.1".into(),
            cpus: 4,
            load: Some(1.5),
            congestion: Some("reno".into()),
            peers: vec!["frobnicator 3".into()],
        };
        let text = text(&environment, &comparisons);
        let line = |word: &str| text.lines().find(|line| line.contains(word)).unwrap_or_default().to_owned();
        let words = ["20.0 (10.0 to 30.0)", "200 (100 to 300)", "0.100 (0.100 to 0.100)", "<= 0.200", "met"];
        for word in words {
            assert!(line(" ms ").contains(word), "{word} in\n{text}");
        }
        assert!(line("| able").contains("retransmits 7.00 | 7.00; quiet"), "{text}");
        assert!(text.contains("not measured"), "{text}");
        let warnings: Vec<&str> = text.lines().filter(|line| line.contains("warning: ms of")).collect();
        assert!(warnings.len() == 2 && warnings[1].contains("able ranges from 100 to 300 (3.00x"), "{text}");
        assert!(text.contains("0 rounds: it is not installed"), "{text}");
        for word in ["busy", "frobnicator 3", "reno"] {
            assert!(text.contains(word), "{word} in\n{text}");
        }
    }
}
