//! Tests that guarded metrics are compared and that a gate fails on them.

use findings::{ComparisonConclusion, GuardComparison, GuardedMetric};
use samples::Arm;
use workload::{PingPongSettings, StreamSettings, Transport, Until, WorkloadSettings};

use super::*;
use crate::fixtures::{datagrams_at, stream_at};

const TRIALS: u32 = 10;

/// Round trips of about 20 µs. One in fifty takes `tail` nanoseconds.
fn round_trips(draw: &mut Draw, tail: f64, messages: u32) -> Measurement {
    let of_trial = draw.about_one(0.005);
    let mut round_trips = LatencyHistogram::new();
    for message in 0..messages {
        let nanos = if message % 50 == 0 { tail * draw.about_one(0.1) } else { 2e4 * draw.about_one(0.1) };
        round_trips.record(Nanos((of_trial * nanos) as u64));
    }
    let elapsed = Nanos::from_secs(1);
    Measurement::PingPong(PingPongData { round_trips, elapsed, lost: Some(0), ..PingPongData::default() })
}

fn pings(seed: u64, tail: f64, messages: u32) -> RunRecord {
    let mut run = Fixture::new(TRIALS);
    let load = WorkloadSettings::PingPong(PingPongSettings::new(Nanos::from_secs(1)));
    run.path("plain", &["wire"]).measured("plain", "ping", load, &ping_of(2e4));
    let mut draw = Draw(seed);
    for trial in &mut run.record.trials {
        trial.measurement = round_trips(&mut draw, tail, messages);
    }
    run.record
}

fn datagrams(seed: u64, loss: f64) -> RunRecord {
    let load = StreamSettings {
        transport: Transport::Udp,
        ..StreamSettings::new(Until::Elapsed(Nanos::from_secs(1)))
    };
    let mut run = Fixture::new(TRIALS);
    run.path("plain", &["wire"]).measured(
        "plain",
        "udp",
        WorkloadSettings::Stream(load),
        &datagrams_at(&[(5000, 0); 5]),
    );
    let mut draw = Draw(seed);
    for trial in &mut run.record.trials {
        let lost = 5000.0 * loss * draw.about_one(0.3);
        trial.measurement = datagrams_at(&[(5000 - lost as u64, lost as i64); 5]);
    }
    run.record
}

fn streams(seed: u64, silent: &[u32]) -> RunRecord {
    let mut run = Fixture::new(8);
    run.path("plain", &["wire"]).stream("plain", &[], 1e9);
    let mut draw = Draw(seed);
    for trial in &mut run.record.trials {
        let rate = 1e10 * draw.about_one(0.003);
        let is_silent = trial.arm == Arm::Measure && silent.contains(&trial.block);
        trial.measurement = stream_of(if is_silent { 0.0 } else { rate });
    }
    run.record
}

fn guard(comparison: &RunComparison, metric: GuardedMetric) -> GuardComparison {
    let guards = comparison.results.iter().flat_map(|result| &result.guards);
    guards
        .into_iter()
        .find(|guard| guard.metric == metric)
        .cloned()
        .unwrap_or_else(|| panic!("{comparison:#?}"))
}

#[test]
fn longer_tail_with_equal_median_fails() {
    let comparison = compare(&pings(1, 27e3, 1000), &pings(2, 800e3, 1000));
    assert_eq!(comparison.results[0].verdict, Verdict::Same, "the median is equal");
    let verdict = &comparison.verdict;
    assert_eq!(
        (verdict.conclusion, verdict.results.same, verdict.worse_guards[0].metric),
        (ComparisonConclusion::Worse, 1, GuardedMetric::P99)
    );
    let tail = guard(&comparison, GuardedMetric::P99);
    assert_eq!(tail.verdict, Verdict::Worse, "{tail:?}");
    assert!(tail.change.low.is_some_and(|low| low > 15.0) && tail.change.value > 20.0, "{tail:?}");
    let gate = gate(&comparison, 0.05);
    assert_eq!(gate.outcome, GateOutcome::Regressed);
    assert_eq!((gate.regressions.len(), gate.failed()), (0, vec!["plain/ping".to_owned()]));
    let reason = &gate.violations[0].summary;
    assert!(
        reason.starts_with("The 99th percentile rose from ") && reason.contains("The limit is"),
        "{reason}"
    );
    let back = compare(&pings(1, 800e3, 1000), &pings(2, 27e3, 1000));
    assert_eq!(guard(&back, GuardedMetric::P99).verdict, Verdict::Better);
    assert_eq!(back.verdict.conclusion, ComparisonConclusion::Same);
}

#[test]
fn longer_tail_of_too_few_messages_is_undecided() {
    let comparison = compare(&pings(1, 27e3, 20), &pings(2, 800e3, 20));
    let gate = gate(&comparison, 0.05);
    assert_eq!(gate.outcome, GateOutcome::Undecided, "{gate:#?}");
    assert!(gate.undecided.iter().any(|it| it.reason.contains("99th percentile")), "{gate:#?}");
}

#[test]
fn longer_tail_in_three_trials_is_undecided() {
    let [mut a, mut b] = [pings(1, 27e3, 1000), pings(2, 800e3, 1000)];
    for run in [&mut a, &mut b] {
        run.trials.retain(|trial| trial.block < 3);
    }
    let comparison = compare(&a, &b);
    let tail = guard(&comparison, GuardedMetric::P99);
    assert!(tail.verdict == Verdict::Unknown && tail.change.low.is_some_and(|low| low > 1.5), "{tail:?}");
    let gate = gate(&comparison, 0.05);
    assert_eq!((gate.outcome, gate.violations.len()), (GateOutcome::Undecided, 0), "{gate:#?}");
    assert!(gate.undecided.iter().any(|it| it.reason.contains("99th percentile")), "{gate:#?}");
}

#[test]
fn time_without_traffic_fails_only_beyond_its_limit() {
    let with_silence = |seed: u64, silent: usize| {
        let mut run = streams(seed, &[]);
        for trial in &mut run.trials {
            let rate = trial.measurement.value(trial.measurement.kind().metric()).expect("a rate");
            let rates: Vec<f64> = (0..400).map(|at| if at < silent { 0.0 } else { rate }).collect();
            trial.measurement = stream_at(&rates);
        }
        run
    };
    for (silent, outcome) in [(3, GateOutcome::Passed), (20, GateOutcome::Regressed)] {
        let gate = gate(&compare(&with_silence(1, 0), &with_silence(2, silent)), 0.2);
        assert_eq!(gate.outcome, outcome, "{silent}: {gate:#?}");
    }
}

#[test]
fn lost_datagrams_fail_although_the_rate_is_the_same() {
    let comparison = compare(&datagrams(1, 0.0001), &datagrams(2, 0.015));
    let loss = guard(&comparison, GuardedMetric::PacketLoss);
    assert_eq!(loss.verdict, Verdict::Worse, "{loss:?}");
    assert!((loss.b.value - 0.015).abs() < 0.003, "{loss:?}");
    assert_eq!(gate(&comparison, 0.05).outcome, GateOutcome::Regressed);
    let wide = GuardLimits { packet_loss: 0.05, ..GuardLimits::default() };
    assert_eq!(super::super::gate(&comparison, 0.05, wide).outcome, GateOutcome::Passed);
}

#[test]
fn seven_silent_trials_of_eight_fail_and_one_is_undecided() {
    for (silent, outcome) in [
        (&[][..], GateOutcome::Passed),
        (&[3], GateOutcome::Undecided),
        (&[0, 1, 2, 3, 4, 5, 6], GateOutcome::Regressed),
    ] {
        let comparison = compare(&streams(1, &[]), &streams(2, silent));
        let gate = gate(&comparison, 0.05);
        assert_eq!(gate.outcome, outcome, "{silent:?}: {gate:#?}");
    }
    let comparison = compare(&streams(1, &[]), &streams(2, &[0, 1, 2, 3, 4, 5, 6]));
    let result = &comparison.results[0];
    assert_eq!(result.verdict, Verdict::Worse);
    assert!(result.comparison.is_some(), "the only trial with traffic has a ratio");
    assert_eq!(comparison.verdict.changes[0].change, None, "which did not decide");
    assert_eq!(
        result.reason.as_deref(),
        Some("Nothing arrived in 7 of 8 trials of B, compared with 0 of 8 in A.")
    );
}

#[test]
fn round_trips_without_any_reply_in_most_trials_fail() {
    let answered = pings(1, 27e3, 100);
    let mut silent = pings(2, 27e3, 100);
    for trial in silent.trials.iter_mut().filter(|trial| trial.block > 0) {
        trial.measurement = Measurement::PingPong(PingPongData { lost: Some(3), ..PingPongData::default() });
    }
    let comparison = compare(&answered, &silent);
    assert_eq!(gate(&comparison, 0.05).outcome, GateOutcome::Regressed, "{comparison:#?}");
}

#[test]
fn equal_runs_pass() {
    let passed = |pairs: &dyn Fn(u64) -> [RunRecord; 2]| {
        let passes = |pair: &u64| {
            let [a, b] = pairs(2 * pair);
            gate(&compare(&a, &b), 0.05).outcome == GateOutcome::Passed
        };
        (0..20u64).filter(passes).count()
    };
    let tails = passed(&|seed| [pings(seed, 200e3, 500), pings(seed + 1, 200e3, 500)]);
    let losses = passed(&|seed| [datagrams(seed, 0.002), datagrams(seed + 1, 0.002)]);
    let rates = passed(&|seed| [streams(seed, &[]), streams(seed + 1, &[])]);
    assert!(tails >= 19 && losses >= 19 && rates >= 19, "{tails} {losses} {rates} of 20");
}

#[test]
fn guarded_metrics_of_disturbed_runs_are_not_judged() {
    let mut disturbed = pings(2, 800e3, 1000);
    for trial in &mut disturbed.trials {
        trial.warnings.push(ValidityWarning::Disturbed { share: 0.8, processes: Vec::new() });
    }
    let comparison = compare(&pings(1, 27e3, 1000), &disturbed);
    assert_eq!(guard(&comparison, GuardedMetric::P99).verdict, Verdict::Unknown);
    assert_eq!(gate(&comparison, 0.05).outcome, GateOutcome::Undecided);
}
