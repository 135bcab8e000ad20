//! The design against simulated labs: what it saves, whether it finds what the full matrix finds, and that a run that
//! was killed goes on alike.

mod disturbed;
mod out_of_time;
mod probed;
mod unclear;

use std::collections::{BTreeMap, BTreeSet};

use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;
use samples::{
    CellEnd, CpuUsage, EndReason, MachineCpu, Objective, PathCheck, Trial, UnixMillis, ValidityWarning,
};
use scenario::{Plan, PlanOptions, PlannedTrial, Scenario};
use units::{Bytes, Nanos};
use workload::{Direction, EndSeries, Flow, Interval, Measurement, StreamData};

use super::Design;

const STREAMS: [u32; 5] = [1, 2, 4, 8, 16];
const MESSAGES: [u32; 4] = [8, 32, 128, 512];

/// Twenty cells: streams times sizes of writes.
fn plan(seed: u64, options: &PlanOptions) -> Plan {
    let text = "schema = 1\nname = \"t\"\ntitle = \"t\"\n[hosts.a]\n[hosts.b]\n[wires.w]\nbetween = [\"a:eth0\", \"b:eth0\"]\n\
         addresses = [\"198.18.0.1/24\", \"198.18.0.2/24\"]\n[paths.p]\nfrom = \"a\"\nto = \"b\"\nlayers = [\"wire\"]\n\
         baseline = true\n[workloads.x]\nkind = \"stream\"\nduration = \"1s\"\n\
         [factors.streams]\nvary = \"streams\"\nvalues = [1, 2, 4, 8, 16]\n\
         [factors.message]\nvary = \"message\"\nvalues = [\"8KiB\", \"32KiB\", \"128KiB\", \"512KiB\"]\n";
    Plan::expand(&Scenario::parse("test", text).expect("a scenario"), seed, options)
}

/// What a lab is like: the true rate (Gbit/s) and the CPUs that it takes, by cell; and how its trials scatter.
#[derive(Clone, Copy)]
struct Lab {
    rate: fn(f64, f64) -> f64,
    cpus: fn(f64, f64) -> f64,
    scatter: f64,
    /// The share of trials that something else disturbs: they lose a fifth.
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
    /// The same trial is the same whoever makes it, and when.
    fn make(&self, plan: &Plan, planned: &PlannedTrial, seed: u64, started: i64) -> Trial {
        let (streams, message) = levels(planned.cell);
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

fn levels(cell: usize) -> (f64, f64) {
    (f64::from(STREAMS[cell / MESSAGES.len()]), f64::from(MESSAGES[cell % MESSAGES.len()]))
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
        cell: plan.cells[planned.cell].id.to_string(),
        arm: planned.arm,
        started: UnixMillis(started),
        measurement: Measurement::Stream(StreamData { flows: vec![flow] }),
        cpu: CpuUsage { machine, ..CpuUsage::default() },
        devices: Vec::new(),
        path_check: PathCheck::default(),
        syscalls: Vec::new(),
        observed: None,
        counters: None,
        doubts: Vec::new(),
        beside: 0,
        discarded: Vec::new(),
    }
}

/// Every trial takes as long as the plan says, as it is counted by the clock that records have.
fn took(plan: &Plan, cell: usize) -> i64 {
    plan.trial_estimate(cell).0 as i64 / 1_000_000
}

/// Makes a run, from the trials that are there.
fn run(lab: &Lab, plan: &Plan, seed: u64, mut trials: Vec<Trial>) -> (Vec<Trial>, Vec<CellEnd>) {
    let mut design = Design::new(plan, &trials);
    let mut now = trials.last().map_or(0, |trial| trial.started.0 + took(plan, 0));
    while let Some(planned) = design.next_trial() {
        let trial = lab.make(plan, planned, seed, now);
        now += took(plan, planned.cell);
        design.saw(&trial);
        trials.push(trial);
    }
    let ends = design.ends();
    (trials, ends)
}

/// What the trials recommend: the most worth among the cells whose median is near enough to the best one's.
fn recommended(trials: &[Trial], objective: Objective) -> String {
    let mut cells: BTreeMap<&str, (Vec<f64>, Vec<f64>)> = BTreeMap::new();
    for trial in trials.iter().filter(|trial| trial.arm == samples::Arm::Measure) {
        let value = trial.measurement.value(trial.measurement.kind().metric()).expect("a stream");
        let (values, cpus) = cells.entry(&trial.cell).or_default();
        values.push(value);
        cpus.push(trial.cpu.machine.busy().seconds());
    }
    let median = |values: &[f64]| stats::describe::median(values).expect("a trial at least");
    let best = cells.values().map(|(values, _)| median(values)).fold(0.0, f64::max);
    let (least, worth): (f64, fn(f64, f64) -> f64) = match objective {
        Objective::Max => (1.0, |value, _| value),
        Objective::Efficient => (0.9, |value, cpus| value / cpus),
        Objective::LowCpu => (0.5, |_, cpus| 1.0 / cpus),
    };
    let near = cells.iter().filter(|(_, (values, _))| median(values) >= least * best);
    let worths = near.map(|(cell, (values, cpus))| (*cell, worth(median(values), median(cpus))));
    worths.max_by(|a, b| a.1.total_cmp(&b.1)).map(|(cell, _)| cell.to_owned()).expect("a cell")
}

/// How many of `runs` recommend what the full matrix of as many blocks does, and the share of trials saved against it.
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

/// Held against the full matrix of as many blocks, so that a long run of a few cells does not count as saving twice.
#[test]
fn half_of_the_trials_find_what_all_of_them_find() {
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
        assert!(same * 100 >= RUNS * 95, "{name}: only {same} of {RUNS} recommend what all trials do");
        assert!(saved >= 0.5, "{name}: only {saved:.2} of the trials saved");
    }
}

/// Half of the time of a full matrix of five trials, as a budget.
#[test]
fn a_budget_of_half_the_time_finds_what_all_of_it_finds_and_is_kept() {
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
        let spent: Nanos = trials.iter().map(|trial| plan.trial_estimate(place(&plan, &trial.cell))).sum();
        assert!(spent <= budget && spent.0 * 10 > budget.0 * 9, "{spent} of {budget}");
        assert!(ends.iter().any(|end| matches!(end.why, EndReason::Budget { .. })), "{ends:?}");
        let whole = self::plan(seed, &full);
        let every: Vec<Trial> =
            whole.trials.iter().map(|planned| PEAKED.make(&whole, planned, seed, 0)).collect();
        same += u64::from(recommended(&trials, Objective::Max) == recommended(&every, Objective::Max));
    }
    assert!(same * 100 >= RUNS * 95, "only {same} of {RUNS} recommend what five trials of each cell do");
}

#[test]
fn a_run_that_was_killed_goes_on_with_the_same_choices() {
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
fn every_cell_has_two_trials_at_least_and_an_end_with_its_reason() {
    let plan = plan(5, &precisely(Objective::Efficient));
    let (trials, ends) = run(&SATURATING, &plan, 5, Vec::new());
    assert_eq!(ends.len(), plan.cells.len());
    for end in &ends {
        let made = trials.iter().filter(|trial| trial.cell == end.cell && trial.arm == samples::Arm::Measure);
        assert_eq!(made.count(), end.trials as usize, "{end:?}");
        match end.why {
            EndReason::Precise { reach } => assert!(reach <= 0.02 && end.trials >= 5, "{end:?}"),
            EndReason::Settled => assert!(end.trials >= 2, "{end:?}"),
            EndReason::Planned => assert_eq!(end.trials, 20, "{end:?}"),
            EndReason::Budget { .. } | EndReason::Unusable { .. } | EndReason::Clear => {
                panic!("no budget, no failure, nothing to be cleared: {end:?}")
            }
        }
    }
    let count = |why: fn(&EndReason) -> bool| ends.iter().filter(|end| why(&end.why)).count();
    assert!(count(|why| matches!(why, EndReason::Settled)) >= 10, "{ends:?}");
}

#[test]
fn the_baseline_is_repeated_often_enough_for_a_noise_floor() {
    let plan = plan(6, &precisely(Objective::Max));
    let (trials, _) = run(&PEAKED, &plan, 6, Vec::new());
    let baseline = &trials.iter().find(|trial| trial.arm == samples::Arm::Again).expect("a baseline").cell;
    let made = |arm| trials.iter().filter(|trial| trial.cell == *baseline && trial.arm == arm).count();
    assert_eq!(made(samples::Arm::Again), 5, "pairs");
    let last = trials.iter().map(|trial| trial.block).max().expect("trials");
    assert_eq!(
        made(samples::Arm::Measure),
        last as usize + 1,
        "in every block, for what is compared with it"
    );
}

#[test]
fn without_a_budget_or_a_precision_the_matrix_is_full_and_in_order() {
    let plan = plan(7, &PlanOptions::default());
    let (trials, ends) = run(&SATURATING, &plan, 7, Vec::new());
    assert!(trials.iter().map(|trial| trial.index).eq(0..plan.trials.len() as u32));
    assert_eq!(ends, []);
}

#[test]
fn a_skipped_cell_gets_no_trial_and_takes_no_part() {
    let plan = plan(8, &precisely(Objective::Max));
    let gone = plan.cells[11].id.to_string();
    let mut design = Design::new(&plan, []);
    design.skip(&gone);
    let mut now = 0;
    while let Some(planned) = design.next_trial() {
        assert_ne!(plan.cells[planned.cell].id.as_str(), gone);
        now += took(&plan, planned.cell);
        design.saw(&PEAKED.make(&plan, planned, 8, now));
    }
    assert!(design.ends().iter().all(|end| end.cell != gone));
}

/// A cell through which nothing comes cannot be compared with others, and must not hold them up.
#[test]
fn a_cell_without_a_value_ends_after_the_screening() {
    let plan = plan(9, &precisely(Objective::Max));
    let dead = plan.cells[11].id.to_string();
    let mut design = Design::new(&plan, []);
    let mut now = 0;
    while let Some(planned) = design.next_trial() {
        now += took(&plan, planned.cell);
        let mut trial = PEAKED.make(&plan, planned, 9, now);
        if trial.cell == dead {
            trial.measurement = Measurement::Stream(StreamData { flows: Vec::new() });
        }
        design.saw(&trial);
    }
    let end = design.ends().into_iter().find(|end| end.cell == dead).expect("an end");
    assert_eq!((end.why, end.trials), (EndReason::Unusable { trials: 2 }, 2));
}

/// Makes a run whose trials are changed before they are seen.
fn run_changed(plan: &Plan, seed: u64, change: impl Fn(&mut Trial)) -> (Vec<Trial>, Vec<CellEnd>) {
    let mut design = Design::new(plan, []);
    let (mut trials, mut now) = (Vec::new(), 0);
    while let Some(planned) = design.next_trial() {
        let mut trial = PEAKED.make(plan, planned, seed, now);
        now += took(plan, planned.cell);
        change(&mut trial);
        design.saw(&trial);
        trials.push(trial);
    }
    (trials, design.ends())
}

/// The cell that `PEAKED` makes the best.
fn best_of(plan: &Plan) -> String {
    plan.cells[11].id.to_string()
}

/// Nothing comes through the best cell in every other block: its other trials are no reason to recommend it.
#[test]
fn a_cell_through_which_nothing_came_once_is_out_with_the_reason() {
    let plan = plan(9, &precisely(Objective::Max));
    let lucky = best_of(&plan);
    let (_, ends) = run_changed(&plan, 9, |trial| {
        if trial.cell == lucky && trial.block % 2 == 1 {
            trial.measurement = Measurement::Stream(StreamData { flows: Vec::new() });
        }
    });
    let end = ends.iter().find(|end| end.cell == lucky).expect("an end");
    assert_eq!((end.why, end.trials), (EndReason::Unusable { trials: 1 }, 2));
    let unusable = |end: &&CellEnd| matches!(end.why, EndReason::Unusable { .. });
    assert_eq!(ends.iter().filter(unusable).count(), 1, "{ends:?}");
}

/// Where no cell is free of it, that nothing comes through at times tells none from the others.
#[test]
fn cells_that_all_fail_at_times_are_judged_by_what_they_bring() {
    let plan = plan(12, &precisely(Objective::Max));
    let (_, ends) = run_changed(&plan, 12, |trial| {
        if trial.block == 0 {
            trial.measurement = Measurement::Stream(StreamData { flows: Vec::new() });
        }
    });
    assert!(ends.iter().all(|end| !matches!(end.why, EndReason::Unusable { .. })), "{ends:?}");
    let best = ends.iter().find(|end| end.cell == best_of(&plan)).expect("an end");
    assert!(best.trials >= 5, "{best:?}");
}

/// The worst cell shows five times the best in trials that ran for a tenth of their time.
#[test]
fn a_trial_that_ran_too_short_is_no_reason_for_or_against_its_cell() {
    let plan = plan(13, &precisely(Objective::Max));
    let short =
        ValidityWarning::OtherDuration { asked: Nanos::from_secs(1), measured: Nanos::from_millis(100) };
    let worst = plan.cells[16].id.to_string();
    let (trials, ends) = run_changed(&plan, 13, |trial| {
        if trial.cell == worst && trial.block == 0 {
            let Measurement::Stream(stream) = &mut trial.measurement else { panic!("a stream") };
            stream.flows[0].receiver.intervals[0].bytes.0 *= 50;
            trial.doubts = vec![short.clone()];
        }
    });
    let end = |cell: &str| ends.iter().find(|end| end.cell == cell).expect("an end");
    assert_eq!(end(&worst).why, EndReason::Settled, "by its other trial");
    assert!(matches!(end(&best_of(&plan)).why, EndReason::Precise { .. }), "{ends:?} {}", trials.len());
}

/// The estimate was wrong, and the budget ends in the first block.
#[test]
fn cells_that_a_budget_left_without_a_trial_ended_with_the_time() {
    let plan = plan(14, &PlanOptions { budget: Some(Nanos::from_secs(30)), ..PlanOptions::default() });
    let mut design = Design::new(&plan, []);
    let mut now = 0;
    while let Some(planned) = design.next_trial() {
        design.saw(&PEAKED.make(&plan, planned, 14, now));
        now += 3 * took(&plan, planned.cell);
    }
    let ends = design.ends();
    let without: Vec<&CellEnd> = ends.iter().filter(|end| end.trials == 0).collect();
    assert!(!without.is_empty() && ends.len() == plan.cells.len(), "{ends:?}");
    assert!(without.iter().all(|end| end.why == EndReason::Budget { reach: None }), "{without:?}");
}

#[test]
fn one_trial_without_cpu_time_leaves_the_objective_and_none_with_it_is_told() {
    let plan = plan(15, &precisely(Objective::LowCpu));
    let told = |without: fn(&Trial) -> bool| {
        let mut design = Design::new(&plan, []);
        let (mut trials, mut told, mut now) = (Vec::new(), Vec::new(), 0);
        while let Some(planned) = design.next_trial() {
            told.extend(design.other_objective());
            let mut trial = SATURATING.make(&plan, planned, 15, now);
            now += took(&plan, planned.cell);
            if without(&trial) {
                trial.cpu = CpuUsage::default();
            }
            design.saw(&trial);
            trials.push((trial.index, trial.cell));
        }
        (trials, told.len())
    };
    let (all, of_all) = told(|_| false);
    let (one, of_one) = told(|trial| trial.index == 3);
    let (none, of_none) = told(|_| true);
    assert_eq!((of_all, of_one, of_none), (0, 0, 1), "times that it is told");
    let seen =
        |trials: &[(u32, String)]| trials.iter().map(|(_, cell)| cell.clone()).collect::<BTreeSet<_>>();
    assert_eq!(seen(&one), seen(&all));
    assert!(one.len().abs_diff(all.len()) * 4 < all.len(), "{} and {}", one.len(), all.len());
    assert!(none != all && none != one, "chosen for the best value");
}

#[test]
fn what_is_left_counts_no_skipped_cell_and_no_baseline_that_is_only_compared_with() {
    let plan = plan(16, &precisely(Objective::Max));
    let mut design = Design::new(&plan, []);
    design.next_trial();
    let (trials, time, cells) = (design.trials_left(), design.most_left(), design.cells());
    // Not the baseline, the first cell.
    design.skip(plan.cells[11].id.as_str());
    assert_eq!(trials - design.trials_left(), 20);
    assert_eq!(time.0 - design.most_left().0, 20 * plan.trial_estimate(11).0);
    assert_eq!((cells - design.cells(), design.open().count()), (1, 19));
    let baseline = plan.cells.iter().find(|cell| cell.baseline).expect("a baseline").id.as_str();
    while let Some(planned) = design.next_trial() {
        design.saw(&PEAKED.make(&plan, planned, 16, 0));
        let settled = design.block().is_some_and(|(_, screening)| !screening);
        assert!(!settled || design.open().all(|cell| cell != baseline), "the worst cell is the baseline");
    }
}

#[test]
fn a_pause_before_a_resume_is_not_counted_as_time_spent() {
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
    assert!(through < Nanos::from_secs(300), "and the trials are");
}

fn place(plan: &Plan, cell: &str) -> usize {
    plan.cells.iter().position(|known| known.id.as_str() == cell).expect("a cell of the plan")
}
