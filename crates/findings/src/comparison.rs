//! Comparison of two runs' environments and results.

use std::collections::BTreeMap;

use samples::RunId;
use schemars::JsonSchema;
use serde::Serialize;
use workload::{GuardedMetric, Metric};

use crate::{
    comparison_verdict::{ComparisonVerdict, GuardChange, Verdict},
    document::RunSummary,
    estimate::{Comparison, Estimate, Interval},
    result::{label_in_workload, result_label},
};

/// Readers reject other versions.
pub const COMPARISON_SCHEMA: u32 = 1;

/// Run B relative to run A, the reference.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct RunComparison {
    /// [`COMPARISON_SCHEMA`] at the time of writing.
    pub schema: u32,
    /// The answer, derived from the fields below.
    pub verdict: ComparisonVerdict,
    /// The outcome of `plumb check`. `None` if no limits were given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gate: Option<Gate>,
    pub a: RunSummary,
    pub b: RunSummary,
    /// Differences between the environments, the most significant first.
    pub environment_changes: Vec<EnvironmentChange>,
    /// Runs used to estimate the noise between runs, oldest first: A, and other runs of the same scenario in the same
    /// environment. Empty if no runs were looked up.
    pub history: Vec<RunId>,
    /// Results in both runs, in A's order.
    pub results: Vec<ResultComparison>,
    pub only_a: Vec<String>,
    pub only_b: Vec<String>,
    /// Limitations, as full sentences.
    pub limitations: Vec<String>,
}

impl RunComparison {
    /// Omits the workload if all results share it, unless the name would then be empty.
    #[must_use]
    pub fn label(&self, result: &ResultComparison) -> String {
        let ResultComparison { path, levels, workload, .. } = result;
        if self.results.iter().all(|other| other.workload == *workload) {
            label_in_workload(path, levels, workload)
        } else {
            result_label(path, levels, Some(workload))
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct EnvironmentChange {
    /// E.g. `kernel`, `congestion control`, `scenario`, `offload tx-tcp-segmentation of client:eth0`.
    pub property: String,
    pub a: String,
    pub b: String,
    /// Whether this change alone could explain a difference in the results.
    pub important: bool,
}

#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct ResultComparison {
    /// Identifier in A.
    pub result: String,
    /// Identifier in B, if it differs from A's.
    pub result_b: Option<String>,
    pub path: String,
    pub workload: String,
    pub levels: BTreeMap<String, String>,
    /// The metric used for the verdict.
    pub metric: Metric,
    pub a: Estimate,
    pub b: Estimate,
    /// B relative to A. `None` if the ratio is undefined.
    pub comparison: Option<Comparison>,
    /// Relative noise between two runs. Smaller differences do not count. This is the larger of the assumed noise and
    /// the noise estimated from other runs, or a tolerance if there are too few trials. `None` if A and B cannot be
    /// compared.
    pub floor: Option<f64>,
    /// With the verdict `same`, any difference is at most this. `None` if earlier runs or a tolerance decide the verdict.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub same_within: Option<f64>,
    /// Noise estimated from other runs of the scenario. `None` if there are too few.
    pub between_runs: Option<BetweenRuns>,
    /// P-value of the difference. `None` if there are too few trials. A tolerance then decides the verdict.
    ///
    /// The trials are compared with a rank permutation test and with Student's t-test on the logarithms. Each p-value
    /// is divided by the test's fraction of the error rate, and the smaller one is adjusted for the number of results
    /// (Benjamini and Hochberg). The result is never below the rank test's own p-value. If the noise between runs is
    /// known, it is also never below the adjusted p-value of Student's test of the ratio against that noise.
    pub p: Option<f64>,
    /// If other processes used the CPUs during most trials, names the run and these processes. The verdict is then
    /// unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub disturbed: Option<String>,
    pub verdict: Verdict,
    /// Explains an unknown verdict, or a `same` with a wide interval, in one sentence.
    pub reason: Option<String>,
    /// Guarded metrics that both runs recorded.
    #[serde(default)]
    pub guards: Vec<GuardComparison>,
}

/// A guarded metric of a result in both runs. Lower is better.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct GuardComparison {
    pub metric: GuardedMetric,
    pub a: BoundedValue,
    pub b: BoundedValue,
    /// B relative to A: the ratio of times, or the difference of fractions.
    pub change: BoundedValue,
    /// `same` means that the measured change is within a gate's default limits. The true change may be larger.
    pub verdict: Verdict,
    /// The change in one sentence.
    pub summary: String,
}

/// A value with its 95 % confidence interval. A bound is `None` if there are too few trials or messages.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, JsonSchema)]
pub struct BoundedValue {
    pub value: f64,
    pub low: Option<f64>,
    pub high: Option<f64>,
}

/// The largest increases in guarded metrics that pass a gate.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, JsonSchema)]
pub struct GuardLimits {
    /// Relative increase in the 99th percentile (0.5 is 50 %).
    pub p99: f64,
    /// Increase in packet loss, the retransmit rate or failed connections (0.005 is half a percentage point).
    pub packet_loss: f64,
    /// Increase in the fraction of time without traffic (0.01 is one percentage point). A trial without any traffic
    /// always fails.
    pub outage: f64,
}

impl Default for GuardLimits {
    fn default() -> Self {
        Self { p99: 0.5, packet_loss: 0.005, outage: 0.01 }
    }
}

impl GuardLimits {
    #[must_use]
    pub const fn of(&self, metric: GuardedMetric) -> f64 {
        match metric {
            GuardedMetric::P99 => 1.0 + self.p99,
            GuardedMetric::PacketLoss | GuardedMetric::RetransmitRate | GuardedMetric::ConnectionFailures => {
                self.packet_loss
            }
            GuardedMetric::Outage => self.outage,
        }
    }
}

/// Noise between runs of the scenario, for one result.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, JsonSchema)]
pub struct BetweenRuns {
    /// Largest difference between a run and the reference that noise explains at 95 % confidence (0.02 is 2 %).
    pub floor: f64,
    pub runs: u32,
    /// Prediction interval for B, from all runs at A's level. B is compared with the interval's middle, or with A if
    /// there are too few such runs (`None`).
    #[serde(default)]
    pub expected: Option<Interval>,
}

#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Gate {
    /// Regressions beyond this fraction fail (0.05 is 5 %).
    pub threshold: f64,
    /// Changes of guarded metrics beyond these limits fail.
    pub guard_limits: GuardLimits,
    pub outcome: GateOutcome,
    /// Results with an established regression beyond the threshold, the largest first.
    pub regressions: Vec<String>,
    /// Results that became worse by less than the threshold.
    pub tolerated: Vec<String>,
    /// Guarded metrics that clearly exceed their limits. Each summary includes the limit.
    pub violations: Vec<GuardChange>,
    /// Results for which the gate is undecided, with the reasons.
    pub undecided: Vec<OpenQuestion>,
}

impl Gate {
    #[must_use]
    pub fn failed(&self) -> Vec<String> {
        let mut failed = self.regressions.clone();
        for violation in &self.violations {
            if !failed.contains(&violation.result) {
                failed.push(violation.result.clone());
            }
        }
        failed
    }

    /// Returns the outcome for one result, and the reasons as full sentences.
    #[must_use]
    pub fn of(&self, result: &str) -> (GateOutcome, Vec<&str>) {
        let violations =
            self.violations.iter().filter(|it| it.result == result).map(|it| it.summary.as_str());
        let undecided = self.undecided.iter().filter(|it| it.result == result).map(|it| it.reason.as_str());
        let reasons: Vec<&str> = violations.chain(undecided).collect();
        let outcome = if self.failed().iter().any(|failed| failed == result) {
            GateOutcome::Regressed
        } else if reasons.is_empty() {
            GateOutcome::Passed
        } else {
            GateOutcome::Undecided
        };
        (outcome, reasons)
    }
}

/// A result for which the gate is undecided.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct OpenQuestion {
    pub result: String,
    /// The reason, in one sentence.
    pub reason: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum GateOutcome {
    /// For every result, a regression beyond the threshold is ruled out.
    Passed,
    /// A regression is established.
    Regressed,
    /// No regression is established, but at least one result may have one.
    Undecided,
}
