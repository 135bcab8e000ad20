//! Groups of competing results of one workload and path. Finds the results that can still change the answer.
//!
//! The answer consists of the best setting for the objective, the best value, and the knees of numeric
//! factors. With `until_clear`, it is the comparison of all results of a workload.

use std::collections::{BTreeMap, BTreeSet};

use samples::{Arm, Objective};
use scenario::{FactorName, LEAST_PRECISE, Plan};
use stats::{Contest, location};

use super::{
    judged::Judged,
    observations::{Observations, Point},
};

// The scenario and the statistics must require the same minimum.
const _: () = assert!(LEAST_PRECISE as usize == location::FEWEST);

/// A level is on the plateau if it reaches this fraction of the best value.
const ON_PLATEAU: f64 = 1.0 - stats::curve::ALIKE;

#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Standing {
    Open,
    Settled,
    /// Nothing arrived in one of the trials, or no trial is usable.
    Out,
    /// The result is precise enough: its interval reaches this far from the median, as a fraction of the median.
    Precise(f64),
}

#[derive(Debug, Clone)]
pub(super) struct Group {
    results: Vec<usize>,
}

impl Group {
    pub(super) fn all(plan: &Plan) -> Vec<Self> {
        let mut groups: BTreeMap<_, Vec<usize>> = BTreeMap::new();
        for (place, result) in plan.results.iter().enumerate() {
            // With `until_clear`, a group spans all paths, because the cost of a layer is a comparison across
            // paths.
            let path = (!plan.design.until_clear).then_some(&result.path);
            groups.entry((&result.workload, path)).or_default().push(place);
        }
        groups.into_values().map(|results| Self { results }).collect()
    }

    pub(super) fn workload<'p>(&self, plan: &'p Plan) -> &'p str {
        plan.results[self.results[0]].workload.as_str()
    }

    pub(super) fn standings(
        &self,
        plan: &Plan,
        judged: &Judged<'_>,
        skipped: &BTreeSet<usize>,
    ) -> Vec<(usize, Standing)> {
        let (seen, block) = (judged.seen, judged.block);
        let results = self.results.iter().copied().filter(|result| !skipped.contains(result));
        let (tried, untried): (Vec<usize>, Vec<usize>) =
            results.partition(|result| seen.before(*result, block).next().is_some());
        if plan.design.until_clear {
            let unclear = judged.unclear(plan);
            let standing =
                |result: &usize| if unclear.contains(result) { Standing::Open } else { Standing::Settled };
            let judged = tried.iter().map(|result| (*result, standing(result)));
            return judged.chain(untried.into_iter().map(|result| (result, Standing::Open))).collect();
        }
        let (out, results) = without_the_out(seen, tried, block);
        let open = Field::of(plan, seen, &results, block).open(plan);
        let standing = |(place, result): (usize, &usize)| {
            let standing = match precise(plan, judged, *result) {
                _ if !open.contains(&place) => Standing::Settled,
                Some(reach) => Standing::Precise(reach),
                None => Standing::Open,
            };
            (*result, standing)
        };
        let judged = results.iter().enumerate().map(standing);
        let untried = untried.into_iter().map(|result| (result, Standing::Open));
        judged.chain(out.into_iter().map(|result| (result, Standing::Out))).chain(untried).collect()
    }

    pub(super) fn lacks_cpu(&self, seen: &Observations, block: u32) -> bool {
        let points = || self.results.iter().flat_map(|result| seen.before(*result, block));
        points().any(|point| point.goodness().is_some()) && points().all(|point| point.efficiency().is_none())
    }
}

/// Separates unusable results from the others. If every result has failed trials, only results without a
/// value are unusable. If no result has a value, none is unusable.
fn without_the_out(seen: &Observations, results: Vec<usize>, block: u32) -> (Vec<usize>, Vec<usize>) {
    let empty = |result: &usize| !seen.has_data(*result, block);
    let silent = |result: &usize| empty(result) || seen.was_silent(*result, block);
    if !results.iter().all(silent) {
        results.into_iter().partition(silent)
    } else if !results.iter().all(empty) {
        results.into_iter().partition(empty)
    } else {
        (Vec::new(), results)
    }
}

fn precise(plan: &Plan, judged: &Judged<'_>, result: usize) -> Option<f64> {
    let requested = plan.design.precision?;
    judged.reach(result).filter(|reach| *reach <= requested)
}

struct Field<'a> {
    results: &'a [usize],
    good: Contest,
    /// The score according to the objective. `None` if the objective is the value alone, or if CPU time is
    /// missing. A result without CPU time remains a contender.
    worth: Option<Contest>,
    /// The logarithm of the objective relative to the best result, at most 0.
    margin: f64,
}

impl<'a> Field<'a> {
    fn of(plan: &Plan, seen: &Observations, results: &'a [usize], block: u32) -> Self {
        let series = |of: fn(&Point) -> Option<f64>| -> Vec<Vec<f64>> {
            results
                .iter()
                .map(|result| seen.counted(*result, Arm::Measure, block).filter_map(of).collect())
                .collect()
        };
        let goodness = series(Point::goodness);
        let of: fn(&Point) -> Option<f64> = match plan.design.objective {
            Objective::Max => Point::goodness,
            Objective::Efficient => Point::efficiency,
            Objective::LowCpu => Point::thrift,
        };
        let share = plan.design.objective.least_share();
        let worth = series(of);
        let known = worth.iter().any(|worth| !worth.is_empty());
        let by_worth = known && plan.design.objective != Objective::Max;
        Self {
            results,
            good: Contest::of(&goodness),
            worth: by_worth.then(|| Contest::of(&worth)),
            margin: if by_worth { share.ln() } else { 0.0 },
        }
    }

    fn open(&self, plan: &Plan) -> BTreeSet<usize> {
        let Some(best) = self.good.best() else {
            return (0..self.results.len()).collect();
        };
        let mut open = self.contenders(best);
        open.insert(best);
        open.extend(self.knees(plan));
        open
    }

    fn contenders(&self, best: usize) -> BTreeSet<usize> {
        let takes_part = |place: &usize| self.good.takes_part(*place);
        let possible = (0..self.results.len())
            .filter(takes_part)
            .filter(|place| !self.good.is_below(*place, best, self.margin));
        let possible: BTreeSet<usize> = possible.collect();
        let Some(worth) = &self.worth else { return possible };
        let certain = |place: &usize| *place == best || self.good.is_below(best, *place, -self.margin);
        let Some(leader) = worth.best_of(possible.iter().copied().filter(certain)) else { return possible };
        possible.into_iter().filter(|place| !worth.is_below(*place, leader, 0.0)).collect()
    }

    fn knees(&self, plan: &Plan) -> BTreeSet<usize> {
        let factors: BTreeSet<&FactorName> =
            self.results.iter().flat_map(|result| plan.results[*result].levels.keys()).collect();
        factors.into_iter().flat_map(|factor| self.knee(plan, factor).unwrap_or_default()).collect()
    }

    fn knee(&self, plan: &Plan, factor: &FactorName) -> Option<Vec<usize>> {
        let mut levels: Vec<(f64, BTreeSet<usize>)> = Vec::new();
        for (place, result) in
            self.results.iter().enumerate().filter(|(place, _)| self.good.takes_part(*place))
        {
            let level = number(plan.results[*result].levels.get(factor)?)?;
            match levels.iter_mut().find(|(known, _)| *known == level) {
                Some((_, places)) => _ = places.insert(place),
                None => levels.push((level, BTreeSet::from([place]))),
            }
        }
        levels.sort_by(|a, b| a.0.total_cmp(&b.0));
        let bests: Vec<usize> =
            levels.iter().filter_map(|(_, places)| self.good.best_of(places.iter().copied())).collect();
        let top = self.good.best_of(bests.iter().copied())?;
        let possible = |place: &usize| !self.good.is_below(*place, top, ON_PLATEAU.ln());
        let certain = |place: &usize| *place == top || self.good.is_below(top, *place, -ON_PLATEAU.ln());
        let first = bests.iter().position(possible)?;
        let last = first + bests[first..].iter().position(certain)?;
        (last > first).then(|| bests[first..=last].to_vec())
    }
}

/// Parses a level such as `4`, `9000`, `2x`, `4x (capped at 128)` or `64KiB`. Returns `None` for words.
fn number(label: &str) -> Option<f64> {
    let first = label.split(' ').next()?;
    let plain = first.strip_suffix('x').unwrap_or(first).parse::<f64>().ok();
    plain.or_else(|| first.parse::<units::Bytes>().ok().map(|bytes| bytes.0 as f64))
}
