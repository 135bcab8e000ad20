//! Bench `ping-pong`: one UDP message of 64 bytes there and back at a time, blocking, against sockperf.
//!
//! Full round trips: sockperf prints half of them unless it is told not to.

use std::{process::Command, thread, time::Duration};

use anyhow::{Context, bail};
use load::{Load, PingPongLoad, Transport};
use units::{Bytes, Nanos};

use crate::{
    bench::Bench,
    comparison::{Comparison, Target},
    ends,
    rounds::{self, Bounds, Contender, Taken},
    wire::{End, Wire},
};

/// This bench.
pub(crate) const BENCH: Bench = Bench { name: "ping-pong", run };

/// What is compared, in the order of the values.
const WHAT: [&str; 2] = [
    "UDP round trip of 64 bytes over a veth pair, blocking: half of them take no longer (p50)",
    "UDP round trip of 64 bytes over a veth pair, blocking: 99 % of them take no longer (p99)",
];
const UNITS: [&str; 2] = ["us p50", "us p99"];
const TARGET: Target = Target::at_most(1.0);

const MESSAGE: u64 = 64;
const MEASURED: u64 = 2;
/// As long as sockperf's.
const WARMUP: Nanos = Nanos::from_millis(400);

const REST: Duration = Duration::from_millis(200);

/// sockperf's server says nothing before the first message; one that is lost costs its client nothing.
const SERVER_STARTS: Duration = Duration::from_millis(300);
const PORT: &str = "11111";

fn run(bounds: &Bounds) -> anyhow::Result<Vec<Comparison>> {
    let wire = Wire::raise()?;
    let wire = &wire;
    let placed = Some(ends::one_cpu());
    let mut contenders: Vec<Box<dyn Contender + '_>> = vec![
        Box::new(Plumb { wire, cpus: None }),
        Box::new(Sockperf { name: "sockperf", wire, cpus: None }),
        Box::new(Plumb { wire, cpus: placed }),
        Box::new(Sockperf { name: "sockperf, both on one CPU", wire, cpus: placed }),
    ];
    let taken = rounds::take(BENCH.name, &mut contenders, bounds, REST);
    let pairs: Vec<_> = taken.chunks(2).map(compare).collect::<anyhow::Result<_>>()?;
    Ok(pairs.into_iter().flatten().collect())
}

fn compare(pair: &[Taken]) -> anyhow::Result<[Comparison; 2]> {
    let [ours, peer] = pair else { bail!("contenders come in pairs") };
    if let Some(failure) = &ours.failure {
        bail!("plumb failed: {failure}");
    }
    Ok([0, 1]
        .map(|which| Comparison::new((BENCH.name, WHAT[which], UNITS[which]), (ours, peer), which, TARGET)))
}

struct Plumb<'a> {
    wire: &'a Wire,
    cpus: Option<[u32; 2]>,
}

impl Contender for Plumb<'_> {
    fn name(&self) -> &'static str {
        "plumb"
    }

    fn measure(&mut self) -> anyhow::Result<Vec<f64>> {
        let load = Load::PingPong(PingPongLoad {
            transport: Transport::Udp,
            message: Bytes(MESSAGE),
            duration: Nanos::from_secs(MEASURED),
            warmup: WARMUP,
            congestion: None,
        });
        ends::send(self.wire, &load, self.cpus)
    }
}

struct Sockperf<'a> {
    name: &'static str,
    wire: &'a Wire,
    cpus: Option<[u32; 2]>,
}

impl Contender for Sockperf<'_> {
    fn name(&self) -> &'static str {
        self.name
    }

    fn measure(&mut self) -> anyhow::Result<Vec<f64>> {
        let [client, server] = self.cpus.map_or([None; 2], |cpus| cpus.map(Some));
        let address = End::Server.address().to_string();
        let place = ["-i", &address, "-p", PORT];
        let server = self.wire.start(End::Server, sockperf(server).arg("server").args(place))?;
        thread::sleep(SERVER_STARTS);
        let mut client = sockperf(client);
        client.arg("ping-pong").args(place).arg("--full-rtt");
        client.args(["-m", &MESSAGE.to_string(), "-t", &MEASURED.to_string()]);
        let text = self.wire.run(End::Client, &mut client)?;
        drop(server);
        ["50.000", "99.000"].into_iter().map(|share| percentile(&text, share)).collect()
    }
}

fn sockperf(cpu: Option<u32>) -> Command {
    let Some(cpu) = cpu else { return Command::new("sockperf") };
    let mut command = Command::new("taskset");
    command.args(["--cpu-list", &cpu.to_string(), "sockperf"]);
    command
}

/// Microseconds from a line like `sockperf: ---> percentile 99.000 =  311.240`.
fn percentile(text: &str, share: &str) -> anyhow::Result<f64> {
    let label = format!("percentile {share} =");
    let found = text.lines().find_map(|line| line.split_once(&label)?.1.trim().parse().ok());
    found.with_context(|| format!("sockperf says no {label}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_percentile_is_read_from_its_line() {
        let text =
            "sockperf: ---> percentile 99.900 = 1141.122\nsockperf: ---> percentile 99.000 =  311.240\n";
        assert_eq!(percentile(text, "99.000").unwrap(), 311.24);
        assert!(percentile(text, "50.000").unwrap_err().to_string().contains("50.000"));
    }
}
