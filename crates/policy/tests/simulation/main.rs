//! Tests the claims of docs/methods/rebalancing.md with fewer VMs than the example `rebalancing`.

mod host;
mod load;
mod rivals;
mod run;
mod scenario;

use std::time::Duration;

use host::Host;
use rivals::Rival;
use run::Outcome;
use scenario::Scenario;

const SEED: u64 = 7;

fn outcomes(name: &str) -> (Outcome, Vec<Outcome>) {
    let scenario = scenario::ALL.iter().find(|scenario| scenario.name == name).expect("scenario exists");
    let small = Scenario { vms: 100, intervals: 200, ..*scenario };
    let host = Host::draw(&small, SEED);
    let theirs = Rival::ALL.iter().map(|rival| run::theirs(&host, small.intervals, *rival)).collect();
    (run::ours(&host, small.intervals, || Duration::ZERO), theirs)
}

#[test]
fn nearly_all_vms_are_on_target_with_enough_dram() {
    let (ours, theirs) = outcomes("shifting");
    assert!(ours.on_target > 0.93, "{}", ours.on_target);
    let best = theirs[1..].iter().map(|other| other.on_target).fold(0.0, f64::max);
    assert!(ours.on_target > best + 0.1, "{} {best}", ours.on_target);
}

#[test]
fn constant_load_causes_no_reversals_after_settling() {
    for name in ["constant", "constant, short"] {
        assert_eq!(outcomes(name).0.reversals, 0, "{name}");
    }
}

#[test]
fn shortage_meets_most_achievable_targets() {
    let (ours, theirs) = outcomes("short");
    assert!(ours.on_target > 0.7 * theirs[0].on_target, "{} {}", ours.on_target, theirs[0].on_target);
}

#[test]
fn no_policy_exceeds_the_optimum() {
    for name in ["shifting", "short"] {
        let (ours, theirs) = outcomes(name);
        assert!(ours.on_target <= theirs[0].on_target);
        assert!(theirs.iter().all(|other| other.on_target <= theirs[0].on_target));
    }
}

#[test]
fn decisions_are_not_timed_here() {
    assert_eq!(outcomes("constant").0.median_time(), Duration::ZERO);
}
