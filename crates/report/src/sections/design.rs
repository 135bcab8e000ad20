//! How an adaptive run chose its trials.

use findings::{Objective, ResultSummary, RunSummary};
use samples::{EndReason, ResultEnd};
use units::Share;

use super::Source;
use crate::{page::*, phrases};

pub(super) fn build(source: &Source<'_>) -> Option<Section> {
    let findings = source.findings;
    let ended: Vec<(&ResultSummary, &ResultEnd)> =
        findings.results.iter().filter_map(|result| Some((result, result.ended.as_ref()?))).collect();
    if !findings.run.design.is_adaptive() && ended.iter().all(|(_, end)| end.reason == EndReason::Planned) {
        return None;
    }
    let hurried = ended.iter().any(|(_, end)| matches!(end.reason, EndReason::Budget { .. }));
    let mut blocks = vec![Block::Paragraph(saved(&findings.run, hurried))];
    let reasons: Vec<Text> = REASONS.iter().filter_map(|reason| reason.phrase(&ended)).collect();
    blocks.extend((!reasons.is_empty()).then_some(Block::List(reasons)));
    if !ended.is_empty() {
        let table = Block::Table(table(&ended));
        blocks.push(Block::Folded { title: "All results".into(), blocks: vec![table] });
    }
    Some(section("How trials were chosen", blocks))
}

fn saved(run: &RunSummary, hurried: bool) -> Text {
    let rest = u64::from(run.planned.saturating_sub(run.completed));
    let completed = format!(
        "{} of {} in the full grid were run, {rest} were {}.",
        phrases::count(run.completed, "trial"),
        run.planned,
        if hurried { "saved or did not fit the time budget" } else { "saved" }
    );
    let budget = run.design.budget.map(|budget| format!("{budget} for all trials"));
    let precision = run.design.precision.map(|share| format!("values to within {}", Share(share)));
    let sought = match run.design.objective {
        _ if run.design.until_clear => "blocks until every comparison is decided",
        Objective::Max => "the setting with the best value",
        Objective::Efficient => "the most CPU-efficient setting",
        Objective::LowCpu => "the setting with the lowest CPU time",
    };
    let asked: Vec<String> = budget.into_iter().chain(precision).chain([sought.to_owned()]).collect();
    Text::strong(completed).and_plain(format!(" Requested: {}.", asked.join(", ")))
}

struct Reason {
    is: fn(&EndReason) -> bool,
    phrase: &'static str,
}

const REASONS: &[Reason] = &[
    Reason {
        is: |reason| matches!(reason, EndReason::Precise { .. }),
        phrase: "the requested precision was reached",
    },
    Reason {
        is: |reason| matches!(reason, EndReason::Settled),
        phrase: "no longer a candidate for the best setting or the knee, so the time went to other settings",
    },
    Reason {
        is: |reason| matches!(reason, EndReason::Clear),
        phrase: "every comparison is decided: significant or within the noise",
    },
    Reason { is: |reason| matches!(reason, EndReason::Budget { .. }), phrase: "the time budget was used up" },
    Reason {
        is: |reason| matches!(reason, EndReason::Unusable { .. }),
        phrase: "excluded: nothing arrived in some trials, or no trial is usable",
    },
    Reason { is: |reason| matches!(reason, EndReason::Planned), phrase: "all planned trials were run" },
];

impl Reason {
    fn phrase(&self, ended: &[(&ResultSummary, &ResultEnd)]) -> Option<Text> {
        let results = ended.iter().filter(|(_, end)| (self.is)(&end.reason)).count();
        let count = phrases::count(results, "result");
        (results > 0).then(|| Text::strong(count).and_plain(format!(": {}", self.phrase)))
    }
}

fn table(ended: &[(&ResultSummary, &ResultEnd)]) -> Table {
    let row = |(result, end): &(&ResultSummary, &ResultEnd)| -> Vec<Text> {
        vec![result.label.as_str().into(), result.value.trials.to_string().into(), reason(&end.reason).into()]
    };
    Table {
        columns: vec![left("Result"), right("Trials"), left("Reason to stop")],
        rows: ended.iter().map(row).collect(),
        caption: None,
    }
}

fn reason(reason: &EndReason) -> String {
    match reason {
        EndReason::Planned => "all planned trials".to_owned(),
        EndReason::Precise { reach } => format!("precise: within {} of the value", Share(*reach)),
        EndReason::Budget { reach: Some(reach) } => {
            format!("time budget used up, within {} of the value", Share(*reach))
        }
        EndReason::Budget { reach: None } => "time budget used up, too few trials for an interval".to_owned(),
        EndReason::Settled => "no candidate for the best setting or the knee".to_owned(),
        EndReason::Clear => "every comparison is decided".to_owned(),
        EndReason::Unusable { trials } => {
            format!("excluded: {trials} of its trials had no usable data")
        }
    }
}
