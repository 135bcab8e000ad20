//! Recommendations from a sweep: the best setting, settings that save CPU time, and the knees.

mod frontier;
mod knees;

use findings::{Answer, Objective, Recommendation};
use units::significant;

use super::Source;
use crate::{labels, page::*, phrases, pictures::heat_map};

pub(super) fn build(source: &Source<'_>) -> Option<Section> {
    let answers = &source.findings.answers;
    let blocks: Vec<Block> = answers.iter().flat_map(|answer| one(source, answer)).collect();
    section_of("Recommended settings", blocks)
}

fn one(source: &Source<'_>, answer: &Answer) -> Vec<Block> {
    let objective = source.objective;
    let of = labels::swept(&answer.workload, &answer.path);
    let measured = format!(" ({})", phrases::measured_in(Some(answer.metric)));
    let mut blocks = vec![Block::Heading(Text::strong(of).and_faint(measured))];
    let (chosen, others): (Vec<_>, Vec<_>) =
        answer.recommendations.iter().partition(|recommendation| recommendation.objective == objective);
    for recommendation in chosen {
        blocks.push(Block::Paragraph(recommended(answer, recommendation, Tone::Good)));
        blocks.extend(reasons(source, recommendation));
    }
    let others: Vec<Text> = others.into_iter().map(|other| recommended(answer, other, Tone::Faint)).collect();
    blocks.extend((!others.is_empty()).then_some(Block::List(others)));
    blocks.extend(answer.knees.iter().flat_map(|knee| knees::blocks(source, answer, knee)));
    blocks.extend(heat_map::chart(source, answer).map(|chart| Block::Chart(Box::new(chart))));
    blocks.extend(frontier::blocks(source, answer));
    blocks
}

fn recommended(answer: &Answer, recommendation: &Recommendation, tone: Tone) -> Text {
    let levels = labels::levels(&recommendation.levels).unwrap_or_else(|| recommendation.result.clone());
    let value = phrases::value(answer.metric, recommendation.value);
    let unit = frontier::unit(answer);
    let cpu = recommendation
        .cpu
        .map_or_else(String::new, |cpu| format!(" for {}", glued(&frontier::cpu_time(cpu, unit))));
    let line = match &recommendation.withheld {
        Some(_) => Text::doubtful(format!("{}: none yet. ", name(recommendation.objective)))
            .and_plain("Best so far: "),
        None => Text::of(tone, format!("{}: ", name(recommendation.objective))),
    };
    line.and_strong(levels).and_plain(format!(", {value}{cpu}"))
}

fn reasons(source: &Source<'_>, recommendation: &Recommendation) -> Option<Block> {
    let but = recommendation.withheld.iter().map(|reason| Text::doubtful(format!("Withheld: {reason}")));
    let mut items: Vec<Text> =
        but.chain(recommendation.reason.iter().map(|reason| reason.as_str().into())).collect();
    let mut tied =
        recommendation.ties.iter().filter_map(|id| Some(source.findings.result(id)?.label.as_str()));
    let ties = tied.join("; ");
    items.extend((!ties.is_empty()).then(|| format!("Statistically tied: {ties}.").into()));
    (!items.is_empty()).then_some(Block::List(items))
}

const fn name(objective: Objective) -> &'static str {
    match objective {
        Objective::Max => "Best value",
        Objective::Efficient => "Most efficient (efficient)",
        Objective::LowCpu => "Lowest CPU time (low-cpu)",
    }
}

fn cpus(cpus: f64) -> String {
    significant(cpus, 3)
}
