//! Bench `namespaces`: a bridge and 100 namespaces behind it, each with a veth pair and an address, all up.
//!
//! Only the set-up is timed. Then what was made is counted and every guest has to answer, so that nobody wins
//! by not doing the work.

mod peers;
mod plumb;

use std::time::Duration;

use anyhow::{Context, ensure};

use self::{peers::Peer, plumb::Plumb};
use crate::{
    bench::Bench,
    comparison::{Comparison, Pairing, Subject, compare},
    rounds::{self, Bounds, Contender},
};

/// This bench.
pub(crate) const BENCH: Bench = Bench { name: SUBJECT.name, run };

const SUBJECT: Subject = Subject {
    name: "namespaces",
    what: "set-up of a bridge and 100 namespaces, each with a veth pair and an address, all up",
    units: &["ms"],
};

/// How many guests there are; the scripts of the peers have the same number.
const GUESTS: u8 = 100;

/// The kernel takes namespaces down after the last process has gone, behind everyone's back, and makes whoever
/// makes new ones wait for that.
const REST: Duration = Duration::from_secs(2);

/// Rounds are cheap without those who take every second one, and one ratio is near its target.
const MORE_ROUNDS: usize = 4;

/// What the guests' set-up is checked with, by all contenders.
const CHECK: &str = include_str!("namespaces/check.sh");

fn run(bounds: &Bounds) -> anyhow::Result<Vec<Comparison>> {
    let mut contenders: Vec<Box<dyn Contender>> = vec![Box::new(Plumb::new())];
    contenders.extend(peers::ALL.iter().map(|peer| Box::new(*peer) as Box<dyn Contender>));
    let taken = rounds::take(SUBJECT.name, &mut contenders, &bounds.and(MORE_ROUNDS), REST);
    let pairings =
        peers::ALL.map(|Peer { name, targets, .. }| Pairing { ours: plumb::NAME, peer: name, targets });
    Ok(compare(&SUBJECT, &pairings, &taken))
}

/// Holds what [`CHECK`] counted, ports that are up and guests that answer the first, against what there must be.
fn verify(counted: &str) -> anyhow::Result<()> {
    let (ports, answers) = counted.split_once(' ').with_context(|| format!("counted `{counted}`"))?;
    ensure!(ports.trim() == GUESTS.to_string(), "{ports} ports of the bridge are up, not {GUESTS}");
    let others = GUESTS - 1;
    ensure!(answers.trim() == others.to_string(), "{answers} guests answered, not {others}");
    Ok(())
}

fn milliseconds(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn work_that_was_not_done_does_not_count() {
        assert!(verify("100 99").is_ok());
        for (counted, reason) in [("99 99", "99 ports"), ("100 98", "98 guests"), ("", "counted")] {
            let error = verify(counted).unwrap_err().to_string();
            assert!(error.contains(reason), "{error}");
        }
    }

    #[test]
    fn plumb_does_the_work_that_it_is_timed_for() {
        if sys::userns::has_net_admin() {
            assert!(Plumb::new().measure().unwrap().values[0] > 0.0);
        }
    }
}
