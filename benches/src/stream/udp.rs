//! Bench `udp`: datagrams of 1448 bytes at the maximum rate, compared with iperf3. Only limit mode sends many
//! datagrams per call.

use units::Bytes;
use workload::{
    Placement::{Free, SameCpu},
    StreamSettings, Transport,
};

use super::{Iperf3, Metered, Plumb, REST, Report, Tool};
use crate::{
    bench::Bench,
    comparison::{Comparison, Pairing, Subject, compare},
    meter::Window,
    rounds::{self, Bounds, Contender, Measured},
    wire::Wire,
};

pub(crate) const BENCH: Bench = Bench { name: SUBJECT.name, run };

const SUBJECT: Subject = Subject {
    name: "udp",
    what: "datagrams of 1448 bytes at full speed, veth, MTU 1500: received rate",
    units: &["packets/s", "CPU-s per million"],
};

const PAIRINGS: &[Pairing] = &[
    Pairing { ours: "plumb app", peer: FREE, targets: &[] },
    Pairing { ours: "plumb limit", peer: FREE, targets: &[] },
    Pairing { ours: "plumb app, same CPU", peer: ON_ONE, targets: &[] },
    Pairing { ours: "plumb limit, same CPU", peer: ON_ONE, targets: &[] },
];

const FREE: &str = "iperf3 -u -b 0 -l 1448";
const ON_ONE: &str = "iperf3 -u -b 0 -l 1448, same CPU";
const FLAGS: &[&str] = &["--udp", "--bitrate", "0", "--length", "1448"];
const DATAGRAM: Bytes = Bytes(1448);

fn run(bounds: &Bounds) -> anyhow::Result<Vec<Comparison>> {
    let wire = &Wire::create()?;
    let mut contenders = [
        udp(PAIRINGS[0].ours, wire, of_datagrams(Plumb::app(Free))),
        udp(PAIRINGS[1].ours, wire, of_datagrams(Plumb::limit(Free))),
        udp(PAIRINGS[2].ours, wire, of_datagrams(Plumb::app(SameCpu))),
        udp(PAIRINGS[3].ours, wire, of_datagrams(Plumb::limit(SameCpu))),
        udp(FREE, wire, Iperf3::new(FLAGS, Free)),
        udp(ON_ONE, wire, Iperf3::new(FLAGS, SameCpu)),
    ];
    Ok(compare(&SUBJECT, PAIRINGS, &rounds::take(SUBJECT.name, &mut contenders, bounds, REST)))
}

fn of_datagrams(plumb: Plumb) -> Plumb {
    let mut load = StreamSettings { transport: Transport::Udp, message: DATAGRAM, ..plumb.load };
    load.socket.congestion = None;
    Plumb { load, ..plumb }
}

fn udp<'a, T: Tool + 'a>(name: &'static str, wire: &'a Wire, tool: T) -> Box<dyn Contender + 'a> {
    Box::new(Metered { name, wire, tool, values })
}

fn values(window: &Window, report: &Report) -> Measured {
    let (arrived, lost) = report.datagrams.unwrap_or_default();
    let rate = arrived as f64 / report.seconds;
    let busy = window.busy / window.seconds;
    Measured { values: vec![rate, busy / (rate / 1e6)], extra: vec![("% lost", lost * 100.0)] }
}
