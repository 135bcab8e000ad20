//! `bimodal`: what a cell measured gathers at two levels, so its median must not be trusted.

use findings::{Evidence, Finding, Remedy, Severity};

use super::{Context, Rule};
use crate::{
    humps::{Humps, humps},
    measured::Measured,
    words::{percent, value},
};

pub(crate) const RULE: Rule = Rule { id: "bimodal", look };

/// One claim for each cell: each has levels of its own.
fn look(context: &Context<'_>) -> Vec<Finding> {
    context.measured.iter().filter_map(|cell| Some(finding(cell, &humps(cell)?))).collect()
}

fn finding(cell: &Measured<'_>, humps: &Humps) -> Finding {
    let levels = &humps.levels;
    let (low, high) = (value(cell.metric, levels.low), value(cell.metric, levels.high));
    let id = &cell.record.id;
    Finding {
        id: String::new(),
        severity: Severity::Serious,
        claim: format!("The {} of {id} gather at two levels, about {low} and {high}: its median must not be trusted.", humps.of),
        cells: vec![id.clone()],
        evidence: vec![
            Evidence { what: format!("lower level of the {}", humps.of), value: share(&low, 1.0 - levels.share_high) },
            Evidence { what: format!("upper level of the {}", humps.of), value: share(&high, levels.share_high) },
        ],
        caveats: vec![
            "Two levels are told from one broad one by their distance; a single shift halfway through a trial looks \
             the same."
                .into(),
        ],
        remedy: Some(remedy(&cell.record.placement)),
    }
}

fn share(level: &str, share: f64) -> String {
    format!("{level}, {} of them", percent(share))
}

fn remedy(placement: &str) -> Remedy {
    let action = if placement == "free" {
        "Fix where the ends run (placement same-cpu or cross-cpu) and measure again; look at the levels apart until then."
    } else {
        "Look at the levels apart, and at the series of each trial for what switches between them."
    };
    Remedy { action: action.into(), commands: Vec::new() }
}
