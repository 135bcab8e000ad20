//! A result's history across the runs of its scenario: values and level shifts.

use findings::{ResultHistory, RunLevel, RunLevelShift, RunResult, RunResults};
use samples::RunRecord;
use stats::{Course, levels};

use crate::{
    compare::{self, CONFIDENCE},
    disturbance,
    fits::Fits,
    observations,
};

pub const FEWEST_RUNS: usize = stats::history::FEWEST_RUNS;

/// Fast enough for many runs. Accepts unfinished runs.
#[must_use]
pub fn run_results(record: &RunRecord) -> RunResults {
    let header = &record.header;
    let measured = observations::gather(record);
    let fits = Fits::of(&measured);
    let result = |result: &observations::Observations<'_>| {
        let it = result.record;
        Some(RunResult {
            result: it.id.clone(),
            path: it.path.clone(),
            workload: it.workload.clone(),
            levels: it.levels.clone(),
            metric: result.metric,
            value: fits.value(result)?,
            disturbed: disturbance::is_mostly_disturbed(result),
        })
    };
    RunResults {
        run: header.id.clone(),
        started: header.started,
        tool: header.tool.clone(),
        kernel: header.environment.as_ref().map(|machine| machine.kernel.clone()),
        results: measured.iter().filter_map(result).collect(),
    }
}

#[must_use]
pub fn history<R: AsRef<RunResults>>(runs: &[R]) -> Vec<ResultHistory> {
    let Some(newest) = runs.last() else { return Vec::new() };
    newest.as_ref().results.iter().map(|result| of_result(result, runs)).collect()
}

fn of_result<R: AsRef<RunResults>>(newest: &RunResult, runs: &[R]) -> ResultHistory {
    let same = |it: &&RunResult| it.result == newest.result && it.metric == newest.metric;
    let found = |(at, run): (usize, &R)| Some((at, run.as_ref().results.iter().find(same)?.clone()));
    let found: Vec<(usize, RunResult)> = runs.iter().enumerate().filter_map(found).collect();
    let points = found.iter().map(|(at, result)| (*at, result.value)).collect();
    let usable: Vec<(usize, f64)> = found
        .iter()
        .filter(|(_, result)| !result.disturbed)
        .map(|(at, result)| (*at, result.value.estimate))
        .collect();
    let values: Vec<f64> = usable.iter().map(|(_, value)| *value).collect();
    let course = stats::history::course(&values);
    let (levels, drift) = match course {
        Some(Course::Levels(levels)) => (levels, None),
        Some(Course::Drift { first, last }) => (whole(&values), Some(last / first)),
        None => (Vec::new(), None),
    };
    let expected = levels.last().filter(|_| drift.is_none()).and_then(|level| {
        let is_earlier = |(at, _): &&(usize, f64)| at + 1 < runs.len();
        let earlier: Vec<f64> =
            usable[level.start..level.end].iter().filter(is_earlier).map(|(_, value)| *value).collect();
        stats::history::next(&earlier)?.range(CONFIDENCE).map(compare::named)
    });
    let level = |it: &levels::Level| RunLevel {
        first: usable[it.start].0,
        last: usable[it.end - 1].0,
        value: it.value,
    };
    ResultHistory {
        newest: newest.clone(),
        points,
        levels: levels.iter().map(level).collect(),
        drift,
        expected,
    }
}

fn whole(values: &[f64]) -> Vec<levels::Level> {
    let value = stats::describe::median(values);
    value.map(|value| levels::Level { start: 0, end: values.len(), value }).into_iter().collect()
}

#[must_use]
pub fn newly_worse<R: AsRef<RunResults>>(runs: &[R]) -> Vec<RunLevelShift> {
    let Some((newest, earlier)) = runs.split_last() else { return Vec::new() };
    let same = |one: &RunResult, other: &RunResult| one.result == other.result && one.metric == other.metric;
    let before: Vec<ResultHistory> =
        newest.as_ref().results.iter().map(|result| of_result(result, earlier)).collect();
    let now = history(runs);
    let shifts = now.iter().filter_map(|it| {
        let (place, levels) = worse(it)?;
        let known = before.iter().find(|known| same(&known.newest, &it.newest)).and_then(worse);
        // The detected position of a shift may move slightly as runs are added.
        let is_new = known.is_none_or(|(known, _)| known.abs_diff(place) >= levels::FEWEST);
        is_new.then(|| RunLevelShift {
            result: it.newest.result.clone(),
            metric: it.newest.metric,
            before: levels[0].value,
            after: levels[1].value,
            since: runs[place].as_ref().run.clone(),
        })
    });
    shifts.collect()
}

fn worse(history: &ResultHistory) -> Option<(usize, [RunLevel; 2])> {
    let [.., before, after] = history.levels[..] else { return None };
    let more = history.newest.metric.more_is_better()?;
    ((after.value < before.value) == more).then_some((after.first, [before, after]))
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::{analyse, fixtures::egress};

    fn runs(shares: &[f64]) -> Vec<Arc<RunResults>> {
        let first = run_results(&egress(6).record);
        let at = |share: &f64| {
            let mut run = first.clone();
            for result in &mut run.results {
                result.value.estimate *= share;
            }
            Arc::new(run)
        };
        shares.iter().map(at).collect()
    }

    #[test]
    fn result_has_the_same_value_as_in_its_report() {
        let record = egress(6).record;
        let (results, findings) = (run_results(&record).results, analyse(&record));
        let reported: Vec<_> =
            findings.results.iter().map(|result| (&result.id, result.metric, result.value)).collect();
        let kept: Vec<_> = results.iter().map(|it| (&it.result, it.metric, it.value)).collect();
        assert!(kept.len() > 1);
        assert_eq!(kept, reported);
    }

    #[test]
    fn lasting_change_is_a_shift_at_its_first_run() {
        let shares = [1.0, 1.01, 0.99, 1.0, 1.02, 0.98, 0.7, 0.71, 0.69, 0.7, 0.72, 0.7];
        for history in history(&runs(&shares)) {
            let edges: Vec<_> = history.levels.iter().map(|level| (level.first, level.last)).collect();
            assert_eq!(edges, [(0, 5), (6, 11)], "{}", history.newest.result);
            assert!((history.levels[1].value / history.levels[0].value - 0.7).abs() < 0.02);
        }
    }

    #[test]
    fn reports_each_shift_for_the_worse_once() {
        let shares: Vec<f64> = (0..24).map(|run| if run < 12 { 1.0 } else { 0.7 }).collect();
        let all =
            runs(&shares.iter().enumerate().map(|(at, share)| jittered(at, *share)).collect::<Vec<_>>());
        let new: Vec<usize> =
            (1..=all.len()).filter(|so_far| !newly_worse(&all[..*so_far]).is_empty()).collect();
        assert!(new.len() == 1 && (13..=20).contains(&new[0]), "{new:?}");
        let shifts = newly_worse(&all[..new[0]]);
        assert!(shifts.iter().all(|shift| shift.metric.more_is_better() == Some(true)), "{shifts:?}");
        assert!(shifts.iter().all(|shift| (shift.after / shift.before - 0.7).abs() < 0.02), "{shifts:?}");
        assert!(newly_worse::<Arc<RunResults>>(&[]).is_empty());
    }

    #[test]
    fn disturbed_runs_make_no_level() {
        let shares: Vec<f64> = (0..18).map(|at| jittered(at, if at < 12 { 1.0 } else { 0.6 })).collect();
        let mut all = runs(&shares);
        assert!(history(&all).iter().all(|it| it.levels.len() == 2));
        for run in &mut all[12..] {
            Arc::make_mut(run).results.iter_mut().for_each(|result| result.disturbed = true);
        }
        assert!(history(&all).iter().all(|it| it.levels.len() == 1 && it.points.len() == 18));
        assert!((13..=18).all(|so_far| newly_worse(&all[..so_far]).is_empty()));
    }

    #[test]
    fn loss_of_five_percent_is_new_within_five_runs() {
        let shares: Vec<f64> = (0..30).map(|at| jittered(at, if at < 25 { 1.0 } else { 0.95 })).collect();
        let all = runs(&shares);
        assert!((26..=30).any(|so_far| !newly_worse(&all[..so_far]).is_empty()));
    }

    #[test]
    fn newest_run_has_an_expected_range_and_a_drift_has_none() {
        let steady: Vec<f64> = (0..12).map(|at| jittered(at, 1.0)).collect();
        for it in history(&runs(&steady)) {
            let (expected, value) = (it.expected.expect("eleven earlier runs"), it.newest.value.estimate);
            assert!(expected.low < value && value < expected.high, "{expected:?} {value}");
            assert!(expected.high / expected.low < 1.15, "{expected:?}");
        }
        let drifting: Vec<f64> = (0..30).map(|at| jittered(at, 1.0 - 0.01 * at as f64)).collect();
        for it in history(&runs(&drifting)) {
            let drift = it.drift.expect("it falls by a third");
            assert!((drift - 0.7).abs() < 0.06 && it.levels.len() == 1 && it.expected.is_none(), "{it:?}");
        }
    }

    fn jittered(at: usize, share: f64) -> f64 {
        share * [1.0, 1.01, 0.99, 1.0, 1.02, 0.98][at % 6]
    }

    #[test]
    fn runs_without_the_result_are_ignored() {
        let mut runs = runs(&[1.0; 12]);
        let lacking = Arc::make_mut(&mut runs[3]);
        let gone = lacking.results.remove(0).result;
        let all = history(&runs);
        let found = all.iter().find(|it| it.newest.result == gone).expect("the newest run has it");
        let places: Vec<usize> = found.points.iter().map(|(at, _)| *at).collect();
        assert_eq!(places, [0, 1, 2, 4, 5, 6, 7, 8, 9, 10, 11]);
        assert_eq!((found.levels[0].first, found.levels[0].last), (0, 11));
        assert!(history::<Arc<RunResults>>(&[]).is_empty());
    }
}
