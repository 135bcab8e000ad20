//! Bench `streams-4`: four parallel TCP streams, compared with iperf3, which is single-threaded before 3.16.

use workload::{Placement::Free, StreamSettings};

use super::{Iperf3, Plumb, REST, TCP_UNITS, tcp};
use crate::{
    bench::Bench,
    comparison::{Comparison, Pairing, Subject, compare},
    placement::spread,
    rounds::{self, Bounds},
    wire::Wire,
};

pub(crate) const BENCH: Bench = Bench { name: SUBJECT.name, run };

const SUBJECT: Subject = Subject {
    name: "streams-4",
    what: "four parallel TCP streams, veth, MTU 1500, zero-copy if the kernel allows it",
    units: TCP_UNITS,
};

const PAIRINGS: &[Pairing] = &[
    Pairing { ours: FREE, peer: "iperf3 -P 4", targets: &[] },
    Pairing { ours: FREE, peer: "iperf3 -P 4 cubic 1M", targets: &[] },
    Pairing { ours: SPREAD, peer: "iperf3 -P 4 cubic 1M", targets: &[] },
];

const STREAMS: u32 = 4;
const FREE: &str = "plumb limit 4 cubic 1M";
const SPREAD: &str = "plumb limit 4 cubic 1M, spread";

fn run(bounds: &Bounds) -> anyhow::Result<Vec<Comparison>> {
    let wire = &Wire::create()?;
    let four = |plumb: Plumb| Plumb { load: StreamSettings { streams: STREAMS, ..plumb.load }, ..plumb };
    let equal = &["--parallel", "4", "--congestion", "cubic", "--length", "1M"];
    let mut contenders = [
        tcp(FREE, wire, four(Plumb::limit(Free))),
        tcp(SPREAD, wire, four(Plumb::limit(spread()))),
        tcp(PAIRINGS[0].peer, wire, Iperf3::new(&["--parallel", "4"], Free)),
        tcp(PAIRINGS[1].peer, wire, Iperf3::new(equal, Free)),
    ];
    Ok(compare(&SUBJECT, PAIRINGS, &rounds::take(SUBJECT.name, &mut contenders, bounds, REST)))
}
