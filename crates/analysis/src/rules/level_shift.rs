//! `level-shift`: within a trial the rate jumped and stayed, so that its mean is of no level.

use findings::{CellShift, CellSummary, Change, Evidence, Finding, Remedy, Severity};

use super::{Context, Rule};
use crate::words::{count, value};

pub(crate) const RULE: Rule = Rule { id: "level-shift", look };

/// From one level to the other by less than this, the mean misleads little.
const MUCH: f64 = 1.25;
/// So many jumps of a cell are told one by one.
const MOST_TOLD: usize = 6;

/// A cell with its widest jump.
struct Jumpy<'a> {
    cell: &'a CellSummary,
    widest: &'a CellShift,
}

/// One claim for all cells, the widest jump named.
fn look(context: &Context<'_>) -> Vec<Finding> {
    let mut found: Vec<Jumpy<'_>> = context.findings.cells.iter().filter_map(jumpy).collect();
    found.sort_by(|one, other| size(other.widest).total_cmp(&size(one.widest)));
    found.first().map(|worst| finding(worst, &found, context)).into_iter().collect()
}

fn jumpy(cell: &CellSummary) -> Option<Jumpy<'_>> {
    let widest = cell.shifts.iter().max_by(|one, other| size(one).total_cmp(&size(other)))?;
    Some(Jumpy { cell, widest })
}

/// How many times as high the upper level is.
fn size(shift: &CellShift) -> f64 {
    let (low, high) = (shift.shift.before.min(shift.shift.after), shift.shift.before.max(shift.shift.after));
    if low > 0.0 { high / low } else { f64::MAX }
}

fn finding(worst: &Jumpy<'_>, found: &[Jumpy<'_>], context: &Context<'_>) -> Finding {
    let cell = worst.cell;
    let others = match found.len() {
        1 => String::new(),
        cells => format!(" In {} a rate jumped.", count(cells, "cell")),
    };
    let free = found.iter().any(|jumpy| {
        context.measured_of(&jumpy.cell.id).is_some_and(|measured| measured.record.placement == "free")
    });
    Finding {
        id: String::new(),
        severity: if size(worst.widest) >= MUCH { Severity::Warning } else { Severity::Note },
        claim: format!(
            "In a trial of {} the rate jumped {} and stayed: the average, {}, is of no level.{others}",
            cell.id,
            jump(cell, worst.widest),
            value(cell.metric, cell.value.median)
        ),
        cells: found.iter().map(|jumpy| jumpy.cell.id.clone()).collect(),
        evidence: found.iter().flat_map(|jumpy| evidence(jumpy.cell)).collect(),
        caveats: vec![
            "Of a hundred steady series up to five seem to jump by chance, the further the more they scatter.".into(),
            "A rate that drifts slowly is told as a few jumps.".into(),
        ],
        remedy: Some(remedy(free)),
    }
}

fn jump(cell: &CellSummary, shift: &CellShift) -> String {
    let level = |level: f64| value(cell.metric, level);
    format!("from {} to {} after {}", level(shift.shift.before), level(shift.shift.after), shift.shift.at)
}

fn evidence(cell: &CellSummary) -> Vec<Evidence> {
    let mut told: Vec<Evidence> = cell
        .shifts
        .iter()
        .take(MOST_TOLD)
        .map(|shift| Evidence {
            what: format!("trial {} of {}", shift.trial, cell.id),
            value: jump(cell, shift),
        })
        .collect();
    if cell.shifts.len() > MOST_TOLD {
        let value = count(cell.shifts.len() - MOST_TOLD, "more jump");
        told.push(Evidence { what: cell.id.clone(), value });
    }
    told
}

fn remedy(free: bool) -> Remedy {
    Remedy {
        change: free.then(|| Change::Placement { place: "cross-cpu".into() }),
        ..Remedy::manual(
            "Read the levels apart, with their times, and look for what happened then: a thread that moved to \
             another CPU or memory node, a frequency, a neighbour. Fix the placement of the ends (and of the \
             threads of a virtual machine) and measure again."
                .into(),
            vec!["taskset -cp THREAD".into(), "perf sched timehist".into()],
        )
    }
}
