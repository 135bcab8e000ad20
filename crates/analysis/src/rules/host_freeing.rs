//! `host-freeing`: how much of the time in which memory is taken goes into freeing it on the host, and so what faster freeing there
//! could gain at most.

use findings::{BalloonSummary, CellSummary, Comparison, Evidence, Finding, Severity, WorkloadSummary};
use units::significant;
use workload::BalloonMove;

use super::{Context, Rule, significance};
use crate::words::{percent, value};

pub(crate) const RULE: Rule = Rule { id: "host-freeing", look };

/// A smaller part is not worth a word.
const LEAST: f64 = 0.1;

/// The machine where it is the largest part is told.
fn look(context: &Context<'_>) -> Vec<Finding> {
    let pairs = context.cells().filter_map(|(touched, measured)| {
        let asked = shrink(touched).filter(|shrink| shrink.touched)?.asked;
        let is_twin = |other: &CellSummary| {
            (&other.path, &other.levels) == (&touched.path, &touched.levels)
                && shrink(other).is_some_and(|shrink| !shrink.touched && shrink.asked == asked)
        };
        let (untouched, twin) = context.cells().find(|(other, _)| is_twin(other))?;
        let change = context.compare(measured, twin)?;
        (1.0 - change.ratio >= LEAST).then_some(Pair { touched, untouched, change })
    });
    let largest = pairs.min_by(|one, other| one.change.ratio.total_cmp(&other.change.ratio));
    largest.and_then(|largest| finding(&largest)).into_iter().collect()
}

/// Touched memory against untouched of the same machine; the ratio is that of the rates.
struct Pair<'a> {
    touched: &'a CellSummary,
    untouched: &'a CellSummary,
    change: Comparison,
}

/// That of a cell in which memory is taken; `None` of any other.
fn shrink(cell: &CellSummary) -> Option<&BalloonSummary> {
    match &cell.measured {
        WorkloadSummary::Balloon(balloon) if balloon.way == BalloonMove::Shrink => Some(balloon),
        _ => None,
    }
}

fn finding(Pair { touched, untouched, change }: &Pair<'_>) -> Option<Finding> {
    let method = shrink(touched)?.method;
    let weighed = significance::weigh(change)?;
    let rate = |cell: &CellSummary| value(cell.metric, cell.value.median);
    let caveat = "The guest's part is taken to be the same for both; where untouched memory is cleared when it is taken, it is not.";
    Some(Finding {
        id: String::new(),
        severity: Severity::Note,
        claim: format!(
            "Freeing on the host is {} of the time that {} takes on {}. Freed at no cost, memory would leave it at {} instead of {}: \
             {}x is the most that faster freeing could bring.",
            percent(1.0 - change.ratio),
            method.word(),
            touched.path,
            rate(untouched),
            rate(touched),
            significant(change.ratio.recip(), 3),
        ),
        cells: vec![touched.id.clone(), untouched.id.clone()],
        evidence: vec![Evidence::new(format!("{} against {}", touched.id, untouched.id)).ratio(change)],
        caveats: [caveat.to_owned()].into_iter().chain(weighed.caveat.map(str::to_owned)).collect(),
        remedy: None,
    })
}
