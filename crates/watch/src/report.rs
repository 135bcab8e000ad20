//! The report of a measurement, as a line of text and as a document for programs.

use findings::{ComparisonVerdict, Estimate, Gate, GateOutcome, ResultComparison, RunLevelShift, RunResult};
use jiff::Timestamp;
use report::{Scale, result_label};
use samples::RunId;
use serde::Serialize;
use strum::{IntoStaticStr, VariantArray};
use units::Bytes;
use workload::Metric;

use crate::{archive::Standing, state::Alert};

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, IntoStaticStr, VariantArray)]
#[serde(rename_all = "kebab-case")]
#[strum(serialize_all = "kebab-case")]
pub enum Verdict {
    First,
    /// No result regressed by more than the limit.
    Passed,
    Skipped,
    Undecided,
    Failed,
    Regressed,
}

impl Verdict {
    #[must_use]
    pub fn word(self) -> &'static str {
        self.into()
    }
}

#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct MeasurementReport {
    pub at: String,
    pub scenario: String,
    pub verdict: Verdict,
    pub alert: Option<Alert>,
    pub run: Option<RunId>,
    pub reference: Option<RunId>,
    pub results: Vec<MeasuredResult>,
    pub comparison: Option<ComparisonVerdict>,
    pub gate: Option<Gate>,
    pub level_shifts: Vec<RunLevelShift>,
    pub bytes: Option<Bytes>,
    /// Payload sent today (UTC) by all runs of the plan's scenarios.
    pub bytes_today: Bytes,
    pub budget: Option<Bytes>,
    pub reason: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct MeasuredResult {
    pub result: String,
    pub label: String,
    pub metric: Metric,
    pub value: Estimate,
    /// Ratio of this value to the reference run's.
    pub ratio: Option<f64>,
}

impl MeasurementReport {
    pub fn new(at: Timestamp, scenario: &str, budget: Option<Bytes>) -> Self {
        Self {
            at: at.strftime("%Y-%m-%dT%H:%M:%SZ").to_string(),
            scenario: scenario.to_owned(),
            verdict: Verdict::Failed,
            alert: None,
            run: None,
            reference: None,
            results: Vec::new(),
            comparison: None,
            gate: None,
            level_shifts: Vec::new(),
            bytes: None,
            bytes_today: Bytes(0),
            budget,
            reason: None,
        }
    }

    pub fn of_run(self, run: RunId, standing: &Standing, alert: Option<Alert>) -> Self {
        let compared = standing.compared.as_ref();
        let results = compared.map_or(&[][..], |comparison| &comparison.results);
        let gate = compared.and_then(|comparison| comparison.gate.as_ref());
        Self {
            verdict: gate.map_or(Verdict::First, |gate| match gate.outcome {
                GateOutcome::Passed => Verdict::Passed,
                GateOutcome::Regressed => Verdict::Regressed,
                GateOutcome::Undecided => Verdict::Undecided,
            }),
            alert,
            run: Some(run),
            reference: compared.map(|comparison| comparison.a.id.clone()),
            results: standing.stored.results.results.iter().map(|result| measured(result, results)).collect(),
            comparison: compared.map(|comparison| comparison.verdict.clone()),
            gate: gate.cloned(),
            level_shifts: standing.shifts.clone(),
            bytes: Some(standing.stored.bytes),
            ..self
        }
    }

    pub fn without_results(self, verdict: Verdict, reason: String) -> Self {
        Self { verdict, reason: Some(reason), ..self }
    }

    pub fn lines(&self) -> Vec<String> {
        let head = format!("{}  {}", self.at.replace('T', " ").trim_end_matches('Z'), self.scenario);
        let shown = self.headline().map(MeasuredResult::text).into_iter();
        let against = self.reference.iter().map(|run| format!("against {run}"));
        let line = shown.chain(against).collect::<Vec<_>>().join(" ");
        let line = if line.is_empty() { self.outcome() } else { format!("{line}: {}", self.outcome()) };
        let alert = self.alert.map(|alert| format!("{head}  {}", self.alerted(alert)));
        [format!("{head}  {line}")].into_iter().chain(alert).collect()
    }

    fn failed(&self) -> Vec<String> {
        self.gate.as_ref().map(Gate::failed).unwrap_or_default()
    }

    fn headline(&self) -> Option<&MeasuredResult> {
        let failed = self.failed();
        let first = self.results.iter().find(|result| Some(&result.result) == failed.first());
        first.or(self.results.first())
    }

    fn outcome(&self) -> String {
        let reason = self.reason.as_deref().unwrap_or_default();
        let others = self.failed().len().saturating_sub(1);
        match self.verdict {
            Verdict::First => "first run, nothing to compare with yet".to_owned(),
            Verdict::Passed => "passed".to_owned(),
            Verdict::Skipped => format!("skipped: {reason}"),
            Verdict::Undecided => match self.gate.as_ref().and_then(|gate| gate.undecided.first()) {
                Some(open) => format!("inconclusive for {}: {}", open.result, open.reason),
                None => "inconclusive".to_owned(),
            },
            Verdict::Failed => format!("failed: {reason}"),
            Verdict::Regressed => {
                let more = if others > 0 { format!(" (and {others} more)") } else { String::new() };
                let guarded = self.gate.as_ref().and_then(|gate| gate.violations.first());
                let guarded = guarded.map(|it| format!("; {}: {}", it.result, it.summary));
                format!("regressed{more}{}", guarded.unwrap_or_default())
            }
        }
    }

    fn alerted(&self, alert: Alert) -> String {
        match (alert, &self.level_shifts[..]) {
            (Alert::Regression, _) => format!("alert: regression in {}", self.failed().join(", ")),
            (Alert::Recovered, _) => "recovered: no regressions left".to_owned(),
            (Alert::Failed, _) => match &self.run {
                Some(run) => format!("alert: incomplete measurement: run {run}"),
                None => "alert: measurement failed".to_owned(),
            },
            (Alert::LevelShift, shifts) => {
                let parts: Vec<String> = shifts.iter().map(shift).collect();
                format!("alert: level shift in {}", parts.join("; "))
            }
        }
    }
}

fn measured(result: &RunResult, compared: &[ResultComparison]) -> MeasuredResult {
    let is_it =
        |other: &&ResultComparison| other.result_b.as_ref().unwrap_or(&other.result) == &result.result;
    let comparison = compared.iter().find(is_it).and_then(|other| other.comparison.as_ref());
    MeasuredResult {
        result: result.result.clone(),
        label: result_label(&result.path, &result.levels, &result.workload),
        metric: result.metric,
        value: result.value,
        ratio: comparison.map(|comparison| comparison.ratio),
    }
}

impl MeasuredResult {
    /// Formats e.g. `node-to-node, throughput 25.6 Gbit/s (24.9 to 26.1), +1.2 %`.
    fn text(&self) -> String {
        let scale = Scale::of(self.metric, self.value.estimate);
        let interval = self.value.interval.as_ref().map(|it| format!(" ({})", scale.range(it)));
        let change = self.ratio.map(|ratio| format!(", {}", findings::change(ratio)));
        let value = scale.quantity(self.value.estimate);
        format!("{} {value}{}{}", self.label, interval.unwrap_or_default(), change.unwrap_or_default())
    }
}

/// Formats e.g. `a/b/bulk: 12.4 to 10.1 Gbit/s since quick-20261125-010003`.
fn shift(shift: &RunLevelShift) -> String {
    let scale = Scale::of(shift.metric, shift.before);
    let (before, after) = (scale.number(shift.before), scale.quantity(shift.after));
    format!("{}: {before} to {after} since {}", shift.result, shift.since)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use findings::Interval;

    use super::*;

    fn report(verdict: Verdict) -> MeasurementReport {
        let at = Timestamp::from_second(1_795_600_800).expect("a time");
        let result = RunResult {
            result: "wire/bulk".into(),
            path: "wire".into(),
            workload: "bulk".into(),
            levels: BTreeMap::new(),
            metric: Metric::Throughput,
            disturbed: false,
            value: Estimate {
                estimate: 9.4e9,
                mean: 9.4e9,
                deviation: None,
                interval: Some(Interval { low: 9.2e9, high: 9.6e9, confidence: 0.95 }),
                trials: 8,
                outages: 0,
                basis: findings::Basis::Trials,
            },
        };
        let result = MeasuredResult { ratio: Some(0.97), ..measured(&result, &[]) };
        let reference = Some(RunId("small-1".into()));
        let report = MeasurementReport::new(at, "small", None);
        MeasurementReport { verdict, reference, results: vec![result], ..report }
    }

    fn check(report: &MeasurementReport, ends: &[&str]) {
        let lines = report.lines();
        assert_eq!(lines.len(), ends.len(), "{lines:?}");
        for (line, end) in lines.iter().zip(ends) {
            assert!(line.starts_with("2026-11-25 10:00:00  small  ") && line.ends_with(end), "{line}");
        }
    }

    #[test]
    fn prints_result_interval_and_verdict() {
        check(&report(Verdict::Passed), &["9.40 Gbit/s (9.20 to 9.60), −3.0 % against small-1: passed"]);
        let gate = Gate {
            threshold: 0.05,
            guard_limits: findings::GuardLimits::default(),
            outcome: GateOutcome::Regressed,
            regressions: vec!["wire/bulk".to_owned(), "wire/ping".to_owned()],
            tolerated: Vec::new(),
            violations: Vec::new(),
            undecided: Vec::new(),
        };
        let alert = Some(Alert::Regression);
        let lost = MeasurementReport { gate: Some(gate), alert, ..report(Verdict::Regressed) };
        check(&lost, &["small-1: regressed (and 1 more)", "alert: regression in wire/bulk, wire/ping"]);
        let shift = RunLevelShift {
            result: "wire/bulk".into(),
            metric: Metric::Throughput,
            before: 9.4e9,
            after: 8.1e9,
            since: RunId("small-1".into()),
        };
        let alert = Some(Alert::LevelShift);
        let shifted = MeasurementReport { level_shifts: vec![shift], alert, ..report(Verdict::Undecided) };
        check(&shifted, &["inconclusive", "level shift in wire/bulk: 9.40 to 8.10 Gbit/s since small-1"]);
    }

    #[test]
    fn failed_measurement_has_reason() {
        let none = MeasurementReport { results: Vec::new(), reference: None, ..report(Verdict::Failed) };
        let left_out = none.clone().without_results(Verdict::Skipped, "no room".into());
        check(&left_out, &["small  skipped: no room"]);
        check(&none.without_results(Verdict::Failed, "no route".into()), &["small  failed: no route"]);
    }

    #[test]
    fn document_and_metrics_use_same_verdicts() {
        for verdict in Verdict::VARIANTS.iter().copied() {
            let document = serde_json::to_value(report(verdict)).expect("it can be written");
            assert_eq!(document["verdict"], verdict.word());
        }
    }
}
