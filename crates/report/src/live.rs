//! Interim results and findings of a run in progress, on one line each.

use findings::{Comparison, Difference, Findings, Interval, ResultSummary, SEVERAL, Severity};

use crate::{harmless::in_a_line, phrases, quantity::Scale, text::Tone};

#[derive(Debug, Clone, PartialEq)]
pub struct LiveResult {
    pub result: String,
    pub trials: u32,
    pub value: String,
    /// The interval, e.g. `9.20 to 9.60`. `None` while there are too few trials.
    pub range: Option<String>,
    pub estimate: f64,
    pub ends: Option<(f64, f64)>,
    /// The change from the workload's baseline. `None` for the baseline itself.
    pub step: Option<LiveStep>,
    pub has_warnings: bool,
}

#[derive(Debug, Clone, PartialEq)]
pub struct LiveStep {
    pub change: String,
    /// The interval of the change in the same unit, e.g. `−22.0 to −17.1`. `None` while there are too few trials.
    pub range: Option<String>,
    pub judgement: Judgement,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Judgement {
    Better,
    Worse,
    Different,
    NotSignificant,
    Unclear,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LiveFinding {
    pub severity: Severity,
    pub text: String,
}

#[must_use]
pub fn live_results(findings: &Findings) -> Vec<LiveResult> {
    findings.results.iter().map(result).collect()
}

#[must_use]
pub fn live_findings(findings: &Findings) -> Vec<LiveFinding> {
    let phrase = |finding: &findings::Finding| LiveFinding {
        severity: finding.severity,
        text: in_a_line(&finding.sentence.to_string()),
    };
    findings.findings.iter().map(phrase).collect()
}

fn result(result: &ResultSummary) -> LiveResult {
    let value = &result.value;
    let scale = Scale::of(result.metric, value.estimate);
    LiveResult {
        result: result.id.clone(),
        trials: value.trials,
        value: scale.quantity(value.estimate),
        range: value.interval.as_ref().map(|interval| scale.range(interval)),
        estimate: value.estimate,
        ends: value.interval.map(|interval| (interval.low, interval.high)),
        step: result.against_baseline.as_ref().map(|comparison| step(result, comparison)),
        has_warnings: !result.warnings.is_empty(),
    }
}

fn step(result: &ResultSummary, comparison: &Comparison) -> LiveStep {
    let range = |interval: &Interval| match comparison.ratio < SEVERAL {
        true => {
            let change = Interval { low: interval.low - 1.0, high: interval.high - 1.0, ..*interval };
            Scale::CHANGE.signed_range(&change)
        }
        false => Scale::times(comparison.ratio).range(interval),
    };
    let judgement = match (comparison.verdict, phrases::tone(result.metric, comparison)) {
        (_, Tone::Good) => Judgement::Better,
        (_, Tone::Bad) => Judgement::Worse,
        (Difference::None, _) => Judgement::NotSignificant,
        (Difference::Unclear, _) => Judgement::Unclear,
        _ => Judgement::Different,
    };
    LiveStep {
        change: findings::change(comparison.ratio),
        range: comparison.ratio_interval.as_ref().map(range),
        judgement,
    }
}
