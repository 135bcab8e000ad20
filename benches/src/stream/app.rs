//! Bench `stream-app`: one TCP stream with ordinary writes, compared with iperf3.

use workload::Placement::{Free, SameCpu};

use super::{Iperf3, Plumb, REST, TCP_UNITS, tcp};
use crate::{
    bench::Bench,
    comparison::{Comparison, Pairing, Subject, compare},
    rounds::{self, Bounds},
    target::Target,
    wire::Wire,
};

pub(crate) const BENCH: Bench = Bench { name: SUBJECT.name, run };

const SUBJECT: Subject = Subject {
    name: "stream-app",
    what: "one TCP stream, veth, MTU 1500, ordinary writes of 128 KiB and copying reads",
    units: TCP_UNITS,
};

const PAIRINGS: &[Pairing] = &[
    Pairing { ours: "plumb, defaults", peer: "iperf3, defaults", targets: &[SAME] },
    Pairing { ours: FREE, peer: "iperf3 cubic 128K", targets: &[SAME] },
    Pairing { ours: ON_ONE, peer: "iperf3 cubic 128K, same CPU", targets: &[SAME] },
];

const FREE: &str = "plumb app cubic 128K";
const ON_ONE: &str = "plumb app cubic 128K, same CPU";
const SAME: Target = Target::between(1.0, 1.1);

const EQUAL: &[&str] = &["--congestion", "cubic", "--length", "128K"];

fn run(bounds: &Bounds) -> anyhow::Result<Vec<Comparison>> {
    let wire = &Wire::create()?;
    let mut contenders = [
        tcp(PAIRINGS[0].ours, wire, Plumb::as_it_comes(Free)),
        tcp(FREE, wire, Plumb::app(Free)),
        tcp(ON_ONE, wire, Plumb::app(SameCpu)),
        tcp(PAIRINGS[0].peer, wire, Iperf3::new(&[], Free)),
        tcp(PAIRINGS[1].peer, wire, Iperf3::new(EQUAL, Free)),
        tcp(PAIRINGS[2].peer, wire, Iperf3::new(EQUAL, SameCpu)),
    ];
    Ok(compare(&SUBJECT, PAIRINGS, &rounds::take(SUBJECT.name, &mut contenders, bounds, REST)))
}
