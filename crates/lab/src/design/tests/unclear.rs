//! Tests `until_clear`: the selection of results, the end of the run, and the rate of false alarms.

use samples::Arm;

use super::{
    super::{Judged, Observations},
    disturbed::disturb,
    *,
};

const TEXT: &str = "schema = 1\nname = \"t\"\ntitle = \"t\"\n[hosts.a]\n[hosts.b]\n[wires.w]\nbetween = [\"a:eth0\", \"b:eth0\"]\n\
    addresses = [\"198.18.0.1/24\", \"198.18.0.2/24\"]\n[vxlans.vx]\nvni = 1\n[vxlans.vx.members.a]\nover = \"eth0\"\n\
    address = \"198.18.1.1/24\"\n[vxlans.vx.members.b]\nover = \"eth0\"\naddress = \"198.18.1.2/24\"\n\
    [paths.p]\nfrom = \"a:eth0\"\nto = \"b:eth0\"\nlayers = [\"wire\"]\nbaseline = true\n\
    [paths.q]\nfrom = \"a:vx\"\nto = \"b:vx\"\nlayers = [\"vxlan\", \"wire\"]\n\
    [workloads.one]\nkind = \"stream\"\nduration = \"1s\"\n[workloads.two]\nkind = \"stream\"\nduration = \"1s\"\n\
    [schedule]\ntrials = 12\nuntil = \"clear\"\n";

fn plan(seed: u64) -> Plan {
    Plan::expand(&Scenario::parse("test", TEXT).expect("a scenario"), seed, &PlanOptions::default())
}

fn run(plan: &Plan, seed: u64, rate: impl Fn(&str) -> (f64, f64)) -> (Vec<Trial>, Vec<ResultEnd>) {
    let mut design = Design::new(plan, []);
    let (mut trials, mut now) = (Vec::new(), 0);
    while let Some(planned) = design.next_trial() {
        let mut random = Pcg64Mcg::seed_from_u64(seed ^ (u64::from(planned.index) << 20));
        let sum: f64 = (0..12).map(|_| random.random_range(-0.5..0.5)).sum();
        let (level, scatter) = rate(plan.results[planned.result].id.as_str());
        let trial = trial(plan, planned, now, level * (scatter * sum).exp(), 1.0);
        now += took(plan, planned.result);
        design.saw(&trial);
        trials.push(trial);
    }
    let ends = design.ends();
    (trials, ends)
}

fn trials_of(trials: &[Trial], result: &str) -> usize {
    trials.iter().filter(|trial| trial.result == result && trial.arm == Arm::Measure).count()
}

fn verdict(plan: &Plan, trials: &[Trial], workload: &str) -> stats::Difference {
    let mut seen = Observations::default();
    trials.iter().for_each(|trial| seen.take(plan, trial));
    let of = |path: &str| {
        let id = format!("{path}/{workload}");
        plan.results.iter().position(|result| result.id.as_str() == id).expect("a result of the plan")
    };
    Judged::of(plan, &seen, workload, u32::MAX).judge(of("q"), of("p")).expect("a ratio")
}

#[test]
fn adds_blocks_only_for_undecided_workloads() {
    let plan = plan(3);
    let (trials, ends) = run(&plan, 1, |result| match result {
        "p/one" => (10.0, 0.01),
        "q/one" => (8.0, 0.01),
        "p/two" => (10.0, 0.2),
        _ => (8.5, 0.2),
    });
    for (result, more) in [("p/one", false), ("q/one", false), ("p/two", true), ("q/two", true)] {
        assert_eq!(trials_of(&trials, result) > 5, more, "{result}: {}", trials_of(&trials, result));
    }
    let clear = ends.iter().filter(|end| end.reason == EndReason::Clear).map(|end| end.result.as_str());
    assert!(clear.collect::<BTreeSet<_>>().is_superset(&BTreeSet::from(["p/one", "q/one"])), "{ends:?}");
    // The noise floor needs the same number of pairs as the comparison.
    let again =
        |result| trials.iter().filter(|trial| trial.result == result && trial.arm == Arm::Again).count();
    assert_eq!(again("p/two"), trials_of(&trials, "p/two"));
}

#[test]
fn measures_on_if_a_repeated_trial_makes_a_comparison_unclear() {
    let plan = plan(3);
    let (trials, _) =
        run(&plan, 1, |result| if result.starts_with('p') { (10.0, 0.01) } else { (8.0, 0.01) });
    let mut design = Design::new(&plan, &trials);
    assert!(design.next_trial().is_none() && !design.look_again(), "every comparison is decided");
    for (rate, repeated) in [(30.0, 0), (3.0, 1), (20.0, 2), (5.0, 3)] {
        let mut last = trials.iter().filter(|trial| trial.result == "q/one" && trial.arm == Arm::Measure);
        let planned = &plan.trials[last.nth(repeated).expect("five trials").index as usize];
        design.saw(&trial(&plan, planned, 0, rate, 1.0));
    }
    assert!(design.look_again());
    let next = design.next_trial().expect("a trial is left");
    assert_eq!(plan.results[next.result].workload.as_str(), "one");
}

#[test]
fn false_alarm_rate_is_at_most_5_percent() {
    let plan = plan(3);
    let (mut alarms, mut judged, mut blocks) = (0, 0, 0);
    for seed in 0..200 {
        let (trials, _) = run(&plan, seed << 40, |_| (10.0, 0.03));
        blocks += trials_of(&trials, "q/one");
        for workload in ["one", "two"] {
            let difference = verdict(&plan, &trials, workload);
            judged += 1;
            alarms += usize::from(matches!(difference, stats::Difference::Lower | stats::Difference::Higher));
        }
    }
    assert!(alarms * 20 <= judged, "{alarms} of {judged}");
    assert!(blocks < 200 * 8, "{blocks} blocks in 200 runs");
}

#[test]
fn mostly_disturbed_result_is_not_judged() {
    let plan = plan(3);
    let (mut trials, _) =
        run(&plan, 1, |result| if result.starts_with('p') { (10.0, 0.01) } else { (8.0, 0.01) });
    let of_result = |trial: &Trial| trial.result == "q/one" && trial.arm == Arm::Measure;
    let all = trials_of(&trials, "q/one");
    let mut verdicts = Vec::new();
    for place in 0..all {
        disturb(trials.iter_mut().filter(|trial| of_result(trial)).nth(place).expect("a trial"));
        verdicts.push(verdict(&plan, &trials, "one"));
    }
    let unclear =
        verdicts.iter().position(|it| *it == stats::Difference::Unclear).expect("all are disturbed");
    assert_eq!(unclear + 1, all / 2 + 1, "{verdicts:?}");
    assert!(verdicts[unclear..].iter().all(|it| *it == stats::Difference::Unclear), "{verdicts:?}");
    assert_eq!(verdict(&plan, &trials, "two"), stats::Difference::Lower);
}

#[test]
fn budget_ends_undecided_comparison() {
    let text = TEXT.replace("until =", "budget = \"40s\"\nuntil =");
    let plan = Plan::expand(&Scenario::parse("test", &text).expect("a scenario"), 3, &PlanOptions::default());
    let (trials, ends) =
        run(&plan, 1, |result| if result.starts_with('p') { (10.0, 0.3) } else { (9.0, 0.3) });
    let over = ends.iter().any(|end| matches!(end.reason, EndReason::Budget { .. }));
    assert!(over && trials_of(&trials, "q/two") < 12, "{} trials, {ends:?}", trials.len());
}
