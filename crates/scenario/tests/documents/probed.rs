//! Trials that are watched: which there are, where they stand, and that all others stay where they were.

use std::collections::BTreeSet;

use samples::{Arm, ProbeKind};
use scenario::{Plan, PlanOptions, PlannedTrial, Scenario, builtin};
use workload::WorkloadSettings;

fn quick(table: &str) -> Scenario {
    let text = builtin::find("quick").expect("shipped").text;
    // Six blocks of all cells.
    let (text, _) = text.split_once("[schedule]").expect("its last table");
    let text = format!("{text}{table}\n[schedule]\ntrials = 6\n");
    Scenario::parse("quick", &text).unwrap_or_else(|diagnosis| panic!("{diagnosis}"))
}

fn plan(table: &str, options: &PlanOptions) -> Plan {
    Plan::expand(&quick(table), 1, options)
}

fn with(probes: &[ProbeKind]) -> PlanOptions {
    PlanOptions { probes: Some(probes.to_vec()), ..PlanOptions::default() }
}

fn probed(plan: &Plan) -> Vec<&PlannedTrial> {
    plan.trials.iter().filter(|trial| trial.arm == Arm::Probed).collect()
}

/// The order of a run that was begun before there were probes, from the same seed: it must go on where it stopped.
const ORDER_OF_QUICK: [(usize, Arm); 10] = [
    (3, Arm::Measure),
    (1, Arm::Again),
    (0, Arm::Measure),
    (1, Arm::Measure),
    (5, Arm::Measure),
    (9, Arm::Measure),
    (8, Arm::Measure),
    (0, Arm::Again),
    (6, Arm::Measure),
    (7, Arm::Measure),
];

#[test]
fn a_plan_without_probes_is_what_it_was_before_there_were_any() {
    let plan = plan("", &PlanOptions::default());
    let order: Vec<(usize, Arm)> = plan.trials.iter().map(|trial| (trial.cell, trial.arm)).take(10).collect();
    assert_eq!(order, ORDER_OF_QUICK);
    assert_eq!((plan.trials.len(), plan.probes.len()), (6 * 12, 0));
    assert_eq!(plan, self::plan("[probes]", &with(&[])), "`none` takes a scenario's probes away");
}

#[test]
fn each_cell_is_probed_once_in_each_of_the_first_blocks_in_shuffled_order() {
    let plan = plan("[probes]\ntrials = 2", &PlanOptions::default());
    assert_eq!(plan.probes, ProbeKind::ALL);
    let probed = probed(&plan);
    assert_eq!(probed.len(), 2 * plan.cells.len(), "baselines too");
    for block in 0..2 {
        let cells: BTreeSet<usize> =
            probed.iter().filter(|trial| trial.block == block).map(|trial| trial.cell).collect();
        assert_eq!(cells.len(), plan.cells.len(), "block {block}");
    }
    let ends: Vec<bool> = plan.trials.iter().take(22).map(|trial| trial.arm == Arm::Probed).collect();
    assert!(ends[..12].contains(&true) && ends[12..].contains(&false), "they are among the others: {ends:?}");
    assert!(plan.trials.iter().zip(0..).all(|(trial, index)| trial.index == index));
}

#[test]
fn all_blocks_are_probed_where_nobody_said_how_many_but_no_more_than_seven() {
    for (trials, blocks) in [(1, 1), (6, 6), (7, 7), (12, 7)] {
        let plan = plan(
            "[probes]\nkinds = [\"cpu\"]",
            &PlanOptions { trials: Some(trials), ..PlanOptions::default() },
        );
        let found: BTreeSet<u32> = probed(&plan).iter().map(|trial| trial.block).collect();
        assert_eq!(found, (0..blocks).collect(), "of {trials}");
    }
}

#[test]
fn only_what_a_probe_sees_is_probed() {
    let plan = plan("", &with(&[ProbeKind::PacketWay]));
    let is_ping =
        |trial: &&PlannedTrial| matches!(plan.cells[trial.cell].load, WorkloadSettings::PingPong(_));
    assert!(!probed(&plan).is_empty() && probed(&plan).iter().all(is_ping));
}

#[test]
fn probed_trials_take_their_time() {
    let seconds = |options: &PlanOptions| plan("", options).duration_estimate().seconds();
    let (without, with) = (seconds(&PlanOptions::default()), seconds(&with(&ProbeKind::ALL)));
    // A block has ten probed trials, one a cell, beside its twelve others.
    assert!((with / without - 22.0 / 12.0).abs() < 0.05, "{with} s, not {without} s");
}

#[test]
fn a_plan_that_is_limited_keeps_the_order_of_all_others() {
    let full = plan("", &with(&ProbeKind::ALL));
    let kept = |plan: &Plan, arm: Arm| -> Vec<(u32, usize)> {
        plan.trials.iter().filter(|trial| trial.arm == arm).map(|trial| (trial.block, trial.cell)).collect()
    };
    let none = full.limited_to(&[]);
    assert_eq!((probed(&none).len(), none.trials.len()), (0, 72));
    let way = full.limited_to(&[ProbeKind::PacketWay]);
    assert_eq!(probed(&way).len() * 2, probed(&full).len(), "ping-pongs are half of the cells");
    for limited in [&none, &way] {
        assert_eq!(kept(limited, Arm::Measure), kept(&full, Arm::Measure));
        assert!(limited.trials.iter().zip(0..).all(|(trial, index)| trial.index == index));
    }
    assert_eq!(full.limited_to(&ProbeKind::ALL), full);
}
