//! Tests the design in simulated labs: saved trials, agreement with the full matrix, and resuming.

mod disturbed;
mod failed;
mod out_of_time;
mod probed;
mod unclear;

use std::collections::{BTreeMap, BTreeSet};

use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;
use samples::{
    CpuUsage, EndReason, MachineCpu, Objective, PathCheck, ResultEnd, Trial, UnixMillis, ValidityWarning,
};
use scenario::{Plan, PlanOptions, PlannedTrial, Scenario};
use units::{Bytes, Nanos};
use workload::{Direction, EndSeries, Flow, Interval, Measurement, StreamData};

use super::Design;

const STREAMS: [u32; 5] = [1, 2, 4, 8, 16];
const MESSAGES: [u32; 4] = [8, 32, 128, 512];

fn plan(seed: u64, options: &PlanOptions) -> Plan {
    let text = "schema = 1\nname = \"t\"\ntitle = \"t\"\n[hosts.a]\n[hosts.b]\n[wires.w]\nbetween = [\"a:eth0\", \"b:eth0\"]\n\
         addresses = [\"198.18.0.1/24\", \"198.18.0.2/24\"]\n[paths.p]\nfrom = \"a\"\nto = \"b\"\nlayers = [\"wire\"]\n\
         baseline = true\n[workloads.x]\nkind = \"stream\"\nduration = \"1s\"\n\
         [factors.streams]\nvary = \"streams\"\nvalues = [1, 2, 4, 8, 16]\n\
         [factors.message]\nvary = \"message\"\nvalues = [\"8KiB\", \"32KiB\", \"128KiB\", \"512KiB\"]\n";
    Plan::expand(&Scenario::parse("test", text).expect("a scenario"), seed, options)
}

/// A simulated lab: the true rate (Gbit/s) and CPU use of each result, and the noise of trials.
#[derive(Clone, Copy)]
struct Lab {
    rate: fn(f64, f64) -> f64,
    cpus: fn(f64, f64) -> f64,
    scatter: f64,
    /// The fraction of trials that lose a fifth of their rate to a disturbance.
    disturbed: f64,
}

const SATURATING: Lab = Lab {
    rate: |streams, message| 75.0 * (1.0 - (-0.35 * streams).exp()) * message / (message + 9.0),
    cpus: |streams, message| 0.6 + 0.35 * streams.sqrt() + 0.4 * streams / (8.0 + message / 64.0),
    scatter: 0.03,
    disturbed: 0.0,
};
const PEAKED: Lab = Lab {
    rate: |streams, message| {
        60.0 * (streams / 4.0 * (1.0 - streams / 4.0).exp()).powf(0.3) * message / (message + 40.0)
    },
    cpus: |streams, _| 1.0 + 0.1 * streams,
    ..SATURATING
};

impl Lab {
    fn make(&self, plan: &Plan, planned: &PlannedTrial, seed: u64, started: i64) -> Trial {
        let (streams, message) = levels(planned.result);
        let mut random = Pcg64Mcg::seed_from_u64(seed ^ (u64::from(planned.index) << 20));
        let mut draw = |scatter: f64| {
            let sum: f64 = (0..4).map(|_| random.random_range(-1.0..1.0)).sum();
            (scatter * (3.0f64 / 4.0).sqrt() * sum).exp()
        };
        let (value, cpus) = (draw(self.scatter), draw(self.scatter / 2.0));
        let loss = if random.random_range(0.0..1.0) < self.disturbed { 0.8 } else { 1.0 };
        let rate = (self.rate)(streams, message) * value * loss;
        trial(plan, planned, started, rate, (self.cpus)(streams, message) * cpus)
    }
}

fn levels(result: usize) -> (f64, f64) {
    (f64::from(STREAMS[result / MESSAGES.len()]), f64::from(MESSAGES[result % MESSAGES.len()]))
}

fn trial(plan: &Plan, planned: &PlannedTrial, started: i64, gbits: f64, cpus: f64) -> Trial {
    let second = Nanos::from_secs(1);
    let bytes = Bytes((gbits / 8.0 * 1e9) as u64);
    let interval =
        Interval { start: Nanos(0), end: second, bytes, warmup: false, tcp: None, datagrams: None };
    let series = EndSeries { intervals: vec![interval], ..EndSeries::default() };
    let flow = Flow::of_ends(0, Direction::Forward, series.clone(), series);
    let user = Nanos((cpus * 1e9) as u64);
    let machine = MachineCpu { cpus: 64, elapsed: second, user, ..MachineCpu::default() };
    Trial {
        index: planned.index,
        block: planned.block,
        result: plan.results[planned.result].id.to_string(),
        arm: planned.arm,
        started: UnixMillis(started),
        measurement: Measurement::Stream(StreamData { flows: vec![flow] }),
        cpu: CpuUsage { machine, ..CpuUsage::default() },
        devices: Vec::new(),
        path_check: PathCheck::default(),
        syscalls: Vec::new(),
        observed: None,
        counters: None,
        warnings: Vec::new(),
        instructions: None,
        simultaneous: 0,
        discarded: Vec::new(),
    }
}

fn took(plan: &Plan, result: usize) -> i64 {
    plan.trial_estimate(result).0 as i64 / 1_000_000
}

fn run(lab: &Lab, plan: &Plan, seed: u64, mut trials: Vec<Trial>) -> (Vec<Trial>, Vec<ResultEnd>) {
    let mut design = Design::new(plan, &trials);
    let mut now = trials.last().map_or(0, |trial| trial.started.0 + took(plan, 0));
    while let Some(planned) = design.next_trial() {
        let trial = lab.make(plan, planned, seed, now);
        now += took(plan, planned.result);
        design.saw(&trial);
        trials.push(trial);
    }
    let ends = design.ends();
    (trials, ends)
}

fn recommended(trials: &[Trial], objective: Objective) -> String {
    let mut results: BTreeMap<&str, (Vec<f64>, Vec<f64>)> = BTreeMap::new();
    for trial in trials.iter().filter(|trial| trial.arm == samples::Arm::Measure) {
        let value = trial.measurement.value(trial.measurement.kind().metric()).expect("a stream");
        let (values, cpus) = results.entry(&trial.result).or_default();
        values.push(value);
        cpus.push(trial.cpu.machine.busy().seconds());
    }
    let median = |values: &[f64]| stats::describe::median(values).expect("a trial at least");
    let best = results.values().map(|(values, _)| median(values)).fold(0.0, f64::max);
    let (least, worth): (f64, fn(f64, f64) -> f64) = match objective {
        Objective::Max => (1.0, |value, _| value),
        Objective::Efficient => (0.9, |value, cpus| value / cpus),
        Objective::LowCpu => (0.5, |_, cpus| 1.0 / cpus),
    };
    let near = results.iter().filter(|(_, (values, _))| median(values) >= least * best);
    let worths = near.map(|(result, (values, cpus))| (*result, worth(median(values), median(cpus))));
    worths.max_by(|a, b| a.1.total_cmp(&b.1)).map(|(result, _)| result.to_owned()).expect("a result")
}

fn compare(lab: &Lab, options: &PlanOptions, runs: u64) -> (u64, f64) {
    let (mut same, mut made, mut full) = (0, 0, 0);
    for seed in 0..runs {
        let plan = plan(seed, options);
        let (trials, _) = run(lab, &plan, seed, Vec::new());
        let blocks = trials.iter().map(|trial| trial.block).max().expect("trials");
        let every: Vec<Trial> = plan
            .trials
            .iter()
            .filter(|planned| planned.block <= blocks)
            .map(|planned| lab.make(&plan, planned, seed, 0))
            .collect();
        let objective = plan.design.objective;
        same += u64::from(recommended(&trials, objective) == recommended(&every, objective));
        made += trials.len();
        full += every.len();
    }
    (same, 1.0 - made as f64 / full as f64)
}

fn precisely(objective: Objective) -> PlanOptions {
    PlanOptions { precision: Some(0.02), objective: Some(objective), ..PlanOptions::default() }
}

fn run_changed(plan: &Plan, seed: u64, change: impl Fn(&mut Trial)) -> (Vec<Trial>, Vec<ResultEnd>) {
    let mut design = Design::new(plan, []);
    let (mut trials, mut now) = (Vec::new(), 0);
    while let Some(planned) = design.next_trial() {
        let mut trial = PEAKED.make(plan, planned, seed, now);
        now += took(plan, planned.result);
        change(&mut trial);
        design.saw(&trial);
        trials.push(trial);
    }
    (trials, design.ends())
}

/// The full matrix has the same number of blocks as the run. Long runs of a few results do not count as savings.
#[test]
fn finds_same_recommendation_with_half_the_trials() {
    const RUNS: u64 = 60;
    for (name, lab, objective) in [
        ("saturating", SATURATING, Objective::Efficient),
        ("saturating, low-cpu", SATURATING, Objective::LowCpu),
        ("peaked", PEAKED, Objective::Max),
        ("peaked, efficient", PEAKED, Objective::Efficient),
        ("disturbed", Lab { disturbed: 0.05, ..PEAKED }, Objective::Max),
        ("noisy", Lab { scatter: 0.06, ..PEAKED }, Objective::Max),
    ] {
        let (same, saved) = compare(&lab, &precisely(objective), RUNS);
        assert!(same * 100 >= RUNS * 95, "{name}: only {same} of {RUNS} agree with the full matrix");
        assert!(saved >= 0.5, "{name}: only {saved:.2} of the trials saved");
    }
}

/// The budget is half the time of a full matrix with five trials.
#[test]
fn finds_same_recommendation_within_half_the_time() {
    const RUNS: u64 = 60;
    let budget =
        Nanos(plan(0, &PlanOptions { trials: Some(5), ..PlanOptions::default() }).duration_estimate().0 / 2);
    let options =
        PlanOptions { budget: Some(budget), objective: Some(Objective::Max), ..PlanOptions::default() };
    let full = PlanOptions { trials: Some(5), ..PlanOptions::default() };
    let mut same = 0;
    for seed in 0..RUNS {
        let plan = plan(seed, &options);
        let (trials, ends) = run(&PEAKED, &plan, seed, Vec::new());
        let spent: Nanos = trials.iter().map(|trial| plan.trial_estimate(place(&plan, &trial.result))).sum();
        assert!(spent <= budget && spent.0 * 10 > budget.0 * 9, "{spent} of {budget}");
        assert!(ends.iter().any(|end| matches!(end.reason, EndReason::Budget { .. })), "{ends:?}");
        let whole = self::plan(seed, &full);
        let every: Vec<Trial> =
            whole.trials.iter().map(|planned| PEAKED.make(&whole, planned, seed, 0)).collect();
        same += u64::from(recommended(&trials, Objective::Max) == recommended(&every, Objective::Max));
    }
    assert!(same * 100 >= RUNS * 95, "only {same} of {RUNS} agree with five trials per result");
}

#[test]
fn resumed_run_makes_same_choices() {
    let budget = Some(Nanos::from_secs(120));
    for options in [precisely(Objective::Efficient), PlanOptions { budget, ..precisely(Objective::Max) }] {
        let plan = plan(3, &options);
        let (whole, ends) = run(&SATURATING, &plan, 3, Vec::new());
        for there in [1, 20, 43, whole.len() / 2, whole.len() - 1, whole.len()] {
            let (again, ends_again) = run(&SATURATING, &plan, 3, whole[..there].to_vec());
            let indices = |trials: &[Trial]| trials.iter().map(|trial| trial.index).collect::<Vec<_>>();
            assert_eq!(indices(&again), indices(&whole), "resumed after {there} trials");
            assert_eq!(ends_again, ends, "resumed after {there} trials");
        }
    }
}

#[test]
fn each_result_has_two_trials_and_an_end_reason() {
    let plan = plan(5, &precisely(Objective::Efficient));
    let (trials, ends) = run(&SATURATING, &plan, 5, Vec::new());
    assert_eq!(ends.len(), plan.results.len());
    for end in &ends {
        let made =
            trials.iter().filter(|trial| trial.result == end.result && trial.arm == samples::Arm::Measure);
        assert_eq!(made.count(), end.trials as usize, "{end:?}");
        match end.reason {
            EndReason::Precise { reach } => assert!(reach <= 0.02 && end.trials >= 5, "{end:?}"),
            EndReason::Settled => assert!(end.trials >= 2, "{end:?}"),
            EndReason::Planned => assert_eq!(end.trials, 20, "{end:?}"),
            EndReason::Budget { .. } | EndReason::Unusable { .. } | EndReason::Clear => {
                panic!("unexpected reason: {end:?}")
            }
        }
    }
    let count = |reason: fn(&EndReason) -> bool| ends.iter().filter(|end| reason(&end.reason)).count();
    assert!(count(|reason| matches!(reason, EndReason::Settled)) >= 10, "{ends:?}");
}

#[test]
fn repeats_baseline_for_noise_floor() {
    let plan = plan(6, &precisely(Objective::Max));
    let (trials, _) = run(&PEAKED, &plan, 6, Vec::new());
    let baseline = &trials.iter().find(|trial| trial.arm == samples::Arm::Again).expect("a baseline").result;
    let made = |arm| trials.iter().filter(|trial| trial.result == *baseline && trial.arm == arm).count();
    assert_eq!(made(samples::Arm::Again), 5, "pairs");
    let last = trials.iter().map(|trial| trial.block).max().expect("trials");
    assert_eq!(made(samples::Arm::Measure), last as usize + 1, "in each block, for comparisons");
}

#[test]
fn runs_full_matrix_in_order_without_budget_or_precision() {
    let plan = plan(7, &PlanOptions::default());
    let (trials, ends) = run(&SATURATING, &plan, 7, Vec::new());
    assert!(trials.iter().map(|trial| trial.index).eq(0..plan.trials.len() as u32));
    assert_eq!(ends, []);
}

#[test]
fn ignores_skipped_result() {
    let plan = plan(8, &precisely(Objective::Max));
    let gone = plan.results[11].id.to_string();
    let mut design = Design::new(&plan, []);
    design.skip(&gone);
    let mut now = 0;
    while let Some(planned) = design.next_trial() {
        assert_ne!(plan.results[planned.result].id.as_str(), gone);
        now += took(&plan, planned.result);
        design.saw(&PEAKED.make(&plan, planned, 8, now));
    }
    assert!(design.ends().iter().all(|end| end.result != gone));
}

/// A result without values must not delay the others.
#[test]
fn ends_result_without_value_after_screening() {
    let plan = plan(9, &precisely(Objective::Max));
    let dead = plan.results[11].id.to_string();
    let mut design = Design::new(&plan, []);
    let mut now = 0;
    while let Some(planned) = design.next_trial() {
        now += took(&plan, planned.result);
        let mut trial = PEAKED.make(&plan, planned, 9, now);
        if trial.result == dead {
            trial.measurement = Measurement::Stream(StreamData { flows: Vec::new() });
        }
        design.saw(&trial);
    }
    let end = design.ends().into_iter().find(|end| end.result == dead).expect("an end");
    assert_eq!((end.reason, end.trials), (EndReason::Unusable { trials: 2 }, 2));
}

#[test]
fn ends_results_without_trial_when_budget_is_used_up() {
    let plan = plan(14, &PlanOptions { budget: Some(Nanos::from_secs(30)), ..PlanOptions::default() });
    let mut design = Design::new(&plan, []);
    let mut now = 0;
    while let Some(planned) = design.next_trial() {
        design.saw(&PEAKED.make(&plan, planned, 14, now));
        now += 3 * took(&plan, planned.result);
    }
    let ends = design.ends();
    let without: Vec<&ResultEnd> = ends.iter().filter(|end| end.trials == 0).collect();
    assert!(!without.is_empty() && ends.len() == plan.results.len(), "{ends:?}");
    assert!(without.iter().all(|end| end.reason == EndReason::Budget { reach: None }), "{without:?}");
}

#[test]
fn reports_missing_cpu_time_only_if_no_trial_has_it() {
    let plan = plan(15, &precisely(Objective::LowCpu));
    let run_without_cpu = |without: fn(&Trial) -> bool| {
        let mut design = Design::new(&plan, []);
        let (mut trials, mut notices, mut now) = (Vec::new(), Vec::new(), 0);
        while let Some(planned) = design.next_trial() {
            notices.extend(design.other_objective());
            let mut trial = SATURATING.make(&plan, planned, 15, now);
            now += took(&plan, planned.result);
            if without(&trial) {
                trial.cpu = CpuUsage::default();
            }
            design.saw(&trial);
            trials.push((trial.index, trial.result));
        }
        (trials, notices.len())
    };
    let (all, of_all) = run_without_cpu(|_| false);
    let (one, of_one) = run_without_cpu(|trial| trial.index == 3);
    let (none, of_none) = run_without_cpu(|_| true);
    assert_eq!((of_all, of_one, of_none), (0, 0, 1), "number of notices");
    let seen =
        |trials: &[(u32, String)]| trials.iter().map(|(_, result)| result.clone()).collect::<BTreeSet<_>>();
    assert_eq!(seen(&one), seen(&all));
    assert!(one.len().abs_diff(all.len()) * 4 < all.len(), "{} and {}", one.len(), all.len());
    assert!(none != all && none != one, "chosen for the best value");
}

#[test]
fn remaining_trials_exclude_skipped_results_and_mere_baselines() {
    let plan = plan(16, &precisely(Objective::Max));
    let mut design = Design::new(&plan, []);
    design.next_trial();
    let (trials, time, results) = (design.trials_left(), design.most_left(), design.results());
    // The first result is the baseline, so another one is skipped.
    design.skip(plan.results[11].id.as_str());
    assert_eq!(trials - design.trials_left(), 20);
    assert_eq!(time.0 - design.most_left().0, 20 * plan.trial_estimate(11).0);
    assert_eq!((results - design.results(), design.open().count()), (1, 19));
    let baseline = plan.results.iter().find(|result| result.baseline).expect("a baseline").id.as_str();
    while let Some(planned) = design.next_trial() {
        design.saw(&PEAKED.make(&plan, planned, 16, 0));
        let settled = design.block().is_some_and(|(_, screening)| !screening);
        assert!(
            !settled || design.open().all(|result| result != baseline),
            "the worst result is the baseline"
        );
    }
}

#[test]
fn does_not_count_pause_before_resume() {
    let plan = plan(10, &PlanOptions { budget: Some(Nanos::from_secs(300)), ..PlanOptions::default() });
    let trials = |shift: i64| {
        let began = |(place, planned): (i64, &PlannedTrial)| {
            let shift = if place < 10 { 0 } else { shift };
            PEAKED.make(&plan, planned, 10, place * 1500 + shift)
        };
        (0..).zip(&plan.trials[..20]).map(began).collect::<Vec<_>>()
    };
    let left = |trials: &[Trial]| Design::new(&plan, trials).most_left();
    let (through, paused) = (left(&trials(0)), left(&trials(3_600_000)));
    assert!(paused.0.abs_diff(through.0) < 1_000_000_000, "{through} against {paused}");
    assert!(through < Nanos::from_secs(300), "includes the trials");
}

fn place(plan: &Plan, result: &str) -> usize {
    plan.results.iter().position(|known| known.id.as_str() == result).expect("a result of the plan")
}
