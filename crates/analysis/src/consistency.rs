//! Checks that the parts of a report do not contradict each other.

use findings::{Difference, Findings, Severity};
use proptest::prelude::*;
use samples::{Arm, RunRecord};

use crate::{
    analyse,
    fixtures::{Fixture, egress, ping_of, reported_of, stream_at},
    judged::{self, Judged},
    rules::direction_pairs::reversed,
};

fn contradictions(findings: &Findings) -> Vec<String> {
    let all: Vec<Judged<'_>> = judged::all(findings).collect();
    two_verdicts(&all)
        .chain(two_numbers(findings, &all))
        .chain(places(findings, &all))
        .chain(claimed(findings))
        .collect()
}

fn two_verdicts<'a>(all: &'a [Judged<'a>]) -> impl Iterator<Item = String> + 'a {
    all.iter().enumerate().flat_map(move |(index, one)| {
        all[index + 1..].iter().filter_map(move |other| {
            let same = (one.result, one.reference) == (other.result, other.reference);
            let turned = (one.result, one.reference) == (other.reference, other.result);
            let differ = (same && one.comparison != other.comparison)
                || (turned && one.comparison.verdict != mirrored(other.comparison.verdict));
            differ.then(|| format!("{one:?} and {other:?}"))
        })
    })
}

/// Finds changes that do not match the two values next to them.
fn two_numbers<'a>(findings: &'a Findings, all: &'a [Judged<'a>]) -> impl Iterator<Item = String> + 'a {
    let value = |id: &str| findings.result(id).map(|it| it.value.estimate);
    all.iter().filter_map(move |judged| {
        let (own, reference) = (value(judged.result)?, value(judged.reference)?);
        let near =
            |one: f64, other: f64| (one - other).abs() <= 1e-9 * one.abs().max(other.abs()).max(reference);
        let agree = near(judged.comparison.ratio, own / reference)
            && near(judged.comparison.difference, own - reference)
            && judged.comparison.ratio_interval.is_none_or(|it| it.low > 0.0);
        (!agree).then(|| format!("{own} and {reference} next to {judged:?}"))
    })
}

fn mirrored(verdict: Difference) -> Difference {
    match verdict {
        Difference::Lower => Difference::Higher,
        Difference::Higher => Difference::Lower,
        other => other,
    }
}

fn places<'a>(findings: &'a Findings, all: &'a [Judged<'a>]) -> impl Iterator<Item = String> + 'a {
    findings.rankings.iter().flat_map(move |ranking| {
        let place = |result: &str| Some(ranking.ranks.iter().find(|rank| rank.result == result)?.place);
        all.iter().filter_map(move |judged| {
            let (own, reference) = (place(judged.result)?, place(judged.reference)?);
            let is_better = match judged.comparison.verdict {
                Difference::Lower => !ranking.metric.more_is_better()?,
                Difference::Higher => ranking.metric.more_is_better()?,
                Difference::None | Difference::Unclear => return None,
            };
            let as_ranked = if is_better { own < reference } else { own > reference };
            (!as_ranked).then(|| format!("places {own} and {reference} of {judged:?}"))
        })
    })
}

fn claimed(findings: &Findings) -> impl Iterator<Item = String> + '_ {
    let apart = findings.findings.iter().filter(|claim| {
        claim.id == "direction-asymmetry" && claim.severity != Severity::Note && claim.results.len() == 1
    });
    apart.flat_map(move |claim| {
        findings.rankings.iter().filter_map(move |ranking| {
            let slower = ranking.ranks.iter().find(|rank| rank.result == claim.results[0])?;
            let faster = ranking.ranks.iter().find(|rank| reversed(&rank.path, &slower.path))?;
            (slower.place == faster.place)
                .then(|| format!("place {} of both: {}", slower.place, claim.claim()))
        })
    })
}

/// The network section of write-up 003, with one log per result. The directions differ by 20 %.
#[test]
fn slower_direction_has_a_lower_rank() {
    for keeps in [0.6, 0.7, 0.796, 0.9, 0.99] {
        let mut run = Fixture::new(1);
        for (path, rate) in [("host-to-vm", 20e9), ("vm-to-host", keeps * 20e9), ("vm-to-vm", 8e9)] {
            let rates: Vec<f64> = (0..51).map(|at| rate * (1.0 + 0.01 * f64::from(at * 7 % 5 - 2))).collect();
            run.path(path, &[]).imported(path, "tcp", &[], stream_at(&rates));
        }
        let findings = analyse(&run.record);
        assert!(!findings.rankings.is_empty());
        assert_eq!(contradictions(&findings), Vec::<String>::new(), "{keeps}");
    }
}

#[test]
fn unbalanced_and_disturbed_run_agrees_with_itself() {
    let mut run = Fixture::new(8);
    for (index, rate) in [20e9, 12e9, 7e9].into_iter().enumerate() {
        let path = ["plain", "bridge", "tunnel"][index];
        run.path(path, &["wire", "bridge", "vxlan"][..=index]).stream(path, &[], rate);
        run.each(&format!("{path}/bulk"), |trial| {
            let block = [1.0, 0.7, 1.3, 0.8, 1.1, 0.6, 1.2, 0.9][trial.block as usize];
            let slowed = if index == 1 && trial.block == 3 { 0.3 } else { 1.0 };
            let own = 1.0 + 0.01 * f64::from((trial.block * 5 + index as u32 * 3) % 7);
            let silent = index == 1 && trial.block == 6 && trial.arm == Arm::Measure;
            trial.measurement = stream_at(&vec![if silent { 0.0 } else { rate * block * slowed * own }; 30]);
        });
    }
    run.record.trials.retain(|trial| !(trial.result == "tunnel/bulk" && trial.block > 5));
    let findings = analyse(&run.record);
    assert_eq!(contradictions(&findings), Vec::<String>::new());
    let steps: Vec<f64> =
        findings.cost_breakdowns[0].steps.iter().filter_map(|step| Some(step.cost.as_ref()?.ratio)).collect();
    let total = findings.results[2].against_baseline.expect("a comparison").ratio;
    assert!(steps.len() == 2 && (steps[0] * steps[1] / total - 1.0).abs() < 1e-9, "{steps:?} {total}");
    assert_eq!(findings.results[1].value.outages, 1);
    assert!(findings.limitations.iter().any(|it| it.contains("bridge/bulk (1 of 8 trials)")));
}

#[test]
fn detects_contradictions() {
    let mut run = Fixture::new(6);
    for (path, rate) in [("one", 20e9), ("two", 10e9), ("three", 5e9)] {
        run.path(path, &["wire"]).stream(path, &[], rate);
    }
    let mut findings = analyse(&run.record);
    assert_eq!(contradictions(&findings), Vec::<String>::new());
    findings.rankings[0].ranks.iter_mut().for_each(|rank| rank.place = 1);
    assert!(!contradictions(&findings).is_empty());
}

fn any_run() -> impl Strategy<Value = RunRecord> {
    let path = (0.3..3.0f64, 0.0..0.4f64, any::<u64>());
    let shape = (1..9u32, any::<bool>(), any::<bool>(), 0..3u8);
    (shape, prop::collection::vec(path, 2..6)).prop_map(|((blocks, imported, nested, kind), paths)| {
        let mut run = Fixture::new(blocks);
        let names = ["a-to-b", "b-to-a", "c-vhost", "c", "d-to-e"];
        let layers = ["wire", "bridge", "vxlan", "nat", "tap"];
        for (index, (_, name)) in paths.iter().zip(names).enumerate() {
            run.path(name, if nested { &layers[..=index] } else { &layers[index..=index] });
        }
        for ((level, scatter, seed), name) in paths.iter().zip(names) {
            let value = |trial: u32| {
                let noise = f64::from(seed.rotate_right(trial * 7) as u32 & 127) / 127.0 - 0.5;
                1e4 * level * (1.0 + scatter * noise)
            };
            let rates = |trial| (0..30_u32).map(|at| value(trial + at % 3) * 1e6).collect::<Vec<_>>();
            let measure = |trial: u32| match kind {
                0 => stream_at(&rates(trial)),
                1 => ping_of(value(trial)),
                _ => reported_of(&[("Bandwidth", workload::Quantity::BitRate, value(trial) * 1e6)]),
            };
            if imported {
                run.imported(name, "log", &[], measure(0));
            } else if kind == 1 {
                run.ping(name, &[], value(0));
            } else {
                run.stream(name, &[], value(0) * 1e6);
            }
            let workload = if imported {
                "log"
            } else if kind == 1 {
                "ping"
            } else {
                "bulk"
            };
            run.each(&format!("{name}/{workload}"), |trial| {
                if imported || kind < 2 {
                    trial.measurement = measure(trial.block + if trial.arm == Arm::Again { 11 } else { 0 });
                }
            });
        }
        run.record
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn parts_of_a_report_never_contradict_each_other(record in any_run()) {
        prop_assert_eq!(contradictions(&analyse(&record)), Vec::<String>::new());
    }
}

#[test]
fn judges_each_layer_once() {
    for blocks in 1..8 {
        assert_eq!(contradictions(&analyse(&egress(blocks).record)), Vec::<String>::new(), "{blocks} blocks");
    }
}
