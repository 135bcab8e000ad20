//! Compares the steps of the cost breakdown in single runs with the result of several runs.

use std::collections::BTreeMap;

use serde_json::Value;

const LARGE: f64 = 0.2;

pub(crate) struct Step {
    ratio: f64,
    low: f64,
    high: f64,
    verdict: String,
}

pub(crate) type Steps = BTreeMap<String, Step>;

pub(crate) fn of(findings: &Value) -> Steps {
    let mut steps = Steps::new();
    for breakdown in findings["cost_breakdowns"].as_array().expect("a list") {
        for step in breakdown["steps"].as_array().expect("a list") {
            let (cost, below) = (&step["cost"], &step["below"]);
            let Some(ratio) = cost["ratio"].as_f64() else { continue };
            let interval = |end: &str| cost["ratio_interval"][end].as_f64().unwrap_or(f64::NAN);
            let verdict = cost["verdict"].as_str().expect("a word").to_owned();
            let name = format!("{} {} over {below}", breakdown["workload"], step["path"]).replace('"', "");
            let _ = steps.insert(name, Step { ratio, low: interval("low"), high: interval("high"), verdict });
        }
    }
    steps
}

pub(crate) fn pooled(quiet: &[Steps]) -> BTreeMap<String, f64> {
    let mut ratios: BTreeMap<String, Vec<f64>> = BTreeMap::new();
    for (name, step) in quiet.iter().flatten() {
        ratios.entry(name.clone()).or_default().push(step.ratio);
    }
    let median = |mut all: Vec<f64>| {
        all.sort_by(f64::total_cmp);
        all[all.len() / 2]
    };
    ratios.into_iter().map(|(name, all)| (name, median(all))).collect()
}

#[derive(Debug, Default)]
pub(crate) struct Agreement {
    pub(crate) runs: usize,
    /// The number of intervals that contain the undisturbed value.
    pub(crate) covered: usize,
    pub(crate) intervals: usize,
    pub(crate) complete: usize,
    pub(crate) missed: Vec<String>,
    pub(crate) reversed: Vec<String>,
}

impl Agreement {
    pub(crate) fn of(runs: &[Steps], quiet: &BTreeMap<String, f64>) -> Self {
        let mut agreement = Self { runs: runs.len(), ..Self::default() };
        for run in runs {
            let mut complete = true;
            for (name, step) in run {
                let Some(truth) = quiet.get(name) else { continue };
                if step.low.is_finite() {
                    agreement.intervals += 1;
                    agreement.covered += usize::from(step.low <= *truth && *truth <= step.high);
                }
                let (same, reverse) = if *truth < 1.0 { ("lower", "higher") } else { ("higher", "lower") };
                if (truth - 1.0).abs() < LARGE {
                    continue;
                }
                if step.verdict != same {
                    complete = false;
                    let Step { ratio, low, high, verdict } = step;
                    agreement.missed.push(format!("{name}: {verdict}, {ratio:.3}x ({low:.3} to {high:.3})"));
                }
                if step.verdict == reverse {
                    agreement.reversed.push(format!("{name}: {:.3}x instead of {truth:.3}x", step.ratio));
                }
            }
            agreement.complete += usize::from(complete);
        }
        agreement
    }
}
