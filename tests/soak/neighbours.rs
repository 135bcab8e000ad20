//! Runs `quick` with competing load for part of its duration and for all of it.

use std::{
    process::Stdio,
    thread::sleep,
    time::{Duration, Instant},
};

use plumb_tests::{OtherWork, Sandbox, trials};
use serde_json::Value;

use crate::{
    command, rounds, sandbox, spread,
    steps::{self, Agreement, Steps},
};

const RUN: f64 = 45.0;

struct Made {
    steps: Steps,
    again: usize,
    kept: usize,
}

fn quick(sandbox: &Sandbox, burst: Option<usize>) -> Made {
    let began = Instant::now();
    let mut run = command(sandbox, &["run", "quick", "--quiet"])
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("plumb was built");
    let mut printed = String::from("alone");
    if let Some(round) = burst {
        let (after, lasts) = (spread(round, 0) * (RUN - 15.0), 5.0 + 10.0 * spread(round, 1));
        sleep(Duration::from_secs_f64(after));
        let work = OtherWork::on_cpus(2, sandbox.home());
        sleep(Duration::from_secs_f64(lasts));
        drop(work);
        printed = format!("two loops after {after:.1} s, for {lasts:.1} s");
    }
    assert!(run.wait().expect("it was started").success());
    let (findings, record) = (sandbox.findings("latest"), sandbox.record());
    let again = trials(&record)
        .iter()
        .filter(|trial| trial["discarded"].as_array().is_some_and(|all| !all.is_empty()));
    let made = Made { steps: steps::of(&findings), again: again.count(), kept: trials(&record).len() };
    println!(
        "  {printed}: {:.0} s, {} of {} trials repeated",
        began.elapsed().as_secs_f64(),
        made.again,
        made.kept
    );
    made
}

pub(crate) fn quick_under_bursts() {
    let (mut quiet, mut disturbed) = (Vec::new(), Vec::new());
    for round in 0..rounds(10) {
        quiet.push(quick(&sandbox(), None));
        disturbed.push(quick(&sandbox(), Some(round)));
    }
    let (again, kept) =
        quiet.iter().fold((0, 0), |(again, kept), made| (again + made.again, kept + made.kept));
    let quiet: Vec<Steps> = quiet.into_iter().map(|made| made.steps).collect();
    let disturbed: Vec<Steps> = disturbed.into_iter().map(|made| made.steps).collect();
    let truth = steps::pooled(&quiet);
    for (name, ratio) in &truth {
        println!("  {name}: {ratio:.3}x");
    }
    let (alone, with_bursts) = (Agreement::of(&quiet, &truth), Agreement::of(&disturbed, &truth));
    println!(
        "  undisturbed: {alone:#?}\n  with bursts: {with_bursts:#?}\n  repeated when undisturbed: {again} of {kept} trials"
    );
    assert!(alone.reversed.is_empty() && with_bursts.reversed.is_empty(), "a step is reversed");
    assert!(
        with_bursts.covered * 10 >= with_bursts.intervals * 9,
        "fewer than nine in ten intervals contain the undisturbed value"
    );
    let (complete, runs) = (alone.complete + with_bursts.complete, alone.runs + with_bursts.runs);
    assert!(complete * 20 >= runs * 17, "only {complete} of {runs} runs establish every large step");
}

pub(crate) fn quick_under_loops() {
    let sandbox = sandbox();
    let _ = quick(&sandbox, None);
    let before = sandbox.findings("latest");
    let _ = sandbox.succeed(&["baseline", "set", "before", "latest"]);
    let work = OtherWork::on_cpus(4, sandbox.home());
    let printed = command(&sandbox, &["run", "quick"]).output().expect("plumb was built");
    drop(work);
    let printed = String::from_utf8_lossy(&printed.stdout).into_owned();
    let findings = sandbox.findings("latest");
    let first = &findings["findings"][0];
    println!("  {}: {}", first["lead"], first["detail"]);
    assert_eq!(first["id"], "disturbed", "{first}");
    let answer = printed.lines().take(24).collect::<Vec<_>>().join("\n");
    assert!(answer.contains(OtherWork::NAME), "the first screen names the competing process:\n{answer}");
    for (result, then) in results(&findings).zip(results(&before)) {
        let (now, then) = (cost(result), cost(then));
        println!("  {}: {now:.3} CPU-s per unit of work, undisturbed {then:.3}", result["id"]);
        // Smaller batches and colder caches may double the cost. Including the loops' CPU time would multiply it by
        // five.
        assert!(now < 2.5 * then, "other processes' CPU time is charged to {}", result["id"]);
    }
    let check = sandbox.plumb(&["check", "latest", "--against", "before"]);
    assert_eq!(check.status, Some(2), "{check:?}");
}

fn results(findings: &Value) -> impl Iterator<Item = &Value> {
    findings["results"].as_array().expect("a list").iter()
}

fn cost(result: &Value) -> f64 {
    result["cpu"]["per_work"]["seconds"].as_f64().unwrap_or(f64::NAN)
}
