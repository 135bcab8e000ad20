//! Finds the level of a factor beyond which there is no further gain.

use crate::order::ByNumber;
use findings::Knee;
use stats::curve;

use super::sweep::{Factor, Setting, Sweep};
use crate::compare;

/// With fewer levels, the knee would be the first or the last level.
const FEWEST_LEVELS: usize = 3;

pub(super) fn knees(sweep: &Sweep<'_>) -> Vec<Knee> {
    let factors = sweep.factors.iter().filter(|factor| factor.levels.len() >= FEWEST_LEVELS);
    factors.filter_map(|factor| knee(sweep, factor)).collect()
}

fn knee(sweep: &Sweep<'_>, factor: &Factor<'_>) -> Option<Knee> {
    let at = |number| sweep.settings.iter().filter(move |it| it.number(factor.name) == Some(number));
    let best: Vec<(&str, &Setting<'_>)> =
        factor.levels.iter().filter_map(|(number, label)| Some((*label, best_of(at(*number))?))).collect();
    // Pass all settings of a level, because the best one may be best by chance.
    let goods = |number| at(number).map(Setting::about_value).collect();
    let goods: Vec<Vec<Vec<f64>>> = factor.levels.iter().map(|(number, _)| goods(*number)).collect();
    let found = curve::plateau_of_best(&goods)?;
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

fn best_of<'s, 'a: 's>(settings: impl Iterator<Item = &'s Setting<'a>>) -> Option<&'s Setting<'a>> {
    settings.largest(|one| one.good())
}
