//! A waterfall of the time a message spends in each layer.

use findings::{LatencyBreakdown, Leg, ResultSummary, StepKind, StepSummary};
use samples::HopEvent;
use units::Share;

use super::Source;
use crate::{page::*, phrases, pictures::latency_breakdown, quantity::with_minus};

const OPEN: usize = 1;
const WIDE: f64 = 18.0;

pub(super) fn build(source: &Source<'_>) -> Option<Section> {
    let findings = source.findings;
    let latency_breakdown = |result| Some((result, ResultSummary::latency_breakdown(result)?));
    let mut ways: Vec<(&ResultSummary, &LatencyBreakdown)> =
        findings.results.iter().filter_map(latency_breakdown).collect();
    ways.sort_by_key(|(_, latency_breakdown)| std::cmp::Reverse(latency_breakdown.steps.len()));
    let (open, folded) = ways.split_at(OPEN.min(ways.len()));
    let mut blocks: Vec<Block> =
        open.iter().flat_map(|(result, latency_breakdown)| waterfall(result, latency_breakdown)).collect();
    if !folded.is_empty() {
        let phrase = format!("The longest of {} paths.", ways.len());
        blocks.push(Block::Paragraph(Text::faint(phrase)));
        let more = folded
            .iter()
            .flat_map(|(result, latency_breakdown)| waterfall(result, latency_breakdown))
            .collect();
        let title = phrases::count(folded.len(), "more path");
        blocks.push(Block::Folded { title: title.into(), blocks: more });
    }
    section_of("Latency breakdown", blocks)
}

fn waterfall(result: &ResultSummary, latency_breakdown: &LatencyBreakdown) -> Vec<Block> {
    let columns =
        vec![left("Step"), left("Up to"), right("50 %"), right("99 %"), right("Share"), left("Round trip")];
    // Extend the scale if the steps add up to more than the round trip.
    let whole = latency_breakdown.steps.last().map_or(1.0, |step| (step.start + step.share).max(1.0));
    let table = Table {
        columns,
        rows: latency_breakdown.steps.iter().map(|step| row(step, whole)).collect(),
        caption: None,
    };
    let heading = Text::strong(&result.label);
    let chart =
        latency_breakdown::chart(result, latency_breakdown).map(|chart| Block::Chart(Box::new(chart)));
    let notes = [
        Block::Table(table),
        Block::Paragraph(sums(latency_breakdown)),
        Block::Paragraph(Text::faint(followed(latency_breakdown))),
    ];
    [Block::Heading(heading)].into_iter().chain(chart).chain(notes).collect()
}

fn row(step: &StepSummary, whole: f64) -> Vec<Text> {
    let tone = match step.kind {
        StepKind::Program => Tone::Faint,
        _ => Tone::Plain,
    };
    let place = match &step.to.device {
        Some(device) => device.as_str().into(),
        None => Text::faint(in_words(step.to.event)),
    };
    vec![
        Text::faint(arrow(step.leg)).and(tone, format!(" {}", step.label)),
        place,
        glued(&step.p50.to_string()).into(),
        glued(&step.p99.to_string()).into(),
        glued(&Share(step.share).to_string()).into(),
        bar(step, whole),
    ]
}

const fn in_words(event: HopEvent) -> &'static str {
    match event {
        HopEvent::ClientSends => "the client sends",
        HopEvent::ServerReceives => "the server receives",
        HopEvent::ServerSends => "the server sends",
        HopEvent::ClientReceives => "the client receives",
        HopEvent::Queued | HopEvent::Transmitted | HopEvent::Received => "?",
    }
}

const fn arrow(leg: Leg) -> &'static str {
    match leg {
        Leg::There => "→",
        Leg::Server => "•",
        Leg::Back => "←",
    }
}

fn bar(step: &StepSummary, whole: f64) -> Text {
    let columns = |share: f64| (share / whole * WIDE).clamp(0.0, WIDE);
    let begin = columns(step.start).floor() as usize;
    let drawn = match columns(step.share).round() as usize {
        // The step is shorter than a character.
        0 => "▏".to_owned(),
        wide => "█".repeat(wide),
    };
    let begin = begin.min((WIDE as usize).saturating_sub(drawn.chars().count()));
    let after = (WIDE as usize).saturating_sub(begin + drawn.chars().count());
    Text::code(format!("{}{drawn}{}", "·".repeat(begin), "·".repeat(after)))
}

fn sums(latency_breakdown: &LatencyBreakdown) -> Text {
    let phrase = |what: &str, time: units::Nanos| format!("{what} {}", glued(&time.to_string()));
    let engine = match latency_breakdown.engine {
        Some(engine) => phrase("; median round trip measured by the engine", engine),
        None => "; the engine measured no round trip".to_owned(),
    };
    Text::strong(phrase("Sum of median steps", latency_breakdown.sum)).and_plain(format!(
        "{engine}; unexplained {}, median within single trials {}.",
        rest(latency_breakdown.unexplained),
        rest(latency_breakdown.unexplained_in_trial)
    ))
}

fn rest(share: f64) -> String {
    glued(&with_minus(&Share(share).to_string()))
}

fn followed(latency_breakdown: &LatencyBreakdown) -> String {
    let whole = latency_breakdown.round_trip.at(0.5).map_or_else(String::new, |time| {
        format!(" The median from the client's send to its receive was {}.", glued(&time.to_string()))
    });
    let every = if latency_breakdown.every > 1 {
        format!(", one message in {}", latency_breakdown.every)
    } else {
        String::new()
    };
    let not_followed = match latency_breakdown.not_followed {
        0 => String::new(),
        not_followed => {
            format!(" {} took another path or could not be followed.", phrases::grouped(not_followed))
        }
    };
    format!(
        "{} followed{every}.{whole}{not_followed} Medians do not add up exactly, especially if trials differ, so a small \
         unexplained part means nothing.",
        phrases::count_of(latency_breakdown.followed, "round trip was", "round trips were")
    )
}
