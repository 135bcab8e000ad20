//! Kills processes of a run.

use std::{process::Stdio, thread::sleep, time::Duration};

use plumb_tests::{Leftovers, PATIENCE, Random, kill, processes};

use crate::node::Node;

/// Within this time, the agents enter the namespaces and the first trials start.
const WITHIN: Duration = Duration::from_secs(3);

pub(crate) fn killed_at_any_moment(kills: usize) {
    let node = Node::with_bridge();
    let (before, settings) = (Leftovers::of(&node.sandbox), node.settings());
    let [a, b] = ["a", "b"].map(|name| node.word(name));
    let mut random = Random::of(0x2545_f491);
    for number in 0..kills {
        let mut command = node.command(&["between", "--yes", &a, &b]);
        let mut run = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("plumb was built");
        // The random number is squared, so that a third of the kills happen in the first 0.3 s, while the agents enter.
        sleep(WITHIN.mul_f64(random.fraction().powi(2)));
        let victims = processes(&node.sandbox);
        let victim = victims.get(random.below(victims.len().max(1))).copied();
        let victim = victim.filter(|_| number % 2 == 0).unwrap_or_else(|| run.id());
        let _ = kill(victim);
        sleep(WITHIN.mul_f64(random.fraction() / 10.0));
        let _ = kill(run.id());
        run.wait().expect("it was started");
        before.are_gone_within(PATIENCE);
    }
    assert_eq!(node.settings(), settings, "no device, address, route or setting has changed");
}
