//! Identifies the run on one line.

use samples::RunState;

use super::Source;
use crate::{
    page::*,
    phrases::{self, moment},
};

pub(super) fn build(source: &Source<'_>) -> Option<Section> {
    let run = &source.findings.run;
    let facts = [run.id.0.clone(), moment(run.started), phrases::machine(run), format!("plumb {}", run.tool)]
        .map(|fact| glued(&fact));
    let tone = if run.state == RunState::Unfinished { Tone::Doubtful } else { Tone::Faint };
    let line = Text::faint(format!("{} · ", facts.join(" · ")));
    let line = line.and(tone, glued(&phrases::trials(run)));
    let about = run.about.trim();
    let about = (!about.is_empty()).then(|| Block::Paragraph(about.into()));
    let blocks = about.into_iter().chain([Block::Paragraph(line)]).collect();
    Some(Section { title: None, depth: Depth::Always, blocks })
}
