//! From which level of a factor on more brings no more. Must not know CPU time.

use findings::Knee;
use stats::curve;

use super::sweep::{Factor, Setting, Sweep};
use crate::compare;

/// A knee of fewer levels would be one of its ends.
const FEWEST_LEVELS: usize = 3;

/// The knee of each factor that has levels enough.
pub(super) fn knees(sweep: &Sweep<'_>) -> Vec<Knee> {
    let factors = sweep.factors.iter().filter(|factor| factor.levels.len() >= FEWEST_LEVELS);
    factors.filter_map(|factor| knee(sweep, factor)).collect()
}

fn knee(sweep: &Sweep<'_>, factor: &Factor<'_>) -> Option<Knee> {
    let best: Vec<(&str, &Setting<'_>)> = factor
        .levels
        .iter()
        .filter_map(|(number, label)| Some((*label, best_at(sweep, factor, *number)?)))
        .collect();
    let goods: Vec<Vec<f64>> = best.iter().map(|(_, setting)| setting.goods.clone()).collect();
    let found = curve::plateau(&goods)?;
    let label = |index: usize| best.get(index).map(|(label, _)| (*label).to_owned());
    Some(Knee {
        factor: factor.name.to_owned(),
        level: label(found.index)?,
        plausible: found.plausible.iter().filter_map(|index| label(*index)).collect(),
        plateau: sweep.value_of(found.value.value),
        plateau_interval: found.value.interval.map(|interval| {
            let (low, high) = (sweep.value_of(interval.low), sweep.value_of(interval.high));
            compare::named(stats::Interval { low: low.min(high), high: low.max(high), ..interval })
        }),
        curve: best.iter().map(|(label, setting)| ((*label).to_owned(), setting.value)).collect(),
        falls_at: found.falls_at.and_then(label),
    })
}

/// The best setting at a level, whatever the other factors.
fn best_at<'s, 'a>(sweep: &'s Sweep<'a>, factor: &Factor<'_>, number: f64) -> Option<&'s Setting<'a>> {
    let at = sweep.settings.iter().filter(|setting| setting.number(factor.name) == Some(number));
    at.max_by(|one, other| one.good().total_cmp(&other.good()))
}
