//! Tests the verdicts and limitations of run comparisons.

mod between_runs;
mod disturbed;
mod guarded;
mod imported;
mod verdict;

use findings::{Basis, ComparisonConclusion, Gate, GateOutcome, GuardLimits, ResultComparison, Verdict};
use samples::ValidityWarning;
use units::Nanos;
use workload::{LatencyHistogram, Measurement, PingPongData, Quantity};

use super::*;
use crate::fixtures::{Fixture, device, ping_of, reported_of, stream_at, stream_of};

fn compare(a: &RunRecord, b: &RunRecord) -> RunComparison {
    super::comparison(a, b, &[])
}

fn gate(comparison: &RunComparison, threshold: f64) -> Gate {
    super::gate(comparison, threshold, GuardLimits::default())
}

#[derive(Clone, Copy)]
struct Noise {
    trial: f64,
    block: f64,
    run: f64,
}

struct Draw(u64);

impl Draw {
    fn uniform(&mut self) -> f64 {
        // SplitMix64 (Steele, Lea & Flood, OOPSLA 2014).
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) >> 11) as f64 / (1u64 << 53) as f64
    }

    /// About `1 + deviation * normal`, from the sum of twelve uniform values.
    fn about_one(&mut self, deviation: f64) -> f64 {
        let normal: f64 = (0..12).map(|_| self.uniform()).sum::<f64>() - 6.0;
        (deviation * normal).exp()
    }
}

/// A single round trip keeps the histogram cheap.
fn round_trip(nanos: f64) -> Measurement {
    let mut round_trips = LatencyHistogram::new();
    round_trips.record(Nanos(nanos as u64));
    Measurement::PingPong(PingPongData {
        round_trips,
        elapsed: Nanos(nanos as u64),
        ..PingPongData::default()
    })
}

const CELLS: [&str; 4] = ["plain/bulk", "tunnel/bulk", "plain/ping", "tunnel/ping"];

fn run(blocks: u32, seed: u64, noise: Noise, share: f64) -> Fixture {
    let mut draw = Draw(seed);
    let mut run = Fixture::new(blocks);
    run.path("plain", &["wire"]).path("tunnel", &["wire", "vxlan"]);
    run.stream("plain", &[], 1e9).stream("tunnel", &[], 1e9).ping("plain", &[], 1e4).ping("tunnel", &[], 1e4);
    let of_block: Vec<f64> = (0..blocks).map(|_| draw.about_one(noise.block)).collect();
    for result in CELLS {
        let of_run = draw.about_one(noise.run);
        for trial in run.record.trials.iter_mut().filter(|trial| trial.result == result) {
            let factor = of_run * of_block[trial.block as usize] * draw.about_one(noise.trial);
            trial.measurement = match result {
                "plain/bulk" => stream_of(20e9 * factor),
                "tunnel/bulk" => stream_of(16e9 * factor * share),
                "plain/ping" => round_trip(40e3 * factor),
                _ => round_trip(46e3 * factor),
            };
        }
    }
    run
}

fn result<'c>(comparison: &'c RunComparison, id: &str) -> &'c ResultComparison {
    comparison
        .results
        .iter()
        .find(|result| result.result == id)
        .unwrap_or_else(|| panic!("no {id}: {comparison:#?}"))
}

const QUIET: Noise = Noise { trial: 0.003, block: 0.002, run: 0.002 };

#[test]
fn equal_runs_are_the_same_within_noise() {
    for (blocks, noise) in [
        (5, QUIET),
        (5, Noise { trial: 0.02, block: 0.01, run: 0.01 }),
        (8, Noise { trial: 0.02, block: 0.02, run: 0.005 }),
        (5, Noise { trial: 0.06, block: 0.03, run: 0.02 }),
        (10, Noise { trial: 0.03, block: 0.0, run: 0.01 }),
    ] {
        let (mut same, mut false_alarms) = (0, 0);
        for pair in 0..40u64 {
            let (a, b) = (run(blocks, 2 * pair, noise, 1.0), run(blocks, 2 * pair + 1, noise, 1.0));
            let comparison = compare(&a.record, &b.record);
            assert_eq!(comparison.results.len(), CELLS.len());
            let all = |verdict| comparison.results.iter().filter(move |result| result.verdict == verdict);
            same += usize::from(all(Verdict::Same).count() == CELLS.len());
            false_alarms += usize::from(all(Verdict::Better).chain(all(Verdict::Worse)).next().is_some());
        }
        let summary =
            format!("{blocks} blocks, noise {}: {same} same, {false_alarms} alarms of 40", noise.trial);
        // With this noise, a difference of half the value could be hidden in one of the four results.
        let least = if noise.trial > 0.05 { 30 } else { 38 };
        assert!(same >= least && false_alarms <= 2, "{summary}");
    }
}

#[test]
fn loss_of_five_percent_is_worse_and_has_its_size() {
    for (blocks, noise, least) in [(5, QUIET, 20), (10, Noise { trial: 0.008, block: 0.005, run: 0.003 }, 17)]
    {
        let mut found = 0;
        for pair in 0..20u64 {
            let (a, b) = (run(blocks, 2 * pair, noise, 1.0), run(blocks, 2 * pair + 1, noise, 0.95));
            let comparison = compare(&a.record, &b.record);
            let limited = result(&comparison, "tunnel/bulk");
            let ratio = limited.comparison.expect("five trials each").ratio;
            assert!((ratio - 0.95).abs() < 0.02 && limited.verdict != Verdict::Better, "{limited:#?}");
            found += usize::from(limited.verdict == Verdict::Worse);
            let others = comparison.results.iter().filter(|result| result.result != "tunnel/bulk");
            assert!(others.clone().all(|result| result.verdict != Verdict::Worse), "{comparison:#?}");
        }
        assert!(found >= least, "{blocks} blocks: {found} of 20");
    }
}

#[test]
fn outlier_hides_neither_equality_nor_loss() {
    let with_outlier = |seed: u64, share: f64| {
        let mut run = run(8, seed, QUIET, share);
        run.each("tunnel/bulk", |trial| {
            if trial.block == 5 {
                trial.measurement = stream_of(9e9);
            }
        });
        compare(&self::run(8, 1, QUIET, 1.0).record, &run.record)
    };
    let same = with_outlier(2, 1.0);
    assert_eq!(result(&same, "tunnel/bulk").verdict, Verdict::Same, "{same:#?}");
    assert_eq!(gate(&same, 0.05).outcome, GateOutcome::Passed, "{same:#?}");
    assert_eq!(result(&with_outlier(3, 0.95), "tunnel/bulk").verdict, Verdict::Worse);
}

#[test]
fn longer_round_trip_is_worse_and_shorter_one_is_better() {
    let slower = |share: f64| {
        let mut b = run(6, 2, QUIET, 1.0);
        b.each("plain/ping", |trial| {
            trial.measurement = ping_of(40e3 * share * (1.0 + f64::from(trial.index) * 1e-5));
        });
        let comparison = compare(&run(6, 1, QUIET, 1.0).record, &b.record);
        result(&comparison, "plain/ping").verdict
    };
    assert_eq!((slower(1.3), slower(0.7)), (Verdict::Worse, Verdict::Better));
}

#[test]
fn too_few_trials_give_unknown_with_the_reason() {
    let comparison = compare(&run(2, 1, QUIET, 1.0).record, &run(2, 2, QUIET, 0.5).record);
    assert!(comparison.results.iter().all(|result| result.verdict == Verdict::Unknown), "{comparison:#?}");
    let lost = result(&comparison, "tunnel/bulk");
    let verdict = &comparison.verdict;
    assert_eq!(
        (verdict.conclusion, verdict.changes[0].result.as_str()),
        (ComparisonConclusion::Undecided, "tunnel/bulk")
    );
    assert!(
        lost.reason.as_ref().is_some_and(|reason| reason.contains("With 2 trials in A and 2 in B")),
        "{lost:#?}"
    );
    assert_eq!(gate(&comparison, 0.05).outcome, GateOutcome::Undecided);
}

#[test]
fn many_results_raise_the_threshold_but_common_loss_is_found() {
    let swept = |seed: u64, share: f64| {
        let mut draw = Draw(seed);
        let mut run = Fixture::new(5);
        run.path("plain", &["wire"]);
        for streams in 1..=12 {
            run.stream("plain", &[("streams", &streams.to_string())], 1e9);
        }
        for trial in &mut run.record.trials {
            trial.measurement = stream_of(1e10 * share * draw.about_one(0.003));
        }
        run
    };
    let all = compare(&swept(1, 1.0).record, &swept(2, 0.8).record);
    assert!(
        all.results
            .iter()
            .all(|result| result.verdict == Verdict::Worse && result.p.is_some_and(|p| p < 0.05)),
        "{all:#?}"
    );
}

fn twenty(seed: u64, noise: Noise, share: f64) -> Fixture {
    let mut draw = Draw(seed);
    let mut run = Fixture::new(5);
    run.path("plain", &["wire"]);
    for streams in 1..=20 {
        run.stream("plain", &[("streams", &streams.to_string())], 1e9);
    }
    let results: Vec<String> = run.record.header.results.iter().map(|result| result.id.clone()).collect();
    for (place, result) in results.iter().enumerate() {
        let rate = 1e10 * draw.about_one(noise.run) * if place == 3 { share } else { 1.0 };
        for trial in run.record.trials.iter_mut().filter(|trial| trial.result == *result) {
            trial.measurement = stream_of(rate * draw.about_one(noise.trial));
        }
    }
    run
}

#[test]
fn finds_one_worse_result_of_twenty_with_five_trials_per_run() {
    let noise = Noise { trial: 0.005, block: 0.0, run: 0.003 };
    for share in [0.5, 0.9] {
        for seed in 0..5u64 {
            let (a, b) = (twenty(0xa17e_0000 + seed, noise, 1.0), twenty(0xb17e_0000 + seed, noise, share));
            let comparison = compare(&a.record, &b.record);
            let worse: Vec<&str> = comparison
                .results
                .iter()
                .filter(|result| result.verdict == Verdict::Worse)
                .map(|result| &*result.result)
                .collect();
            assert_eq!(worse, [comparison.results[3].result.as_str()], "{share}: {comparison:#?}");
            assert_eq!(gate(&comparison, 0.05).outcome, GateOutcome::Regressed);
        }
    }
}

#[test]
fn equal_runs_with_twenty_results_rarely_raise_an_alarm() {
    for (trial, of_run) in [(0.005, 0.005), (0.03, 0.007)] {
        let noise = Noise { trial, block: 0.0, run: of_run };
        let alarms = (0..60u64)
            .filter(|seed| {
                let (a, b) = (twenty(0xc17e_0000 + seed, noise, 1.0), twenty(0xd17e_0000 + seed, noise, 1.0));
                let comparison = compare(&a.record, &b.record);
                comparison
                    .results
                    .iter()
                    .any(|result| matches!(result.verdict, Verdict::Worse | Verdict::Better))
            })
            .count();
        assert!(alarms <= 3, "{alarms} of 60 with {trial}");
    }
}

#[test]
fn gate_fails_only_on_established_regressions() {
    let against = |share: f64, noise: Noise, most: f64| {
        let comparison = compare(&run(6, 1, noise, 1.0).record, &run(6, 2, noise, share).record);
        gate(&comparison, most)
    };
    let lost = against(0.8, QUIET, 0.05);
    assert_eq!((lost.outcome, &*lost.regressions), (GateOutcome::Regressed, &["tunnel/bulk".to_owned()][..]));
    assert_eq!(against(1.0, QUIET, 0.05).outcome, GateOutcome::Passed);
    assert_eq!(against(0.8, QUIET, 0.3).outcome, GateOutcome::Passed);
    let noisy = Noise { trial: 0.1, block: 0.05, run: 0.05 };
    assert_eq!(against(0.95, noisy, 0.05).outcome, GateOutcome::Undecided);
}

#[test]
fn very_noisy_results_are_never_the_same() {
    let wild = Noise { trial: 0.5, block: 0.0, run: 0.0 };
    let comparison = compare(&run(6, 1, wild, 1.0).record, &run(6, 2, wild, 1.0).record);
    assert!(comparison.results.iter().all(|result| result.verdict == Verdict::Unknown), "{comparison:#?}");
    let reason = comparison.results[0].reason.as_deref().unwrap_or_default();
    assert!(reason.ends_with("more trials would narrow this range."), "{reason}");
    assert!(
        comparison
            .limitations
            .iter()
            .any(|limitation| limitation.contains("for 4 results; smaller changes cannot be seen")),
        "{comparison:#?}"
    );
}

#[test]
fn noisy_baseline_does_not_hide_loss_of_quiet_result() {
    let noisy = |seed: u64, share: f64| {
        let (mut run, mut draw) = (run(6, seed, QUIET, share), Draw(seed + 100));
        for trial in run.record.trials.iter_mut().filter(|trial| trial.result == "plain/bulk") {
            trial.measurement = stream_of(20e9 * draw.about_one(0.4));
        }
        run
    };
    let comparison = compare(&noisy(1, 1.0).record, &noisy(2, 0.93).record);
    assert_eq!(result(&comparison, "tunnel/bulk").verdict, Verdict::Worse, "{comparison:#?}");
    let mentions_baseline =
        |limitation: &&String| limitation.contains("Repetitions of the baseline differed by up to");
    assert!(
        comparison
            .limitations
            .iter()
            .find(mentions_baseline)
            .is_some_and(|it| it.contains("2 results are steadier")),
        "{:?}",
        comparison.limitations
    );
}

#[test]
fn matches_results_by_name_or_by_settings() {
    let (a, mut b) = (run(5, 1, QUIET, 1.0), run(5, 2, QUIET, 1.0));
    for result in &mut b.record.header.results {
        if result.id == "tunnel/bulk" {
            result.id = "renamed".into();
        }
        if result.id == "plain/ping" {
            (result.id, result.workload) = ("plain/pong".into(), "pong".into());
        }
    }
    for trial in &mut b.record.trials {
        trial.result = trial.result.replace("tunnel/bulk", "renamed").replace("plain/ping", "plain/pong");
    }
    let comparison = compare(&a.record, &b.record);
    assert_eq!(result(&comparison, "tunnel/bulk").result_b.as_deref(), Some("renamed"));
    assert_eq!(
        (&*comparison.only_a, &*comparison.only_b),
        (&["plain/ping".to_owned()][..], &["plain/pong".to_owned()][..])
    );
    assert_eq!(gate(&comparison, 0.05).outcome, GateOutcome::Undecided);
}

#[test]
fn environments_come_before_values() {
    let a = run(5, 1, QUIET, 1.0);
    let mut b = run(5, 2, QUIET, 1.0);
    let features: &[(&str, bool)] = &[("tx-tcp-segmentation", true)];
    let set = |run: &mut Fixture, mtu: u32, on: bool| {
        for result in CELLS {
            run.each(result, |trial| {
                trial.devices = vec![device("a:eth0", mtu, features)];
                trial.devices[0].features.insert("tx-tcp-segmentation".into(), on);
            });
        }
    };
    let mut a = a;
    set(&mut a, 1500, true);
    set(&mut b, 9000, false);
    let machine = b.environment();
    machine.kernel = "6.19.0".into();
    machine.congestion_default = Some("bbr".into());
    machine.memory = units::Bytes(1 << 30);
    b.record.header.tool = "0.2.0".into();
    b.record.header.scenario.digest = "f00".into();
    a.record.header.scenario.digest = "ba5".into();
    a.record.header.scenario.text = "schema = 1\nname = \"a\"".into();
    b.record.header.scenario.text = "schema = 1".into();
    let comparison = compare(&a.record, &b.record);
    let changes = &comparison.environment_changes;
    let text = changes.iter().find(|change| change.property == "scenario text").expect("it differs");
    assert_eq!((text.a.as_str(), text.b.as_str()), ("line 2: name = \"a\"", "no line 2"));
    let what: Vec<&str> = changes.iter().map(|change| change.property.as_str()).collect();
    assert_eq!(
        what,
        [
            "plumb",
            "kernel",
            "default congestion control",
            "MTU of a:eth0",
            "offload tx-tcp-segmentation of a:eth0",
            "scenario text",
            "memory"
        ]
    );
    assert!(
        comparison.environment_changes[..5].iter().all(|change| change.important)
            && comparison.environment_changes[5..].iter().all(|change| !change.important),
        "relevant differences are listed separately: {comparison:#?}"
    );
    assert!(
        comparison
            .limitations
            .iter()
            .any(|limitation| limitation.contains("5 things differ between the runs")),
        "{comparison:#?}"
    );
}

#[test]
fn equal_environments_are_not_reported() {
    let comparison = compare(&run(5, 1, QUIET, 1.0).record, &run(5, 2, QUIET, 1.0).record);
    assert_eq!((comparison.environment_changes, comparison.limitations), (Vec::new(), Vec::new()));
}

#[test]
fn loss_on_another_machine_is_not_established() {
    let a = run(6, 1, QUIET, 1.0);
    let mut b = run(6, 2, QUIET, 0.5);
    b.environment().cpus = 64;
    let comparison = compare(&a.record, &b.record);
    assert_eq!(result(&comparison, "tunnel/bulk").verdict, Verdict::Worse);
    assert!(comparison.limitations[0].contains("different machines"), "{:?}", comparison.limitations);
    let gate = gate(&comparison, 0.05);
    assert_eq!((gate.outcome, gate.regressions.len()), (GateOutcome::Undecided, 0));
}

#[test]
fn ratio_requires_equal_metrics_and_ignores_outages() {
    let a = run(5, 1, QUIET, 1.0);
    let mut b = run(5, 2, QUIET, 1.0);
    b.each("tunnel/bulk", |trial| {
        if trial.block == 2 {
            trial.measurement = stream_of(0.0);
        }
    });
    for result in b.record.header.results.iter_mut().filter(|result| result.id == "plain/bulk") {
        result.sent = samples::WorkloadSource::Load(crate::fixtures::ping_settings());
    }
    b.each("plain/bulk", |trial| trial.measurement = ping_of(1e4));
    let comparison = compare(&a.record, &b.record);
    let reason = |id: &str| result(&comparison, id).reason.clone().unwrap_or_default();
    assert!(reason("plain/bulk").contains("throughput, B by its round trip"), "{comparison:#?}");
    let silent = result(&comparison, "tunnel/bulk");
    assert!(silent.b.outages == 1 && silent.comparison.is_some() && silent.p.is_some(), "{silent:#?}");
    assert_eq!(silent.verdict, Verdict::Unknown, "{silent:#?}");
    assert!(reason("tunnel/bulk").contains("Nothing arrived in 1 of 5 trials of B"), "{silent:#?}");
    let open = gate(&comparison, 0.2).undecided;
    assert!(open.iter().any(|it| it.reason.contains("Nothing arrived in 1 of 5 trials of B")), "{open:#?}");
}

#[test]
fn complete_outage_is_a_regression() {
    let a = run(5, 1, QUIET, 1.0);
    let mut b = run(5, 2, QUIET, 1.0);
    b.each("tunnel/bulk", |trial| trial.measurement = stream_of(0.0));
    b.each("tunnel/ping", |trial| trial.measurement = Measurement::PingPong(PingPongData::default()));
    let out = compare(&a.record, &b.record);
    for id in ["tunnel/bulk", "tunnel/ping"] {
        let result = result(&out, id);
        assert_eq!((result.verdict, result.comparison), (Verdict::Worse, None), "{result:#?}");
        assert!(
            result.reason.as_ref().is_some_and(|reason| reason.contains("any of the 5 trials of B")),
            "{result:#?}"
        );
    }
    assert_eq!(out.verdict.changes[0].change, None, "an outage is the largest change");
    let gate_of_it = gate(&out, 0.05);
    assert_eq!((gate_of_it.outcome, gate_of_it.regressions.len()), (GateOutcome::Regressed, 2));
    let back = compare(&b.record, &a.record);
    assert_eq!(result(&back, "tunnel/bulk").verdict, Verdict::Better);
    b.record.trials.retain(|trial| trial.block < 3);
    assert_eq!(gate(&compare(&a.record, &b.record), 0.05).outcome, GateOutcome::Undecided, "three trials");
}

#[test]
fn loss_in_another_scenario_is_not_established() {
    let a = run(6, 1, QUIET, 1.0);
    let mut b = run(6, 2, QUIET, 0.5);
    b.record.header.scenario.name = "other".into();
    let comparison = compare(&a.record, &b.record);
    assert!(
        comparison.limitations[0].contains("no regression can be established"),
        "{:?}",
        comparison.limitations
    );
    assert!(comparison.limitations[0].contains("small in A, other in B"), "{:?}", comparison.limitations);
    let gate = gate(&comparison, 0.05);
    assert_eq!((gate.outcome, gate.regressions.len()), (GateOutcome::Undecided, 0));
}

#[test]
fn imported_runs_have_no_scenario() {
    let (mut a, mut b) = (imported(about(1e9)), imported(about(1e9)));
    (a.record.header.scenario.digest, b.record.header.scenario.digest) = ("f00".into(), "ba5".into());
    b.record.header.scenario.name = "other".into();
    let comparison = compare(&a.record, &b.record);
    assert_eq!(comparison.environment_changes, Vec::new());
    assert!(
        comparison.limitations.iter().all(|limitation| !limitation.contains("scenario")),
        "{:?}",
        comparison.limitations
    );
}

#[test]
fn reports_size_of_the_allowance() {
    let comparison = compare(&imported(about(1e9)).record, &imported(about(1.002e9)).record);
    let only = &comparison.results[0];
    let reason = only.reason.as_deref().unwrap_or_default();
    assert!(
        only.verdict == Verdict::Same
            && reason.contains("smaller than 5")
            && reason.contains("needs 5 trials of each"),
        "{only:#?}"
    );
    assert_eq!(gate(&comparison, 0.05).outcome, GateOutcome::Undecided);
}

#[test]
fn same_states_its_bound_if_the_interval_is_wide() {
    let noise = Noise { trial: 0.06, block: 0.0, run: 0.0 };
    let comparison = compare(&run(5, 31, noise, 1.0).record, &run(5, 32, noise, 1.0).record);
    let same = || comparison.results.iter().filter(|result| result.verdict == Verdict::Same);
    for result in same() {
        let comparison = result.comparison.expect("a ratio");
        let interval = comparison.ratio_interval.expect("five trials each");
        let noise = 1.0 + result.floor.expect("known noise");
        assert!((interval.low..=interval.high).contains(&1.0), "{result:#?}");
        assert!(interval.high >= comparison.ratio * noise, "the interval excludes the noise: {result:#?}");
        assert_eq!(
            result.reason.as_ref().is_some_and(|reason| reason.contains("established to be smaller than")),
            interval.high > 1.1 || interval.low < 1.0 / 1.1,
            "{result:#?}"
        );
    }
    assert!(same().any(|result| result.reason.is_some()), "{comparison:#?}");
}

fn imported(measurement: Measurement) -> Fixture {
    let mut run = Fixture::new(1);
    run.path("a-to-b", &[]).imported("a-to-b", "tcp", &[], measurement);
    run
}

fn about(rate: f64) -> Measurement {
    let at = |index: usize| rate * [0.98, 1.0, 1.02, 1.01, 0.99][index * 7 % 5];
    stream_at(&(0..41).map(at).collect::<Vec<_>>())
}

#[test]
fn compares_single_trials_with_an_allowance() {
    for (rates, wanted) in [
        ([27.4e9, 16.2e9], Verdict::Worse),
        ([16.2e9, 27.4e9], Verdict::Better),
        ([20e9, 19.8e9], Verdict::Same),
        ([20e9, 18.18e9], Verdict::Unknown),
        ([20e9, 16.5e9], Verdict::Unknown),
    ] {
        let comparison = compare(&imported(about(rates[0])).record, &imported(about(rates[1])).record);
        let only = &comparison.results[0];
        assert_eq!(
            (only.verdict, only.comparison.expect("series").basis),
            (wanted, Basis::Intervals),
            "{only:#?}"
        );
        assert_eq!((only.floor, only.p, comparison.environment_changes.len()), (Some(0.25), None, 0));
        assert!(
            comparison.limitations[0].contains("The machine of either run is unknown"),
            "{:?}",
            comparison.limitations
        );
    }
}

#[test]
fn single_numbers_from_tables_give_no_verdict() {
    let row = |rate: f64| imported(reported_of(&[("Rate", Quantity::BitRate, rate)]));
    let comparison = compare(&row(1e9).record, &row(5e8).record);
    let only = &comparison.results[0];
    let ratio = only.comparison.expect("a ratio").ratio;
    assert!(only.verdict == Verdict::Unknown && (ratio - 0.5).abs() < 1e-9, "{only:#?}");
    assert!(
        only.reason.as_ref().is_some_and(|reason| reason.contains("without samples to estimate")),
        "{only:#?}"
    );
}

#[test]
fn reports_runs_without_common_results() {
    let mut other = Fixture::new(5);
    other.path("elsewhere", &["wire"]).stream("elsewhere", &[], 1e9);
    other.each("elsewhere/bulk", |trial| trial.warnings.push(ValidityWarning::Stolen { share: 0.1 }));
    let comparison = compare(&run(5, 1, QUIET, 1.0).record, &other.record);
    assert_eq!((comparison.results.len(), comparison.only_a.len(), comparison.only_b.len()), (0, 4, 1));
    assert!(comparison.limitations[0].contains("no result in common"), "{:?}", comparison.limitations);
    assert_eq!(gate(&comparison, 0.05).outcome, GateOutcome::Undecided);
}

#[test]
fn run_is_the_same_as_itself() {
    let a = run(5, 1, QUIET, 1.0);
    let comparison = compare(&a.record, &a.record);
    assert!(comparison.results.iter().all(|result| result.verdict == Verdict::Same), "{comparison:#?}");
}
