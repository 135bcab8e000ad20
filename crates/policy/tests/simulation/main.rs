//! The claims of docs/methods/rebalancing.md on fewer VMs: a small version of the example `rebalancing`. Knows no policy.

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

/// Ours and the rivals' outcomes, in their order.
fn outcomes(name: &str) -> (Outcome, Vec<Outcome>) {
    let scenario = scenario::ALL.iter().find(|scenario| scenario.name == name).expect("there is one");
    let small = Scenario { vms: 100, intervals: 200, ..*scenario };
    let host = Host::draw(&small, SEED);
    let theirs = Rival::ALL.iter().map(|rival| run::theirs(&host, small.intervals, *rival)).collect();
    (run::ours(&host, small.intervals, || Duration::ZERO), theirs)
}

#[test]
fn with_room_nearly_all_vms_are_on_target_while_loads_shift() {
    let (ours, theirs) = outcomes("shifting");
    assert!(ours.on_target > 0.93, "{}", ours.on_target);
    let best = theirs[1..].iter().map(|other| other.on_target).fold(0.0, f64::max);
    assert!(ours.on_target > best + 0.1, "{} {best}", ours.on_target);
}

#[test]
fn under_a_constant_load_no_vm_turns_back_once_settled() {
    for name in ["constant", "constant, short"] {
        assert_eq!(outcomes(name).0.reversals, 0, "{name}");
    }
}

#[test]
fn in_a_shortage_most_of_what_could_be_on_target_is() {
    let (ours, theirs) = outcomes("short");
    assert!(ours.on_target > 0.7 * theirs[0].on_target, "{} {}", ours.on_target, theirs[0].on_target);
}

#[test]
fn no_policy_does_better_than_the_optimum() {
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
