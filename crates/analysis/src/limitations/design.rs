//! Limitations due to the design of a run: the time budget was used up, or CPU time is missing.

use std::collections::BTreeMap;

use samples::{Design, EndReason, Objective, RunRecord};

use crate::words::{count, list, percent};

pub(super) fn limitations(record: &RunRecord) -> Vec<String> {
    out_of_time(record).into_iter().chain(without_cpu(record)).collect()
}

/// If the CPU time of a competing result is unknown, results are ranked by value only.
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
