//! Bench `stream-big-tcp`: a TCP stream over a veth pair with packets of 512 KiB, compared with iperf3.

use workload::Placement::{Free, SameCpu};

use super::{
    Iperf3, Plumb, REST, TCP_UNITS,
    limit::{EQUAL, EQUALS},
    tcp,
};
use crate::{
    bench::Bench,
    comparison::{Comparison, Pairing, Subject, compare},
    rounds::{self, Bounds},
    target::Target,
    wire::Wire,
};

pub(crate) const BENCH: Bench = Bench { name: SUBJECT.name, run };

const SUBJECT: Subject = Subject {
    name: "stream-big-tcp",
    what: "one TCP stream, veth, MTU 1500, with and without packets of 512 KiB (BIG TCP)",
    units: TCP_UNITS,
};

const PAIRINGS: &[Pairing] = &[
    Pairing {
        ours: OURS,
        peer: "iperf3, defaults, no BIG TCP",
        targets: &[Target::at_least(4.0), Target::NONE, Target::at_most(0.18)],
    },
    Pairing { ours: OURS, peer: "iperf3 BIG TCP cubic 1M, same CPU", targets: EQUALS },
];

const OURS: &str = "plumb limit BIG TCP cubic 1M, same CPU";

fn run(bounds: &Bounds) -> anyhow::Result<Vec<Comparison>> {
    let (ordinary, big) = (&Wire::create()?, &Wire::create_with_big_tcp()?);
    let mut contenders = [
        tcp(OURS, big, Plumb::limit(SameCpu)),
        tcp(PAIRINGS[0].peer, ordinary, Iperf3::new(&[], Free)),
        tcp(PAIRINGS[1].peer, big, Iperf3::new(EQUAL, SameCpu)),
    ];
    Ok(compare(&SUBJECT, PAIRINGS, &rounds::take(SUBJECT.name, &mut contenders, bounds, REST)))
}
