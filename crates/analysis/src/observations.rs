//! Collects the trials of each result, with their values.

use std::collections::{BTreeMap, HashMap};

use findings::{NO_PATH, Phrase, result_label};
use samples::{Arm, BlackHole, PathRecord, ProbeKind, ResultEnd, ResultRecord, RunRecord, Trial};
use stats::noise;
use workload::{Metric, StreamSettings};

#[derive(Debug, Clone, Copy)]
pub(crate) struct Point<'a> {
    pub(crate) trial: &'a Trial,
    /// The trial's value in the metric's unit. It is finite and not negative.
    pub(crate) value: f64,
}

#[derive(Debug)]
pub(crate) struct Observations<'a> {
    pub(crate) record: &'a ResultRecord,
    pub(crate) label: String,
    pub(crate) path: Option<&'a PathRecord>,
    pub(crate) metric: Metric,
    pub(crate) points: BTreeMap<u32, Point<'a>>,
    pub(crate) again: BTreeMap<u32, Point<'a>>,
    /// Probed trials by block. They do not affect the value.
    pub(crate) probed: BTreeMap<u32, Point<'a>>,
    /// Trials without simultaneous traffic, by block, if the result is measured both with and without it.
    pub(crate) alone: BTreeMap<u32, Point<'a>>,
    pub(crate) probes: &'a [ProbeKind],
    pub(crate) ended: Option<&'a ResultEnd>,
    /// Disturbed, stalled or interrupted trials. Excluded because enough other trials remain.
    pub(crate) left_out: Vec<&'a Trial>,
    /// Trials without a value, because no data arrived or another workload was recorded.
    pub(crate) unusable: Vec<&'a Trial>,
    pub(crate) unusable_probed: usize,
}

impl From<&Observations<'_>> for Phrase {
    fn from(result: &Observations<'_>) -> Self {
        Self::result(&result.record.id, &result.label)
    }
}

impl<'a> Observations<'a> {
    pub(crate) fn blocks(&self) -> stats::Blocks {
        values(&self.points)
    }

    pub(crate) fn values(&self) -> Vec<f64> {
        self.points.values().map(|point| point.value).collect()
    }

    pub(crate) fn received(&self) -> Vec<f64> {
        self.values().into_iter().filter(|value| *value > 0.0).collect()
    }

    pub(crate) fn trials(&self) -> impl Iterator<Item = &'a Trial> {
        self.points.values().map(|point| point.trial)
    }

    pub(crate) fn asked(&self) -> Option<&'a StreamSettings> {
        self.record.sent.load().and_then(StreamSettings::of)
    }

    pub(crate) fn is_affected_by(&self, hole: &BlackHole) -> bool {
        self.record.sent.load().is_some_and(|load| hole.affects(load))
    }

    /// The usual difference between two runs, as a fraction.
    pub(crate) fn usual_between_runs(&self) -> f64 {
        if self.metric.is_instructions() { noise::BETWEEN_BOOTS } else { noise::USUAL_BETWEEN_RUNS }
    }

    pub(crate) fn layers(&self) -> &'a [String] {
        self.path.map_or(&[], |path| &path.layers)
    }
}

pub(crate) fn values(points: &BTreeMap<u32, Point<'_>>) -> stats::Blocks {
    points.iter().map(|(block, point)| (*block, point.value)).collect()
}

pub(crate) fn pairs(first: &BTreeMap<u32, Point<'_>>, second: &BTreeMap<u32, Point<'_>>) -> Vec<(f64, f64)> {
    first.iter().filter_map(|(block, one)| second.get(block).map(|other| (one.value, other.value))).collect()
}

pub(crate) fn gather(record: &RunRecord) -> Vec<Observations<'_>> {
    let mut trials: HashMap<&str, Vec<&Trial>> = HashMap::new();
    for trial in &record.trials {
        trials.entry(trial.result.as_str()).or_default().push(trial);
    }
    let of_result =
        |result: &ResultRecord| trials.get(result.id.as_str()).map(Vec::as_slice).unwrap_or_default();
    let paths: HashMap<&str, &PathRecord> =
        record.header.paths.iter().map(|path| (path.name.as_str(), path)).collect();
    let path_of = |result: &ResultRecord| paths.get(result.path.as_str()).copied();
    let results = record.header.results.iter();
    let mut measured: Vec<Observations<'_>> =
        results.filter_map(|result| of(result, path_of(result), of_result(result), record)).collect();
    let first = measured.first().map(|first| first.record.workload.as_str());
    let several = measured.iter().any(|result| Some(result.record.workload.as_str()) != first);
    for Observations { record, label, .. } in &mut measured {
        let nameless = record.path == NO_PATH && record.levels.is_empty();
        let workload = (several || nameless).then_some(record.workload.as_str());
        *label = result_label(&record.path, &record.levels, workload);
    }
    measured
}

fn of<'a>(
    result: &'a ResultRecord,
    path: Option<&'a PathRecord>,
    trials: &[&'a Trial],
    record: &'a RunRecord,
) -> Option<Observations<'a>> {
    let metric = metric(result, trials.first()?);
    let mut measured = Observations {
        record: result,
        label: String::new(),
        path,
        metric,
        points: BTreeMap::new(),
        again: BTreeMap::new(),
        probed: BTreeMap::new(),
        alone: BTreeMap::new(),
        probes: &record.header.probes,
        ended: record.ends.iter().find(|end| end.result == result.id),
        left_out: Vec::new(),
        unusable: Vec::new(),
        unusable_probed: 0,
    };
    let made = |arm: Arm| trials.iter().filter(move |trial| trial.arm == arm);
    let enough: Vec<Arm> = [Arm::Measure, Arm::Again, Arm::Alone]
        .into_iter()
        .filter(|arm| samples::leaves_out_disturbed(made(*arm).map(|trial| trial.is_flawed())))
        .collect();
    for trial in trials.iter().copied().filter(|trial| !trial.is_unwatched()) {
        if trial.is_flawed() && enough.contains(&trial.arm) {
            measured.left_out.push(trial);
            continue;
        }
        let Some(value) = trial.value(measured.metric) else {
            match trial.arm {
                Arm::Probed => measured.unusable_probed += 1,
                Arm::Measure | Arm::Again | Arm::Alone => measured.unusable.push(trial),
            }
            continue;
        };
        let arm = match trial.arm {
            Arm::Measure => &mut measured.points,
            Arm::Again => &mut measured.again,
            Arm::Probed => &mut measured.probed,
            Arm::Alone => &mut measured.alone,
        };
        arm.insert(trial.block, Point { trial, value });
    }
    (!measured.points.is_empty()).then_some(measured)
}

fn metric(result: &ResultRecord, first: &Trial) -> Metric {
    if first.instructions.is_some() {
        return first.metric();
    }
    result.sent.load().map_or_else(|| first.measurement.kind().metric(), |load| load.kind().metric())
}
