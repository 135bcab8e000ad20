//! Agents that are stopped for a while during a run.

use std::{process::Stdio, thread::sleep, time::Duration};

use plumb_tests::{agents, signal, trials, wait_until, wire};
use serde_json::Value;

use crate::{command, rounds, sandbox, spread};

const STOP: Duration = Duration::from_secs(3);

pub(crate) fn no_stopped_trial_is_kept() {
    let (sandbox, stops) = (sandbox(), rounds(20));
    let trials_of_run = u32::try_from(stops * 8).expect("few");
    let file = sandbox.file("wire.toml", &wire(trials_of_run, "500ms"));
    let mut run = command(&sandbox, &["run", &file])
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("built");
    assert!(wait_until(Duration::from_secs(20), || agents(&sandbox).len() == 3), "no agents were started");
    for stop in 0..stops {
        sleep(Duration::from_secs_f64(0.7 + spread(stop, 0)));
        let agent = agents(&sandbox)[stop % 2];
        signal(agent, "STOP");
        sleep(STOP);
        signal(agent, "CONT");
    }
    assert!(run.wait().expect("it was started").success());
    let record = sandbox.record();
    let rate = |trial: &Value| {
        let flows = trial["measurement"]["flows"].as_array().expect("flows");
        let intervals =
            flows.iter().flat_map(|flow| flow["receiver"]["intervals"].as_array().expect("intervals"));
        intervals.map(|interval| interval["bytes"].as_f64().unwrap_or(0.0)).sum::<f64>()
    };
    let mut moved: Vec<f64> = trials(&record).iter().map(rate).collect();
    moved.sort_by(f64::total_cmp);
    let median = moved[moved.len() / 2];
    let again = trials(&record)
        .iter()
        .filter(|trial| !trial["discarded"].as_array().is_none_or(Vec::is_empty))
        .count();
    println!(
        "  {stops} stops: {again} trials repeated; {} stored, the slowest moved {:.2} of the median",
        moved.len(),
        moved[0] / median
    );
    let stalled = |trial: &&Value| trial["warnings"].to_string().contains("\"stalled\"");
    assert_eq!(trials(&record).iter().filter(stalled).count(), 0, "trials with a stopped agent are stored");
    assert!(again > 0 && moved[0] > median / 3.0, "a trial with a stopped agent is stored without a warning");
}
