//! Which run this is, on one line. Must not know its results.

use samples::RunState;

use super::Source;
use crate::{
    page::{Block, Depth, Section},
    phrases::moment,
    text::{Text, Tone, glued},
};

pub(super) fn build(source: &Source<'_>) -> Option<Section> {
    let run = &source.findings.run;
    let machine = run.environment.as_ref().map_or_else(
        || "machine unknown".to_owned(),
        |machine| format!("Linux {}, {} CPUs", machine.kernel, machine.cpus),
    );
    let trials = format!("{} of {} trials", run.made, run.planned);
    let facts = [run.id.0.clone(), moment(run.started), machine, format!("plumb {}", run.tool)]
        .map(|fact| glued(&fact));
    let line = Text::of(Tone::Faint, format!("{} · ", facts.join(" · ")));
    let line = match run.state {
        RunState::Complete => line.and(Tone::Faint, glued(&trials)),
        RunState::Unfinished => line.and(Tone::Doubtful, glued(&format!("unfinished: {trials}"))),
    };
    let about = run.about.trim();
    let about = (!about.is_empty()).then(|| Block::Paragraph(about.into()));
    let blocks = about.into_iter().chain([Block::Paragraph(line)]).collect();
    Some(Section { title: None, depth: Depth::Always, blocks })
}
