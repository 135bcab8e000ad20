//! Hand-written comparisons: the egress gateway before and after a kernel update, and a log with a run.

use findings::{
    Basis, BetweenRuns, BoundedValue, COMPARISON_SCHEMA, Comparison, ComparisonConclusion, ComparisonVerdict,
    Difference, EnvironmentChange, Estimate, Gate, GateOutcome, GuardChange, GuardComparison, GuardLimits,
    GuardedMetric, Interval, OpenQuestion, ResultChange, ResultComparison, ResultSummary, RunComparison,
    RunSummary, Verdict, VerdictCount,
};
use samples::{RunId, UnixMillis};

use super::{
    results::{comparison, estimate, ping_pong, stream},
    run,
};

const P99_ROSE: &str = "The 99th percentile rose from 116 µs to 412 µs (3.55x, at least 3.21x).";

fn guards() -> Vec<GuardComparison> {
    let bounded = |value: f64, low: f64, high: Option<f64>| BoundedValue { value, low: Some(low), high };
    vec![
        GuardComparison {
            metric: GuardedMetric::P99,
            a: bounded(116e3, 112e3, Some(121e3)),
            b: bounded(412e3, 390e3, None),
            change: bounded(3.55, 3.21, None),
            verdict: Verdict::Worse,
            summary: P99_ROSE.into(),
        },
        GuardComparison {
            metric: GuardedMetric::PacketLoss,
            a: bounded(0.0001, 0.0, Some(0.0002)),
            b: bounded(0.0001, 0.0, Some(0.0002)),
            change: bounded(0.0, -0.0001, Some(0.0001)),
            verdict: Verdict::Same,
            summary: "The packet loss is 0.01 % in both runs.".into(),
        },
    ]
}

pub(crate) fn run_comparison() -> RunComparison {
    let (a, b) = runs();
    let mut comparison = RunComparison {
        schema: COMPARISON_SCHEMA,
        verdict: ComparisonVerdict::default(),
        gate: None,
        a,
        b,
        environment_changes: vec![
            changed("kernel", "6.12.9", "6.18.0", true),
            changed("offload tx-tcp-segmentation of node1:vxlan0", "on", "off", true),
            changed("load average before", "0.31", "1.20", false),
        ],
        results: vec![
            held(&stream("node-to-node", None, 33.04, None), 0.998, Verdict::Same),
            held(&stream("vxlan-to-vxlan", Some("on"), 19.23, None), 0.871, Verdict::Worse),
            unknown(&stream("vxlan-to-vxlan", Some("off"), 4.61, None)),
            unknown(&stream("pod-to-target", Some("off"), 4.55, None)),
            ResultComparison {
                guards: guards(),
                ..held(&ping_pong("pod-to-target", Some("on"), 77_900.0, None), 0.912, Verdict::Better)
            },
        ],
        history: vec![],
        only_a: vec!["pod-to-target/stream/vxlan-offload=on".into()],
        only_b: vec![],
        limitations: vec!["The two runs were made nine days apart.".into()],
    };
    comparison.verdict = mixed(&comparison, VerdictCount { better: 1, worse: 1, same: 1, unknown: 2 });
    comparison
}

fn mixed(comparison: &RunComparison, results: VerdictCount) -> ComparisonVerdict {
    let change = |result: &ResultComparison| ResultChange {
        result: result.result.clone(),
        label: comparison.label(result),
        verdict: result.verdict,
        change: result.comparison,
    };
    let last = comparison.results.last().expect("it has results");
    ComparisonVerdict {
        conclusion: ComparisonConclusion::Mixed,
        changes: vec![change(&comparison.results[1]), change(last)],
        worse_guards: vec![GuardChange {
            result: last.result.clone(),
            label: comparison.label(last),
            metric: GuardedMetric::P99,
            summary: P99_ROSE.into(),
        }],
        results,
        disturbed: None,
    }
}

pub(crate) fn gated(comparison: RunComparison, gate: Gate) -> RunComparison {
    RunComparison { gate: Some(gate), ..comparison }
}

pub(crate) fn lost() -> Gate {
    Gate {
        threshold: 0.05,
        outcome: GateOutcome::Regressed,
        regressions: vec![run_comparison().results[1].result.clone()],
        tolerated: vec![],
        violations: vec![GuardChange {
            result: run_comparison().results[4].result.clone(),
            label: run_comparison().label(&run_comparison().results[4]),
            metric: GuardedMetric::P99,
            summary: format!("{P99_ROSE} The limit is an increase of 50.0 %."),
        }],
        guard_limits: GuardLimits::default(),
        undecided: [2, 3]
            .map(|place| OpenQuestion {
                result: run_comparison().results[place].result.clone(),
                reason: "B has only 2 trials, too few for an interval".into(),
            })
            .into_iter()
            .chain(missing(&run_comparison()))
            .collect(),
    }
}

pub(crate) fn learned() -> RunComparison {
    let mut comparison = run_comparison();
    comparison.environment_changes.clear();
    comparison.results.retain(|result| result.comparison.is_some());
    let wide = held(&stream("node-to-node", None, 33.04, None), 1.12, Verdict::Same);
    let interval = Some(Interval { low: 0.936, high: 1.312, confidence: 0.94 });
    let wide_ratio = wide.comparison.map(|ratio| Comparison { ratio_interval: interval, ..ratio });
    comparison.results[0] = ResultComparison { comparison: wide_ratio, ..wide };
    let unsteady = "By their trials alone the ratio is 93.60 % to 131.20 %. The same means here that they are no farther apart \
                    than two of the 6 runs of this scenario may be, 22.40 %.";
    for (result, floor) in comparison.results.iter_mut().zip([0.224, 0.031, 0.02]) {
        result.between_runs = Some(BetweenRuns { floor, runs: 6, expected: None });
        result.same_within = None;
        result.floor = Some(floor);
        result.reason = (result.verdict == Verdict::Same).then(|| unsteady.into());
    }
    comparison.verdict = mixed(&comparison, VerdictCount { better: 1, worse: 1, same: 1, unknown: 0 });
    comparison.history = (6..12).map(|day| RunId(format!("egress-gateway-202611{day:02}-113015"))).collect();
    comparison
}

pub(crate) fn hidden() -> Gate {
    let open = learned().results[0].result.clone();
    let reason = "The noise between 6 runs of this scenario, 22.40 %, hides a loss of 5 %.".into();
    let open = OpenQuestion { result: open, reason };
    Gate { undecided: [open].into_iter().chain(missing(&learned())).collect(), ..lost() }
}

pub(crate) fn same() -> RunComparison {
    let (a, b) = runs();
    let single =
        |estimate: Estimate| Estimate { basis: Basis::Intervals, trials: 1, deviation: None, ..estimate };
    let result = held(&stream("node-to-node", None, 33.04, None), 1.004, Verdict::Same);
    let within = Comparison { basis: Basis::Intervals, ..comparison(1.004, 0.1e9, Difference::None) };
    let result =
        ResultComparison { a: single(result.a), b: single(result.b), comparison: Some(within), ..result };
    RunComparison {
        verdict: ComparisonVerdict {
            conclusion: ComparisonConclusion::Same,
            results: VerdictCount { same: 1, ..VerdictCount::default() },
            ..ComparisonVerdict::default()
        },
        gate: None,
        environment_changes: vec![],
        results: vec![result],
        history: vec![],
        only_a: vec![],
        only_b: vec![],
        limitations: vec![],
        a,
        b,
        schema: COMPARISON_SCHEMA,
    }
}

pub(crate) fn nothing_in_common() -> RunComparison {
    let only = |of: &str| (1..9).map(|number| format!("{of}{number}/stream")).collect();
    let verdict = ComparisonVerdict::default();
    RunComparison {
        verdict,
        results: vec![],
        only_a: only("here"),
        only_b: only("there"),
        ..run_comparison()
    }
}

pub(crate) fn inconclusive() -> Gate {
    Gate {
        threshold: 0.05,
        guard_limits: GuardLimits::default(),
        outcome: GateOutcome::Undecided,
        regressions: vec![],
        tolerated: vec![],
        violations: vec![],
        undecided: missing(&nothing_in_common()),
    }
}

fn missing(comparison: &RunComparison) -> Vec<OpenQuestion> {
    let open =
        |result: &String| OpenQuestion { result: result.clone(), reason: "B has no such result.".into() };
    comparison.only_a.iter().map(open).collect()
}

fn runs() -> (RunSummary, RunSummary) {
    let nine_days = 9 * 86_400_000;
    let earlier = RunSummary {
        id: RunId("egress-gateway-20261112-113015".into()),
        started: UnixMillis(run().started.0 - nine_days),
        ..run()
    };
    (earlier, run())
}

fn changed(what: &str, a: &str, b: &str, important: bool) -> EnvironmentChange {
    EnvironmentChange { property: what.into(), a: a.into(), b: b.into(), important }
}

fn held(result: &ResultSummary, ratio: f64, verdict: Verdict) -> ResultComparison {
    let b = estimate(result.value.estimate * ratio);
    let difference = if ratio < 1.0 { Difference::Lower } else { Difference::Higher };
    let difference = if verdict == Verdict::Same { Difference::None } else { difference };
    ResultComparison {
        result: result.id.clone(),
        result_b: None,
        path: result.path.clone(),
        workload: result.workload.clone(),
        levels: result.levels.clone(),
        metric: result.metric,
        a: result.value,
        b,
        comparison: Some(comparison(ratio, result.value.estimate * (ratio - 1.0), difference)),
        floor: Some(0.021),
        same_within: Some(0.087),
        between_runs: None,
        p: Some(if verdict == Verdict::Same { 0.61 } else { 0.0079 }),
        disturbed: None,
        verdict,
        reason: None,
        guards: Vec::new(),
    }
}

fn unknown(result: &ResultSummary) -> ResultComparison {
    let few = Estimate { interval: None, trials: 2, ..result.value };
    ResultComparison {
        b: few,
        comparison: None,
        p: None,
        disturbed: None,
        reason: Some("B has only 2 trials, too few for an interval".into()),
        ..held(result, 1.0, Verdict::Unknown)
    }
}
