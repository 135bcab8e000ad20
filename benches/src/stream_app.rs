//! Bench `stream-app`: one TCP stream as an ordinary application sends it, against iperf3.
//!
//! The same work should give the same number. Against iperf3's defaults and at equal settings: the first alone
//! misleads, for iperf3 takes the kernel's congestion control, and the scheduler places both as it likes.

use std::{process::Command, thread, time::Duration};

use anyhow::{Context, bail};
use load::{Direction, Load, StreamLoad, Until};
use serde_json::Value;
use units::{Bytes, Nanos};

use crate::{
    bench::Bench,
    comparison::{Comparison, Target},
    ends,
    rounds::{self, Bounds, Contender},
    wire::{End, Wire},
};

/// This bench.
pub(crate) const BENCH: Bench = Bench { name: "stream-app", run };

const WHAT: &str =
    "one TCP stream over a veth pair, MTU 1500, ordinary writes of 128 KiB and reads, as received";
const TARGET: Target = Target::between(1.0, 1.1);

/// Seconds; iperf3 takes whole ones only.
const WARMUP: u64 = 1;
const MEASURED: u64 = 2;
const MESSAGE: u64 = 128 << 10;
const CONGESTION: &str = "cubic";

/// Sockets linger no longer than this, and CPUs come to rest.
const REST: Duration = Duration::from_millis(200);

fn run(bounds: &Bounds) -> anyhow::Result<Vec<Comparison>> {
    let wire = Wire::raise()?;
    let wire = &wire;
    let placed = Some(ends::one_cpu());
    let mut contenders: Vec<Box<dyn Contender + '_>> = vec![
        Box::new(Plumb { wire, cpus: None }),
        Box::new(Iperf3 { name: "iperf3", wire, equal: false, cpus: None }),
        Box::new(Plumb { wire, cpus: None }),
        Box::new(Iperf3 { name: "iperf3, cubic, 128K", wire, equal: true, cpus: None }),
        Box::new(Plumb { wire, cpus: placed }),
        Box::new(Iperf3 { name: "iperf3, cubic, 128K, both on one CPU", wire, equal: true, cpus: placed }),
    ];
    let taken = rounds::take(BENCH.name, &mut contenders, bounds, REST);
    let compare = |pair: &[rounds::Taken]| match pair {
        [ours, _] if ours.failure.is_some() => {
            bail!("plumb failed: {}", ours.failure.as_deref().unwrap_or_default())
        }
        [ours, peer] => Ok(Comparison::new((BENCH.name, WHAT, "Gbit/s"), (ours, peer), 0, TARGET)),
        _ => bail!("contenders come in pairs"),
    };
    taken.chunks(2).map(compare).collect()
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
        let load = Load::Stream(StreamLoad {
            streams: 1,
            direction: Direction::Forward,
            until: Until::Elapsed(Nanos::from_secs(MEASURED)),
            warmup: Nanos::from_secs(WARMUP),
            message: Bytes(MESSAGE),
            congestion: Some(CONGESTION.into()),
            interval: Nanos::from_millis(100),
        });
        ends::send(self.wire, &load, self.cpus)
    }
}

struct Iperf3<'a> {
    name: &'static str,
    wire: &'a Wire,
    /// Whether it is given plumb's settings instead of its own.
    equal: bool,
    /// The CPUs of client and server.
    cpus: Option<[u32; 2]>,
}

impl Contender for Iperf3<'_> {
    fn name(&self) -> &'static str {
        self.name
    }

    fn measure(&mut self) -> anyhow::Result<Vec<f64>> {
        let server = self.wire.start(End::Server, Command::new("iperf3").args(["-s", "-1"]))?;
        let text = self.connect()?;
        drop(server);
        let document: Value = serde_json::from_str(&text).context("read the JSON of iperf3")?;
        let rate = document["end"]["sum_received"]["bits_per_second"].as_f64();
        Ok(vec![rate.context("iperf3 says no rate received")? / 1e9])
    }
}

impl Iperf3<'_> {
    /// The server does not say when it listens, so the client asks until it does.
    fn connect(&self) -> anyhow::Result<String> {
        const TRIES: u32 = 30;
        for _ in 1..TRIES {
            thread::sleep(Duration::from_millis(100));
            match self.wire.run(End::Client, &mut self.client()) {
                Err(error) if error.to_string().contains("refused") => {}
                result => return result,
            }
        }
        bail!("the server of iperf3 does not listen")
    }

    fn client(&self) -> Command {
        let mut command = Command::new("iperf3");
        command.args(["--json", "--client", &End::Server.address().to_string()]);
        command.args(["--time", &MEASURED.to_string(), "--omit", &WARMUP.to_string()]);
        if self.equal {
            command.args(["--congestion", CONGESTION, "--length", &MESSAGE.to_string()]);
        }
        if let Some([client, server]) = self.cpus {
            command.args(["--affinity", &format!("{client},{server}")]);
        }
        command
    }
}
