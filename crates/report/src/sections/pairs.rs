//! A matrix of host pairs with one row per sender and one column per receiver.

use std::collections::BTreeSet;

use findings::{Contamination, Difference, HostPair, PairMatrix};

use super::Source;
use crate::{labels, page::*, phrases, quantity::Scale};

const COLUMNS: usize = 8;
const MISSING: &str = "?";

pub(super) fn build(source: &Source<'_>) -> Option<Section> {
    let blocks: Vec<Block> = source.findings.matrices.iter().flat_map(matrix).collect();
    section_of("Pairs", blocks)
}

fn matrix(matrix: &PairMatrix) -> Vec<Block> {
    let largest = matrix.pairs.iter().map(|pair| pair.value).fold(0.0, f64::max);
    let scale = Scale::of(matrix.metric, largest);
    let settings = labels::levels(&matrix.levels).map(|levels| format!(", {levels}")).unwrap_or_default();
    let measured = phrases::measured_in(Some(matrix.metric));
    let heading = Text::strong(format!("{}{settings}", matrix.workload))
        .and_faint(format!(" ({measured}, {}, medians)", scale.unit));
    let mut blocks = vec![Block::Heading(heading)];
    let mut tables: Vec<Table> =
        matrix.hosts.chunks(COLUMNS).map(|columns| table(matrix, columns, scale)).collect();
    if let Some(last) = tables.last_mut() {
        let missing = is_partial(matrix).then(|| format!("{MISSING}: not measured."));
        let notes: Vec<String> =
            missing.into_iter().chain(matrix.contamination.as_ref().map(contamination)).collect();
        last.caption = (!notes.is_empty()).then(|| Text::from(notes.join(" ")));
    }
    blocks.extend(tables.into_iter().map(Block::Table));
    blocks
}

fn is_partial(matrix: &PairMatrix) -> bool {
    let measured: BTreeSet<_> = matrix.pairs.iter().map(|pair| (&pair.from, &pair.to)).collect();
    measured.len() < matrix.hosts.len() * (matrix.hosts.len() - 1)
}

fn contamination(it: &Contamination) -> String {
    let judged = match it.change.verdict {
        Difference::Lower | Difference::Higher => "",
        Difference::None | Difference::Unclear => ", not significant",
    };
    let (at_once, change, trials) = (it.at_once, it.change, it.trials);
    format!(
        "Up to {at_once} pairs at the same time: {change} compared with the same pairs alone{judged} ({trials} \
         pairs of trials)."
    )
}

fn table(matrix: &PairMatrix, to: &[String], scale: Scale) -> Table {
    let columns = [left("From \\ to")].into_iter().chain(to.iter().map(right)).collect();
    let value = |from: &String, to: &String| {
        let is_it = |pair: &&HostPair| pair.from == *from && pair.to == *to;
        let found = matrix.pairs.iter().find(is_it);
        found.map_or_else(
            || Text::faint(if from == to { "-" } else { MISSING }),
            |pair| Text::from(scale.near(pair.value).number(pair.value)),
        )
    };
    let row = |from: &String| {
        let name = Text::strong(from);
        [name].into_iter().chain(to.iter().map(|to| value(from, to))).collect()
    };
    Table { columns, rows: matrix.hosts.iter().map(row).collect(), caption: None }
}
