//! Lasting level shifts within a trial. They make the trial's average misleading.

use findings::{ResultShift, ResultSummary};

use super::Source;
use crate::{page::*, phrases};

const OPEN: usize = 8;

pub(super) fn build(source: &Source<'_>) -> Option<Section> {
    let findings = source.findings;
    let shifts =
        findings.results.iter().flat_map(|result| result.shifts.iter().map(move |shift| (result, shift)));
    let rows: Vec<Vec<Text>> = shifts.map(|(result, shift)| row(result, shift)).collect();
    if rows.is_empty() {
        return None;
    }
    let (open, folded) = rows.split_at(OPEN.min(rows.len()));
    let caption = (!folded.is_empty())
        .then(|| Text::faint(format!("The first {OPEN} of {} level shifts.", rows.len())));
    let mut blocks = vec![Block::Table(Table { caption, ..table(open) })];
    if !folded.is_empty() {
        let more = phrases::count(folded.len(), "more level shift");
        blocks.push(Block::Folded { title: more.into(), blocks: vec![Block::Table(table(folded))] });
    }
    Some(section("Level shifts within trials", blocks))
}

fn table(rows: &[Vec<Text>]) -> Table {
    let columns = [left("Result"), right("Trial"), right("After"), right("From"), right("To")];
    Table { columns: columns.to_vec(), rows: rows.to_vec(), caption: None }
}

fn row(result: &ResultSummary, shift: &ResultShift) -> Vec<Text> {
    let value = |value| phrases::value(result.metric, value).into();
    vec![
        Text::strong(&result.label),
        shift.trial.saturating_add(1).to_string().into(),
        shift.shift.at.to_string().into(),
        value(shift.shift.before),
        value(shift.shift.after),
    ]
}
