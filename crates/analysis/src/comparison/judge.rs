//! Judges the ratio of two runs for each result. The trials of the two runs are not paired. The noise floor covers
//! effects on a whole run (placement, addresses, neighbours), which that run's trials do not show.

use findings::{Comparison, Difference, Estimate, Interval, ResultComparison, Verdict};
use stats::{AbResult, Level, ab, noise, sweep, verdict};

use super::{
    between_runs,
    floor::floor,
    guards,
    history::{History, Learned},
    matching::Pair,
    outage::{self, SilentTrials},
};
use crate::{
    compare, disturbance,
    fits::Fits,
    observations::Observations,
    single_trial::{self, ALLOWANCE, FEWEST_IMPORTED, MARGIN},
    words::{count, list, percent, value},
};

/// Maximum difference between equal results if another tool measured them in a few trials.
const SAME_OF_FEW: f64 = 0.05;

/// Minimum number of trials per run for a permutation test. The smallest possible p is then 2 / C(8, 4) = 2 / 70.
const ENOUGH: usize = 4;

pub(super) fn results(
    pairs: &[Pair<'_, '_>],
    floors: &[Fits; 2],
    history: &History,
) -> Vec<ResultComparison> {
    let looks: Vec<Look<'_>> = pairs.iter().map(|pair| Look::at(*pair, floors, history)).collect();
    let of_runs: Vec<Option<f64>> = looks.iter().map(Look::chance_of_runs).collect();
    let among_runs = between_runs::chances(&of_runs);
    let p = chances(pairs)
        .into_iter()
        .zip(among_runs)
        .map(|(trials, runs)| Some(trials?.max(runs.unwrap_or(0.0))));
    let others = [
        disturbance::who_disturbed(pairs.iter().map(|(a, _)| *a)),
        disturbance::who_disturbed(pairs.iter().map(|(_, b)| *b)),
    ];
    let judged = |(look, p): (&Look<'_>, Option<f64>)| {
        look.judged(p.filter(|_| look.trials.is_some()), look.disturbed(&others))
    };
    looks.iter().zip(p).filter_map(judged).collect()
}

/// Returns p-values. Assumes that all results of a workload have similar noise.
fn chances(pairs: &[Pair<'_, '_>]) -> Vec<Option<f64>> {
    let mut workloads: Vec<&str> = Vec::new();
    let values: Vec<[Vec<f64>; 2]> = pairs.iter().map(|(a, b)| one_metric(a, b)).collect();
    let results: Vec<sweep::Cell<'_>> = pairs
        .iter()
        .zip(&values)
        .map(|((a, _), [of_a, of_b])| {
            let workload = a.record.workload.as_str();
            let group = workloads.iter().position(|known| *known == workload).unwrap_or_else(|| {
                workloads.push(workload);
                workloads.len() - 1
            });
            sweep::Cell { a: of_a, b: of_b, group }
        })
        .collect();
    sweep::p(&results)
}

fn one_metric(a: &Observations<'_>, b: &Observations<'_>) -> [Vec<f64>; 2] {
    if a.metric == b.metric { [a.received(), b.received()] } else { Default::default() }
}

struct Look<'m> {
    a: &'m Observations<'m>,
    b: &'m Observations<'m>,
    /// The larger of the assumed and the estimated noise, or [`ALLOWANCE`] if there are few trials.
    floor: Option<f64>,
    learned: Option<Learned>,
    trials: Option<AbResult>,
    values: [Option<Estimate>; 2],
    levels: Option<[Level; 2]>,
}

impl<'m> Look<'m> {
    fn at<'a: 'm>((a, b): Pair<'m, 'a>, floors: &[Fits; 2], history: &History) -> Self {
        let few = single_trial::is_few(a) || single_trial::is_few(b);
        let assumed =
            if few { Some(ALLOWANCE) } else { floor(a, b, floors) }.filter(|_| a.metric == b.metric);
        let learned = assumed.filter(|_| !few).and_then(|_| history.learned(a));
        let floor = assumed.map(|floor| floor.max(learned.map_or(0.0, |learned| learned.relative)));
        let levels = Level::of(&a.values()).zip(Level::of(&b.values())).map(|(a, b)| [a, b]);
        let trials = floor.filter(|_| !few).and_then(|floor| ab::judge(&a.values(), &b.values(), floor));
        // Do not use the run's fit, because it would add the noise of the baseline.
        let values = [a, b].map(|it| single_trial::estimate(it).or_else(|| compare::estimate(&it.values())));
        Self { a, b, floor, learned, trials, values, levels }
    }

    fn chance_of_runs(&self) -> Option<f64> {
        let ratio = self.trials?.ratio;
        match self.learned {
            Some(runs) => Some(runs.p(ratio.value)),
            None => ab::chance(&ratio, self.floor?),
        }
    }

    fn judged(&self, p: Option<f64>, disturbed: Option<String>) -> Option<ResultComparison> {
        let [a, b] = self.values;
        let (a, b) = (a?, b?);
        let record = self.a.record;
        let comparison = self.comparison(p);
        let (verdict, reason) = match &disturbed {
            Some(reason) => (Verdict::Unknown, Some(reason.clone())),
            None => self.verdict(comparison.as_ref(), p),
        };
        let mut guards = guards::between(self.a, self.b);
        if disturbed.is_some() {
            guards.iter_mut().for_each(|guard| guard.verdict = Verdict::Unknown);
        }
        Some(ResultComparison {
            result: record.id.clone(),
            result_b: (self.b.record.id != record.id).then(|| self.b.record.id.clone()),
            path: record.path.clone(),
            workload: record.workload.clone(),
            levels: record.levels.clone(),
            metric: self.a.metric,
            a,
            b,
            comparison,
            floor: self.floor,
            same_within: self
                .floor
                .filter(|_| self.trials.is_some() && self.learned.is_none())
                .map(ab::same_within),
            between_runs: self.learned.as_ref().map(Learned::named),
            p,
            disturbed,
            verdict,
            reason,
            guards,
        })
    }

    /// `others` names the disturbing processes in A and in B. Returns the same text for all results, so that it is
    /// shown only once.
    fn disturbed(&self, others: &[String; 2]) -> Option<String> {
        let runs = [("A", self.a, &others[0]), ("B", self.b, &others[1])];
        let disturbed = runs.into_iter().filter(|(_, result, _)| disturbance::is_mostly_disturbed(result));
        let runs: Vec<String> = disturbed.map(|(run, _, by)| format!("{run} ({by})")).collect();
        let runs: Vec<&str> = runs.iter().map(String::as_str).collect();
        (!runs.is_empty()).then(|| {
            format!(
                "Other work used the CPUs in most trials of {} and may explain the difference.",
                list(&runs)
            )
        })
    }

    fn comparison(&self, p: Option<f64>) -> Option<Comparison> {
        if self.a.metric != self.b.metric {
            return None;
        }
        let Some(((judged, p), floor)) = self.trials.zip(p).zip(self.floor) else { return self.of_few() };
        let scaled = judged.scaled(self.learned.map_or(1.0, |runs| runs.scale));
        let difference = match (scaled.judged(p, floor), self.learned) {
            (stats::Difference::Unclear, Some(runs))
                if between_runs::is_same(&scaled.ratio, floor, &runs)
                    && scaled.levels_agree(stats::Difference::WithinNoise, floor) =>
            {
                Difference::None
            }
            (other, _) => compare::converted(other),
        };
        let shown = stats::Estimate { interval: ab::change(&judged.ratio, floor), ..judged.ratio };
        Some(compare::comparison(&shown, difference, self.values[0]?.estimate))
    }

    /// Judges by a tolerance, because there are too few trials to estimate their noise.
    fn of_few(&self) -> Option<Comparison> {
        let [of_a, of_b] = self.levels.as_ref()?;
        let mut comparison = single_trial::compare((self.b, of_b), (self.a, of_a))?;
        let usual = 1.0 + noise::USUAL_BETWEEN_RUNS;
        let is_same = |interval: &Interval| {
            let near = interval.low >= 1.0 / (1.0 + SAME_OF_FEW) && interval.high <= 1.0 + SAME_OF_FEW;
            let apart = interval.low > usual || interval.high < 1.0 / usual;
            near && !apart && single_trial::is_known(&comparison)
        };
        if !single_trial::is_imported(self.a) || !single_trial::is_imported(self.b) {
            return Some(comparison);
        }
        comparison.verdict = match single_trial::beyond(ALLOWANCE, self.b, self.a, &comparison) {
            Difference::Unclear if comparison.ratio_interval.as_ref().is_some_and(is_same) => {
                Difference::None
            }
            verdict => verdict,
        };
        Some(comparison)
    }

    fn verdict(&self, comparison: Option<&Comparison>, p: Option<f64>) -> (Verdict, Option<String>) {
        let unknown = |reason: String| (Verdict::Unknown, Some(reason));
        if self.a.metric != self.b.metric {
            return unknown(format!(
                "A is measured by its {}, B by its {}.",
                self.a.metric.name(),
                self.b.metric.name()
            ));
        }
        let silent = outage::more(&SilentTrials::of(self.a), &SilentTrials::of(self.b));
        let Some(comparison) = comparison else {
            if let Some((verdict, reason)) = outage::between(self.a, self.b).or(silent) {
                return (verdict, Some(reason));
            }
            return unknown(
                "Nothing arrived in any trial of one of the runs, and a ratio to zero is meaningless.".into(),
            );
        };
        let judged = match (comparison.verdict, self.a.metric.more_is_better()) {
            (Difference::None, _) => (Verdict::Same, self.left_open(comparison)),
            (Difference::Unclear, _) => unknown(self.open(comparison, p)),
            (_, None) => {
                unknown("It differs, but neither higher nor lower is better for this metric.".into())
            }
            (difference, Some(more)) => {
                let is_better = (difference == Difference::Higher) == more;
                let reason = self.mixture().or_else(|| self.level(comparison));
                (if is_better { Verdict::Better } else { Verdict::Worse }, reason)
            }
        };
        match silent {
            Some((verdict, reason)) if judged.0 != Verdict::Worse => (verdict, Some(reason)),
            _ => judged,
        }
    }

    fn left_open(&self, comparison: &Comparison) -> Option<String> {
        let interval = comparison.ratio_interval?;
        let (low, high) = (percent(interval.low), percent(interval.high));
        if self.trials.is_none() {
            return Some(format!(
                "The difference is smaller than {}: the ratio is {low} to {high}. This excludes variation between \
                 trials; estimating it needs {FEWEST_IMPORTED} trials of each.",
                percent(SAME_OF_FEW)
            ));
        }
        let floor = self.floor?;
        let most = interval.high.max(interval.low.recip()) - 1.0;
        if let Some((trials, runs)) = self.trials.zip(self.learned) {
            return between_runs::left_open(&trials.scaled(runs.scale).ratio, floor, &runs);
        }
        let bound = || {
            let bound = percent(ab::same_within(floor));
            format!(
                "The difference is only established to be smaller than {bound}; more trials would lower this bound."
            )
        };
        self.mixture().or_else(|| (most > MARGIN).then(bound))
    }

    fn mixture(&self) -> Option<String> {
        let mixture = self.trials?.mixture?;
        let part = |part: &stats::mixture::Part| {
            let [a, b] = part.shares.map(percent);
            let (level, change) = (value(self.a.metric, part.value), findings::change(part.ratio.value));
            format!("at {level} ({a} of A's trials, {b} of B's) the change is {change}")
        };
        let [low, high] = mixture.each_ref().map(part);
        Some(format!("Each average is a mixture of two levels: {low}, and {high}."))
    }

    /// Explains the verdict if comparing B with A, instead of with the historical level, would change it.
    fn level(&self, comparison: &Comparison) -> Option<String> {
        let (trials, runs) = self.trials.zip(self.learned)?;
        let from_a = compare::converted(trials.judged(ab::MOST_P, self.floor?));
        let share = percent(trials.ratio.value * runs.scale);
        (from_a != comparison.verdict).then(|| {
            format!(
                "B is {share} of the level of {} runs of this scenario; A differs from that level too.",
                runs.runs
            )
        })
    }

    /// Returns the interval of B relative to its reference, with the noise between runs, and names the reference.
    fn against_reference(&self) -> Option<(Interval, &'static str)> {
        let (trials, runs) = self.trials.zip(self.learned)?;
        let change = ab::change(&trials.scaled(runs.scale).ratio, self.floor?)?;
        Some((compare::named(change), runs.reference()))
    }

    fn open(&self, comparison: &Comparison, p: Option<f64>) -> String {
        let (a, b) = (self.a.points.len(), self.b.points.len());
        let Some(interval) = comparison.ratio_interval else {
            if single_trial::jumped(self.a) || single_trial::jumped(self.b) {
                return "The only trial has a level shift: its mean matches neither level, and another trial may \
                        differ."
                    .into();
            }
            let a = count(a, "trial");
            return format!("A has {a}, B {b}, without samples to estimate their variation.");
        };
        if let Some(mixture) = self.mixture() {
            return mixture;
        }
        let (low, high) = (percent(interval.low), percent(interval.high));
        if self.trials.is_none() {
            return format!(
                "With {} in A and {b} in B, only differences beyond a tolerance of {} are significant, and the \
                 ratio is {low} to {high}; with {FEWEST_IMPORTED} of each the tolerance is smaller.",
                count(a, "trial"),
                percent(ALLOWANCE)
            );
        }
        if !verdict::is_sure(interval.confidence) {
            let reached = units::Confidence(interval.confidence);
            return format!(
                "With {a} trials in A and {b} in B, an interval reaches only {reached} confidence; a significant \
                 difference needs at least {ENOUGH} of each."
            );
        }
        let noise = percent(self.floor.unwrap_or(ALLOWANCE));
        let (interval, reference) = self.against_reference().unwrap_or((interval, "A"));
        let (low, high) = (percent(interval.low), percent(interval.high));
        let apart = !(interval.low..=interval.high).contains(&1.0);
        match p.filter(|p| apart && *p > ab::MOST_P) {
            Some(p) => format!(
                "This may be due to chance: with this many results and trials, the probability of a difference \
                 this large is {}.",
                percent(p)
            ),
            None => {
                format!(
                    "With {noise} noise, B is {low} to {high} of {reference}; more trials would narrow this range."
                )
            }
        }
    }
}
