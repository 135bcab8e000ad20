//! Limitations caused by the design of a run: results that ran out of time, and large numbers of comparisons.

use std::collections::{BTreeMap, BTreeSet};

use findings::{Basis, Difference, Findings};
use samples::{Design, EndReason, Objective, RunRecord};

use crate::{
    judged::{self, Judged},
    words::{count, list, percent},
};

/// Upper bound of the false-alarm rate of a comparison. A test in `stats` checks it.
const FALSE_ALARMS: f64 = 0.05;
/// A smaller fraction of chance findings is not misleading.
const MUCH_CHANCE: f64 = 0.2;

pub(super) fn limitations(record: &RunRecord, findings: &Findings) -> Vec<String> {
    out_of_time(record).into_iter().chain(without_cpu(record)).chain(many_comparisons(findings)).collect()
}

/// Unless CPU time is known for all competing results, the design ranks them by value only.
fn without_cpu(record: &RunRecord) -> Option<String> {
    let design = &record.header.design;
    if !design.is_adaptive() || design.until_clear || design.objective == Objective::Max {
        return None;
    }
    let mut known: BTreeMap<(&str, &str), bool> = BTreeMap::new();
    for trial in &record.trials {
        let Some(result) = record.header.results.iter().find(|result| result.id == trial.result) else {
            continue;
        };
        *known.entry((&result.workload, &result.path)).or_default() |= trial.cpu.machine.elapsed.0 > 0;
    }
    known.values().any(|known| !known).then(|| {
        "CPU time was not recorded for every comparison; without it, trials were chosen by value, not by the \
         requested objective."
            .to_owned()
    })
}

fn out_of_time(record: &RunRecord) -> Option<String> {
    let is_over = |reason: &EndReason| matches!(reason, EndReason::Budget { .. });
    let ended: Vec<&str> =
        record.ends.iter().filter(|end| is_over(&end.reason)).map(|end| end.result.as_str()).collect();
    let goal = match record.header.design {
        Design { until_clear: true, .. } => "every comparison with it was decided".to_owned(),
        Design { precision: Some(precision), .. } => {
            format!("its interval was within the requested {}", percent(precision))
        }
        Design { .. } => "all of its trials were run".to_owned(),
    };
    (!ended.is_empty()).then(|| {
        format!(
            "The time budget was used up before {} of {} had enough trials, i.e. before {goal}: {}.",
            ended.len(),
            count(record.header.results.len(), "result"),
            list(&ended)
        )
    })
}

/// With few blocks, a correction for multiple comparisons would leave nothing significant, so the expected number of
/// false discoveries is reported instead (Benjamini and Hochberg, Journal of the Royal Statistical Society B 57,
/// 1995).
fn many_comparisons(findings: &Findings) -> Option<String> {
    let all = comparisons(findings);
    let found = all.iter().filter(|(_, _, is_found)| *is_found).count();
    let chance = FALSE_ALARMS * all.len() as f64;
    (found > 0 && chance >= 1.0 && chance > MUCH_CHANCE * found as f64).then(|| {
        format!(
            "{} were tested individually, each with a false-positive rate of up to {}: of the {} found, up to {} \
             may be due to chance.",
            count(all.len(), "comparison"),
            percent(FALSE_ALARMS),
            count(found, "difference"),
            (chance.floor() as usize).min(found)
        )
    })
}

fn comparisons(findings: &Findings) -> BTreeSet<(&str, &str, bool)> {
    judged::all(findings).filter_map(judged).collect()
}

fn judged<'a>(judged: Judged<'a>) -> Option<(&'a str, &'a str, bool)> {
    let Judged { result, reference, comparison } = judged;
    let found = matches!(comparison.verdict, Difference::Lower | Difference::Higher);
    let could = found || comparison.verdict == Difference::None;
    (could && comparison.basis == Basis::Trials).then_some((result, reference, found))
}
