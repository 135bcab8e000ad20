//! Which two runs these are. Must not know what they differ in.

use findings::RunSummary;

use super::Source;
use crate::{
    page::{Block, Depth, Section},
    phrases,
    text::{Text, glued},
};

pub(super) fn build(source: &Source<'_>) -> Option<Section> {
    let contrast = source.contrast;
    let runs = [("A, the reference", &contrast.a), ("B", &contrast.b)];
    let runs = runs.map(|(which, run)| (which.to_owned(), line(run)));
    Some(Section { title: None, depth: Depth::Always, blocks: vec![Block::KeyValues(runs.to_vec())] })
}

fn line(run: &RunSummary) -> Text {
    let mut facts = vec![run.id.0.clone(), phrases::moment(run.started), phrases::machine(run)];
    facts.push(phrases::trials(run));
    let facts: Vec<String> = facts.iter().map(|fact| glued(fact)).collect();
    facts.join(" · ").into()
}
