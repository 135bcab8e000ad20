//! A sweep: the results of a workload on a path, as settings.

use std::collections::BTreeMap;

use findings::{ConsumerUnit, Objective};
use samples::ResultRecord;
use stats::describe;
use workload::Metric;

use super::{
    cpu::{self, Cpu},
    number,
};
use crate::{fits::Fits, observations::Observations};

const FEWEST: usize = 3;

pub(super) struct Sweep<'a> {
    pub(super) workload: &'a str,
    pub(super) path: &'a str,
    pub(super) metric: Metric,
    pub(super) settings: Vec<Setting<'a>>,
    pub(super) silent: Vec<&'a str>,
    pub(super) factors: Vec<Factor<'a>>,
    /// Owners with known CPU time for every setting. Empty if CPU time was not recorded.
    pub(super) consumers: Vec<String>,
    pub(super) unit: Option<ConsumerUnit>,
}

pub(super) struct Factor<'a> {
    pub(super) name: &'a str,
    pub(super) levels: Vec<(f64, &'a str)>,
}

pub(super) struct Setting<'a> {
    pub(super) result: &'a ResultRecord,
    pub(super) value: f64,
    more: bool,
    /// The value of each trial, or its reciprocal if less is better.
    pub(super) goods: Vec<f64>,
    /// CPU time. `None` if it is unknown for at least one setting.
    pub(super) cpu: Option<Cpu>,
}

impl<'a> Sweep<'a> {
    /// Returns `None` if there are too few results, no factor is numeric, or neither higher nor lower values are
    /// better.
    pub(super) fn of(
        workload: &'a str,
        path: &'a str,
        measured: &[Observations<'a>],
        fits: &Fits,
    ) -> Option<Self> {
        let own =
            |result: &&Observations<'_>| result.record.workload == workload && result.record.path == path;
        let results: Vec<&Observations<'a>> = measured.iter().filter(own).collect();
        let metric = results.first()?.metric;
        let more = metric.more_is_better()?;
        let results: Vec<&Observations<'a>> =
            results.into_iter().filter(|result| result.metric == metric).collect();
        let (consumers, unit) = cpu::consumers(&results);
        let settings: Vec<Setting<'a>> =
            results.iter().filter_map(|result| Setting::of(result, more, &consumers, fits)).collect();
        let is_silent = |result: &&&Observations<'_>| result.points.values().any(|point| point.value <= 0.0);
        let silent = results.iter().filter(is_silent).map(|result| result.record.id.as_str()).collect();
        // Results from different files or sections may differ in unknown ways.
        let place = |result: &Observations<'_>, level: &str| result.record.levels.get(level).cloned();
        let apart =
            |level: &str| results.iter().any(|result| place(result, level) != place(results[0], level));
        if ["file", "section"].into_iter().any(apart) {
            return None;
        }
        let factors = factors(&settings);
        let sweep = Self { workload, path, metric, settings, silent, factors, consumers, unit };
        (sweep.settings.len() >= FEWEST && !sweep.factors.is_empty()).then_some(sweep)
    }

    pub(super) fn more_is_better(&self) -> bool {
        self.metric.more_is_better().unwrap_or(true)
    }

    pub(super) fn value_of(&self, good: f64) -> f64 {
        if self.more_is_better() { good } else { good.recip() }
    }
}

impl<'a> Setting<'a> {
    fn of(result: &Observations<'a>, more: bool, consumers: &[String], fits: &Fits) -> Option<Self> {
        let values = result.values();
        let value = fits.value(result).filter(|_| values.iter().all(|value| *value > 0.0))?.estimate;
        Some(Self {
            result: result.record,
            value,
            more,
            goods: if more { values } else { values.iter().map(|value| value.recip()).collect() },
            cpu: cpu::of(result, consumers),
        })
    }

    pub(super) fn good(&self) -> f64 {
        if self.more { self.value } else { self.value.recip() }
    }

    /// Returns the trials, scaled to make the shown value their median. Otherwise, a setting without trials in slow
    /// blocks would seem faster than others.
    pub(super) fn about_value(&self) -> Vec<f64> {
        let by = describe::median(&self.goods).map_or(1.0, |median| self.good() / median);
        self.goods.iter().map(|good| good * by).collect()
    }

    /// Returns the shown value per CPU, and the same for each trial.
    pub(super) fn efficiency(&self) -> Option<(f64, Vec<f64>)> {
        let cpu = self.cpu.as_ref()?;
        let value = self.good() / cpu.total;
        if cpu.trials.len() != self.goods.len() {
            return Some((value, vec![value]));
        }
        Some((value, self.goods.iter().zip(&cpu.trials).map(|(good, cpu)| good / cpu).collect()))
    }

    pub(super) fn number(&self, factor: &str) -> Option<f64> {
        self.result.levels.get(factor).and_then(|label| number::of(label))
    }
}

fn factors<'a>(settings: &[Setting<'a>]) -> Vec<Factor<'a>> {
    let mut levels: BTreeMap<&'a str, Option<Vec<(f64, &'a str)>>> = BTreeMap::new();
    for (factor, label) in settings.iter().flat_map(|setting| &setting.result.levels) {
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

pub(super) struct Choice {
    pub(super) objective: Objective,
    pub(super) chosen: usize,
    pub(super) considered: Vec<usize>,
    pub(super) ties: Vec<usize>,
    pub(super) tolerance: Option<f64>,
}
