//! Results of one workload and path as settings of a sweep.

use std::collections::BTreeMap;

use findings::OwnerUnit;
use samples::CellRecord;
use stats::describe;
use workload::Metric;

use super::{
    cpu::{self, Cpu},
    number,
};
use crate::observations::Observations;

/// Fewer settings are no sweep.
const FEWEST: usize = 3;

pub(super) struct Sweep<'a> {
    pub(super) workload: &'a str,
    pub(super) path: &'a str,
    pub(super) metric: Metric,
    /// In the order of the scenario.
    pub(super) settings: Vec<Setting<'a>>,
    /// Cells that are none, since a trial of theirs brought nothing.
    pub(super) silent: Vec<&'a str>,
    /// Numeric factors with sorted levels.
    pub(super) factors: Vec<Factor<'a>>,
    /// Owners of CPU time known for every setting; empty if not recorded.
    pub(super) owners: Vec<String>,
    /// Unit of their time.
    pub(super) unit: Option<OwnerUnit>,
}

/// A numeric factor.
pub(super) struct Factor<'a> {
    pub(super) name: &'a str,
    /// Number and first label of each level.
    pub(super) levels: Vec<(f64, &'a str)>,
}

/// One cell of a sweep.
pub(super) struct Setting<'a> {
    pub(super) cell: &'a CellRecord,
    /// The median of its trials, in the metric's unit; positive.
    pub(super) value: f64,
    /// Each trial's goodness: its value, or its reciprocal where less is better.
    pub(super) goods: Vec<f64>,
    /// `None` when it is not known of every setting.
    pub(super) cpu: Option<Cpu>,
}

impl<'a> Sweep<'a> {
    /// `None` without a sweep: too few results, no numeric factor, or a metric without a better direction.
    pub(super) fn of(workload: &'a str, path: &'a str, measured: &[Observations<'a>]) -> Option<Self> {
        let own = |cell: &&Observations<'_>| cell.record.workload == workload && cell.record.path == path;
        let cells: Vec<&Observations<'a>> = measured.iter().filter(own).collect();
        let metric = cells.first()?.metric;
        let more = metric.more_is_better()?;
        let cells: Vec<&Observations<'a>> = cells.into_iter().filter(|cell| cell.metric == metric).collect();
        let (owners, unit) = cpu::owners(&cells);
        let settings: Vec<Setting<'a>> =
            cells.iter().filter_map(|cell| Setting::of(cell, more, &owners)).collect();
        let is_silent = |cell: &&&Observations<'_>| cell.points.values().any(|point| point.value <= 0.0);
        let silent = cells.iter().filter(is_silent).map(|cell| cell.record.id.as_str()).collect();
        // Results from different files or sections have unknown differences.
        let place = |cell: &Observations<'_>, level: &str| cell.record.levels.get(level).cloned();
        let apart = |level: &str| cells.iter().any(|cell| place(cell, level) != place(cells[0], level));
        if ["file", "section"].into_iter().any(apart) {
            return None;
        }
        let factors = factors(&settings);
        let sweep = Self { workload, path, metric, settings, silent, factors, owners, unit };
        (sweep.settings.len() >= FEWEST && !sweep.factors.is_empty()).then_some(sweep)
    }

    /// Whether a higher value is better.
    pub(super) fn more_is_better(&self) -> bool {
        self.metric.more_is_better().unwrap_or(true)
    }

    /// A goodness as a value of the metric, and the other way round.
    pub(super) fn value_of(&self, good: f64) -> f64 {
        if self.more_is_better() { good } else { good.recip() }
    }
}

impl<'a> Setting<'a> {
    fn of(cell: &Observations<'a>, more: bool, owners: &[String]) -> Option<Self> {
        let values = cell.values();
        let value = describe::median(&values).filter(|_| values.iter().all(|value| *value > 0.0))?;
        Some(Self {
            cell: cell.record,
            value,
            goods: if more { values } else { values.iter().map(|value| value.recip()).collect() },
            cpu: cpu::of(cell, owners),
        })
    }

    /// The median of its trials' goodness.
    pub(super) fn good(&self) -> f64 {
        describe::median(&self.goods).unwrap_or(0.0)
    }

    /// Its level's number of a factor.
    pub(super) fn number(&self, factor: &str) -> Option<f64> {
        self.cell.levels.get(factor).and_then(|label| number::of(label))
    }
}

/// Factors with at least two levels, all numeric.
fn factors<'a>(settings: &[Setting<'a>]) -> Vec<Factor<'a>> {
    let mut levels: BTreeMap<&'a str, Option<Vec<(f64, &'a str)>>> = BTreeMap::new();
    for (factor, label) in settings.iter().flat_map(|setting| &setting.cell.levels) {
        let known = levels.entry(factor).or_insert_with(|| Some(Vec::new()));
        match (number::of(label), known.as_mut()) {
            (Some(number), Some(known)) if !known.iter().any(|(other, _)| *other == number) => {
                known.push((number, label));
            }
            (Some(_), _) => {}
            (None, _) => *known = None,
        }
    }
    let numeric = levels.into_iter().filter_map(|(name, levels)| Some((name, levels?)));
    let several = numeric.filter(|(_, levels)| levels.len() >= 2);
    several
        .map(|(name, mut levels)| {
            levels.sort_by(|one, other| one.0.total_cmp(&other.0));
            Factor { name, levels }
        })
        .collect()
}
