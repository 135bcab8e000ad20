//! Bench `namespaces`: sets up a bridge with 100 namespaces. After the timed part, every guest must reply, so that no
//! contender wins by doing less work.

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

pub(crate) const BENCH: Bench = Bench { name: SUBJECT.name, run };

const SUBJECT: Subject = Subject {
    name: "namespaces",
    what: "set-up of a bridge and 100 namespaces, each with a veth pair and an address, all up",
    units: &["ms"],
};

const GUESTS: u8 = 100;

/// The kernel removes a namespace asynchronously after its last process exits, and delays new namespaces until then.
const REST: Duration = Duration::from_secs(2);

const MORE_ROUNDS: usize = 4;

const CHECK: &str = include_str!("namespaces/check.sh");

fn run(bounds: &Bounds) -> anyhow::Result<Vec<Comparison>> {
    let mut contenders: Vec<Box<dyn Contender>> = vec![Box::new(Plumb::new())];
    contenders.extend(peers::ALL.iter().map(|peer| Box::new(*peer) as Box<dyn Contender>));
    let taken = rounds::take(SUBJECT.name, &mut contenders, &bounds.and(MORE_ROUNDS), REST);
    let pairings =
        peers::ALL.map(|Peer { name, targets, .. }| Pairing { ours: plumb::NAME, peer: name, targets });
    Ok(compare(&SUBJECT, &pairings, &taken))
}

fn verify(counted: &str) -> anyhow::Result<()> {
    let (ports, answers) = counted.split_once(' ').with_context(|| format!("counted `{counted}`"))?;
    ensure!(ports.trim() == GUESTS.to_string(), "{ports} ports of the bridge are up instead of {GUESTS}");
    let others = GUESTS - 1;
    ensure!(answers.trim() == others.to_string(), "{answers} guests replied instead of {others}");
    Ok(())
}

fn milliseconds(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rejects_incomplete_work() {
        assert!(verify("100 99").is_ok());
        for (counted, reason) in [("99 99", "99 ports"), ("100 98", "98 guests"), ("", "counted")] {
            let error = verify(counted).unwrap_err().to_string();
            assert!(error.contains(reason), "{error}");
        }
    }

    #[test]
    fn plumb_does_the_timed_work() {
        if sys::userns::has_net_admin() {
            assert!(Plumb::new().measure().unwrap().values[0] > 0.0);
        }
    }
}
