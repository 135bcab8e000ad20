//! `bimodal`: what a cell measured gathers at two levels, so its median must not be trusted.

use findings::{Change, Evidence, Finding, Remedy, Severity};

use super::{Context, Rule};
use crate::{
    humps::{Humps, humps},
    measured::Measured,
    words::{count, percent, value},
};

pub(crate) const RULE: Rule = Rule { id: "bimodal", look };

/// One claim for all cells; each has levels of its own in the evidence.
fn look(context: &Context<'_>) -> Vec<Finding> {
    let found: Vec<(&Measured<'_>, Humps)> =
        context.measured.iter().filter_map(|cell| Some((cell, humps(cell)?))).collect();
    let apart = |humps: &Humps| humps.levels.high / humps.levels.low;
    let widest = found.iter().max_by(|one, other| apart(&one.1).total_cmp(&apart(&other.1)));
    widest.map(|widest| finding(widest, &found)).into_iter().collect()
}

fn finding((widest, humps): &(&Measured<'_>, Humps), found: &[(&Measured<'_>, Humps)]) -> Finding {
    let (low, high) = levels(widest, humps);
    let id = &widest.record.id;
    let claim = match found {
        [_] => format!(
            "The {} of {id} gather at two levels, about {low} and {high}: its median must not be trusted.",
            humps.of
        ),
        several => format!(
            "{} gather at two levels, furthest apart {id} (about {low} and {high}): their medians must not be \
             trusted.",
            count(several.len(), "cell")
        ),
    };
    Finding {
        id: String::new(),
        severity: Severity::Serious,
        claim,
        cells: found.iter().map(|(cell, _)| cell.record.id.clone()).collect(),
        evidence: found.iter().map(|(cell, humps)| evidence(cell, humps)).collect(),
        caveats: vec![
            "Two levels are told from one broad one by their distance; a single shift halfway through a trial looks \
             the same."
                .into(),
        ],
        remedy: Some(remedy(found.iter().any(|(cell, _)| cell.record.placement == "free"))),
    }
}

fn levels(cell: &Measured<'_>, humps: &Humps) -> (String, String) {
    (value(cell.metric, humps.levels.low), value(cell.metric, humps.levels.high))
}

fn evidence(cell: &Measured<'_>, humps: &Humps) -> Evidence {
    let (low, high) = levels(cell, humps);
    let share = humps.levels.share_high;
    let value = format!("{} at {low}, {} at {high}", percent(1.0 - share), percent(share));
    Evidence { what: format!("{} of {}", humps.of, cell.record.id), value }
}

fn remedy(free: bool) -> Remedy {
    let action = if free {
        "Fix where the ends run (placement same-cpu or cross-cpu) and measure again; look at the levels apart until \
         then."
    } else {
        "Look at the levels apart, and at the series of each trial for what switches between them."
    };
    Remedy {
        change: free.then(|| Change::Placement { place: "cross-cpu".into() }),
        ..Remedy::manual(action.into(), Vec::new())
    }
}
