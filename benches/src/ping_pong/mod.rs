//! Benches `ping-pong-udp` and `ping-pong-tcp`: one message of 64 bytes in flight, compared with sockperf. Values are
//! full round trips, whereas sockperf prints half of one by default.

mod plumb;
mod sockperf;

use std::time::Duration;

use workload::{
    Placement::{self, CrossCpu, Free, SameCpu},
    Transport,
    Waiting::{self, Block, Spin},
};

use self::{plumb::Plumb, sockperf::Sockperf};
use crate::{
    bench::Bench,
    comparison::{Comparison, Pairing, Subject, compare},
    rounds::{self, Bounds, Contender},
    target::Target,
    wire::Wire,
};

pub(crate) const UDP: Bench = Bench { name: "ping-pong-udp", run: udp };
pub(crate) const TCP: Bench = Bench { name: "ping-pong-tcp", run: tcp };

const UNITS: &[&str] = &["us p50", "us p99", "us p99.9"];

const MESSAGE: u64 = 64;
const MEASURED: Duration = Duration::from_secs(1);
/// The same warm-up as sockperf's.
const WARMUP: Duration = Duration::from_millis(400);

const REST: Duration = Duration::from_millis(100);

/// Many short runs are better than a few long ones, because speed varies between processes.
const MORE: usize = 8;
const LONGER: Duration = Duration::from_secs(30);
const BLOCKING_EVERY: usize = 2;

fn every(waiting: Waiting) -> usize {
    if waiting == Spin { 1 } else { BLOCKING_EVERY }
}

const WAYS: &[(Waiting, Placement, &str, &str)] = &[
    (Block, Free, "plumb", "sockperf, defaults"),
    (Block, SameCpu, "plumb, same CPU", "sockperf, same CPU"),
    (Block, CrossCpu, "plumb, cross CPU", "sockperf, cross CPU"),
    (Spin, CrossCpu, "plumb spinning, cross CPU", "sockperf --nonblocked, cross CPU"),
];

const BLOCKING: &[Target] = &[Target::at_most(1.0), Target::at_most(1.0)];
const SPINNING: &[Target] = &[Target::at_most(0.15), Target::at_most(0.13)];
const SPINNING_BOTH: &[Target] = &[Target::at_most(0.85), Target::at_most(0.88)];

fn udp(bounds: &Bounds) -> anyhow::Result<Vec<Comparison>> {
    let what = "UDP round trip of 64 bytes, veth";
    let subject = Subject { name: UDP.name, what, units: UNITS };
    run(&subject, Transport::Udp, &pairings(SPINNING, SPINNING_BOTH), bounds)
}

fn tcp(bounds: &Bounds) -> anyhow::Result<Vec<Comparison>> {
    let what = "TCP round trip of 64 bytes, veth";
    let subject = Subject { name: TCP.name, what, units: UNITS };
    run(&subject, Transport::Tcp, &pairings(&[], &[]), bounds)
}

fn pairings(against_defaults: &'static [Target], equal: &'static [Target]) -> Vec<Pairing> {
    let same_way = WAYS.iter().map(|(waiting, _, ours, peer)| {
        let targets = if *waiting == Spin { equal } else { BLOCKING };
        Pairing { ours, peer, targets }
    });
    let (_, _, spinning, _) = WAYS[3];
    let (_, _, _, as_it_comes) = WAYS[0];
    let over = Pairing { ours: spinning, peer: as_it_comes, targets: against_defaults };
    same_way.chain([over]).collect()
}

fn run(
    subject: &Subject,
    transport: Transport,
    pairings: &[Pairing],
    bounds: &Bounds,
) -> anyhow::Result<Vec<Comparison>> {
    let wire = &Wire::create()?;
    let mut contenders: Vec<Box<dyn Contender + '_>> = Vec::new();
    for (waiting, placement, ours, peer) in WAYS {
        let (waiting, placement) = (*waiting, placement.clone());
        contenders.push(Box::new(Plumb {
            name: ours,
            wire,
            transport,
            waiting,
            placement: placement.clone(),
        }));
        contenders.push(Box::new(Sockperf { name: peer, wire, transport, waiting, placement }));
    }
    let bounds = bounds.and(MORE).for_longer(LONGER);
    Ok(compare(subject, pairings, &rounds::take(subject.name, &mut contenders, &bounds, REST)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn compares_spinning_with_spinning_and_with_defaults() {
        let spins = |pairing: &Pairing| pairing.ours.contains("spinning");
        let pairings = pairings(&[], &[]);
        let peers: Vec<&str> = pairings.iter().filter(|it| spins(it)).map(|it| it.peer).collect();
        assert_eq!(peers, ["sockperf --nonblocked, cross CPU", "sockperf, defaults"]);
    }
}
