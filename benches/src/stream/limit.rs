//! Bench `stream-limit`: one TCP stream with as little work per byte as possible, compared with iperf3. Rows
//! with equal settings separate the effect of the settings from that of the tool.

use workload::Placement::{CrossCpu, Free, SameCpu};

use super::{Iperf3, Plumb, REST, TCP_UNITS, iperf3, tcp};
use crate::{
    bench::Bench,
    comparison::{Comparison, Pairing, Subject, compare},
    rounds::{self, Bounds},
    target::Target,
    wire::Wire,
};

pub(crate) const BENCH: Bench = Bench { name: SUBJECT.name, run };

const SUBJECT: Subject = Subject {
    name: "stream-limit",
    what: "one TCP stream, veth, MTU 1500, zero-copy if the kernel allows it",
    units: TCP_UNITS,
};

const PAIRINGS: &[Pairing] = &[
    Pairing { ours: SAME, peer: DEFAULT, targets: DEFAULTS },
    Pairing { ours: CROSS, peer: DEFAULT, targets: &[] },
    Pairing { ours: SAME, peer: LARGE_SAME, targets: EQUALS },
    Pairing { ours: SAME, peer: SENDFILE_SAME, targets: EQUALS },
    Pairing { ours: SAME, peer: SKIP_SAME, targets: EQUALS },
    Pairing { ours: CROSS, peer: LARGE_CROSS, targets: EQUALS },
    Pairing { ours: CROSS, peer: SKIP_CROSS, targets: EQUALS },
];

const DEFAULTS: &[Target] = &[Target::at_least(2.3), Target::at_least(3.0), Target::at_most(0.33)];

pub(super) const EQUALS: &[Target] = &[Target::at_least(1.05), Target::at_least(1.05), Target::at_most(0.95)];

const SAME: &str = "plumb limit cubic 1M, same CPU";
const CROSS: &str = "plumb limit cubic 1M, cross CPU";
const DEFAULT: &str = "iperf3, defaults";
const LARGE_SAME: &str = "iperf3 cubic 1M, same CPU";
const LARGE_CROSS: &str = "iperf3 cubic 1M, cross CPU";
const SENDFILE_SAME: &str = "iperf3 cubic 1M -Z, same CPU";
const SKIP_SAME: &str = "iperf3 cubic 1M --skip-rx-copy, same CPU";
const SKIP_CROSS: &str = "iperf3 cubic 1M --skip-rx-copy, cross CPU";

pub(super) const EQUAL: &[&str] = &["--congestion", "cubic", "--length", "1M"];
const SENDFILE: &[&str] = &["--congestion", "cubic", "--length", "1M", "--zerocopy"];
const SKIP: &[&str] = &["--congestion", "cubic", "--length", "1M", "--skip-rx-copy"];

fn run(bounds: &Bounds) -> anyhow::Result<Vec<Comparison>> {
    let wire = &Wire::create()?;
    let mut contenders = vec![
        tcp(SAME, wire, Plumb::limit(SameCpu)),
        tcp(CROSS, wire, Plumb::limit(CrossCpu)),
        tcp(DEFAULT, wire, Iperf3::new(&[], Free)),
        tcp(LARGE_SAME, wire, Iperf3::new(EQUAL, SameCpu)),
        tcp(LARGE_CROSS, wire, Iperf3::new(EQUAL, CrossCpu)),
        tcp(SENDFILE_SAME, wire, Iperf3::new(SENDFILE, SameCpu)),
    ];
    if iperf3::can_skip_the_copy() {
        contenders.push(tcp(SKIP_SAME, wire, Iperf3::new(SKIP, SameCpu)));
        contenders.push(tcp(SKIP_CROSS, wire, Iperf3::new(SKIP, CrossCpu)));
    }
    Ok(compare(&SUBJECT, PAIRINGS, &rounds::take(SUBJECT.name, &mut contenders, bounds, REST)))
}
