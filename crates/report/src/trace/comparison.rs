//! Compares two traces: their environments, system calls and CPU time.

use findings::{CallComparison, ConsumerComparison, TraceComparison, TracedCall};
use samples::TargetKind;
use units::{Nanos, significant};

use super::{head, words};
use crate::{
    page::{Page, *},
    phrases,
};

const ALIKE: f64 = 1.1;
const MOST: f64 = 1000.0;

pub(super) fn page(comparison: &TraceComparison, top: usize) -> Page {
    let title = "Trace B vs trace A".to_owned();
    let sections = [
        head(comparison),
        Some(environment_changes(comparison)),
        calls(comparison, top),
        consumers(comparison),
    ];
    Page { title, sections: sections.into_iter().flatten().collect() }
}

fn head(comparison: &TraceComparison) -> Option<Section> {
    let side = |name: &str, trace: &findings::TraceSummary| {
        let phrase = format!("{}; {}", words::target(&trace.target), words::length(trace));
        (name.to_owned(), Text::from(phrase))
    };
    let mut blocks = vec![Block::KeyValues(vec![side("A", &comparison.a), side("B", &comparison.b)])];
    let limitation = "There is only one trace of each, so the variation between traces is unknown and no difference is \
         significant.";
    blocks.push(Block::Paragraph(Text::doubtful(limitation)));
    blocks.extend([&comparison.a, &comparison.b].into_iter().flat_map(head::missing));
    Some(Section { title: None, depth: Depth::Always, blocks })
}

fn environment_changes(comparison: &TraceComparison) -> Section {
    if comparison.environment_changes.is_empty() {
        let same = "No recorded difference in the machine.";
        return section("Environment", vec![Block::Paragraph(same.into())]);
    }
    let row = |change: &findings::EnvironmentChange| {
        let what = Text::strong(&change.property);
        let what = if change.important { what.and_doubtful("\u{a0}!") } else { what };
        vec![what, change.a.as_str().into(), change.b.as_str().into()]
    };
    let rows = comparison.environment_changes.iter().map(row).collect();
    let columns = ["Differs", "In A", "In B"].map(left).to_vec();
    let caption = Some(Text::faint("! may explain a difference in the results on its own"));
    section("Environment", vec![Block::Table(Table { columns, rows, caption })])
}

fn calls(comparison: &TraceComparison, top: usize) -> Option<Section> {
    if comparison.calls.is_empty() {
        return None;
    }
    let numbers =
        ["Calls/s\u{a0}A", "B", "B/A", "Per\u{a0}call\u{a0}A", "B", "B/A", "Running/s\u{a0}A", "B", "B/A"]
            .map(right);
    let columns = [left("Call")].into_iter().chain(numbers).collect();
    let lengths = (comparison.a.elapsed, comparison.b.elapsed);
    let rows = comparison.calls.iter().take(top).map(|call| call_row(call, lengths)).collect();
    let caption = "Calls per second, mean time per call, and CPU time per second of the trace.";
    let mut blocks = vec![Block::Table(Table { columns, rows, caption: Some(Text::faint(caption)) })];
    let more = comparison.calls.len().saturating_sub(top);
    if more > 0 {
        let phrase = format!("and {}", phrases::count(more, "more call"));
        blocks.push(Block::Paragraph(Text::faint(phrase)));
    }
    Some(section("System calls", blocks))
}

fn call_row(call: &CallComparison, (in_a, in_b): (Nanos, Nanos)) -> Vec<Text> {
    let rate = |side: Option<&TracedCall>| known(side.map(|it| words::per_second(it.rate)));
    let per_call =
        |side: Option<&TracedCall>| known(side.and_then(|it| it.per_call).map(|time| time.to_string()));
    let running = |side: Option<&TracedCall>, length: Nanos| {
        let time = side.and_then(|it| it.count.running);
        known(time.map(|time| Nanos((time.0 as f64 / length.seconds().max(1e-9)) as u64).to_string()))
    };
    let (a, b) = (call.a.as_ref(), call.b.as_ref());
    vec![
        Text::strong(&call.call),
        rate(a),
        rate(b),
        ratio(call.rate_ratio),
        per_call(a),
        per_call(b),
        ratio(call.per_call_ratio),
        running(a, in_a),
        running(b, in_b),
        ratio(call.running_ratio),
    ]
}

fn consumers(comparison: &TraceComparison) -> Option<Section> {
    if comparison.consumers.is_empty() {
        return None;
    }
    // Use target-specific terms only if both targets are of the same kind.
    let kind = Some(comparison.a.target.kind).filter(|kind| *kind == comparison.b.target.kind);
    let kind = kind.unwrap_or(TargetKind::Processes);
    let cpus = |cpus: f64| Text::from(format!("{cpus:.3}"));
    let row = |it: &ConsumerComparison| {
        vec![Text::strong(words::consumer(it.consumer, kind)), cpus(it.a), cpus(it.b), ratio(it.ratio)]
    };
    let columns = vec![left("Owner"), right("CPUs in A"), right("in B"), right("B/A")];
    let rows = comparison.consumers.iter().map(row).collect();
    Some(section("CPU time", vec![Block::Table(Table { columns, rows, caption: None })]))
}

fn known(phrase: Option<String>) -> Text {
    phrase.map_or_else(|| Text::faint("-"), |phrase| glued(&phrase).into())
}

fn ratio(ratio: Option<f64>) -> Text {
    let Some(ratio) = ratio else { return Text::faint("-") };
    let tone = if (1.0 / ALIKE..=ALIKE).contains(&ratio) { Tone::Faint } else { Tone::Strong };
    let phrase = match ratio {
        ratio if ratio > MOST => format!("> {MOST}x"),
        ratio if ratio < 1.0 / MOST => format!("< {}x", 1.0 / MOST),
        ratio => format!("{}x", significant(ratio, 3)),
    };
    Text::of(tone, glued(&phrase))
}
