//! Bench `attacked`: honest clients of `plumb server` while its port, or another port of the host, is under attack.
//!
//! Each host has its own CPU. Otherwise sockperf's results would be bimodal, depending on whether both ends share a
//! CPU.

use std::{cell::RefCell, net::SocketAddrV4, process::Command, time::Duration};

use anyhow::{Context, ensure};
use plumb_tests::{SOURCES, source};
use serde_json::Value;
use sys::affinity;
use workload::{Placement, Transport};

use crate::{
    bench::Bench,
    comparison::{Comparison, Pairing, Subject, compare},
    ends::{self, Order},
    placement::cpus,
    process::{self, Running},
    rounds::{self, Bounds, Contender, Measured},
    target::Target,
    wire::{End, Wire},
};

pub(crate) const BENCH: Bench = Bench { name: SUBJECT.name, run };

const SUBJECT: Subject = Subject {
    name: "attacked",
    what: "honest clients of plumb server during an attack of 8,000 connections per second from 50 addresses",
    units: &["Gbit/s, iperf3", "round trips/s, sockperf", "Gbit/s, plumb client"],
};

const ENOUGH: Target = Target::at_least(0.8);
const PAIRINGS: &[Pairing] = &[
    Pairing { ours: OURS, peer: OTHER, targets: &[ENOUGH; 3] },
    Pairing { ours: OURS, peer: NOBODY, targets: &[] },
];

const OURS: &str = "plumb's port attacked";
const OTHER: &str = "another port attacked";
const NOBODY: &str = "no attack";

const PORT: u16 = 5201;
const OTHER_PORT: u16 = 5999;
const RATE: u32 = 8000;
/// The attack lasts longer than all honest clients need.
const ATTACK: Duration = Duration::from_secs(8);
const REST: Duration = Duration::from_secs(1);
const LONGER: Duration = Duration::from_secs(240);

fn run(bounds: &Bounds) -> anyhow::Result<Vec<Comparison>> {
    let wire = Wire::create()?;
    route(&wire)?;
    let available = affinity::available();
    let [clients_cpus, server_cpus] = cpus(&Placement::CrossCpu).context("two hosts have CPUs")?;
    // Child processes inherit the thread's affinity.
    affinity::pin_thread(&server_cpus).context("start the listeners on a CPU")?;
    let address = End::Server.address();
    let script = format!("exec \"$0\" server --bind {address} --port {PORT} >/dev/null 2>&1");
    let mut server = Command::new("sh");
    let mut server = wire.start(End::Server, server.args(["-c", &script]).arg(process::plumb()?))?;
    wire.await_listener(Transport::Tcp, PORT, &mut server)?;
    let order = Order::Listen { at: SocketAddrV4::new(address, OTHER_PORT) };
    let mut listener = wire.start(End::Server, &mut ends::process(&order)?)?;
    ensure!(listener.line()? == ends::LISTENS, "the other listener must print that it listens");
    affinity::pin_thread(&clients_cpus).context("start the clients on a CPU")?;
    let server = RefCell::new(server);
    let clients = |name, attacked| Clients { name, wire: &wire, server: &server, attacked };
    let mut contenders: Vec<Box<dyn Contender + '_>> = vec![
        Box::new(clients(OURS, Some(PORT))),
        Box::new(clients(OTHER, Some(OTHER_PORT))),
        Box::new(clients(NOBODY, None)),
    ];
    let bounds = bounds.for_longer(LONGER);
    let taken = rounds::take(SUBJECT.name, &mut contenders, &bounds, REST);
    affinity::pin_thread(&available).context("run anywhere again")?;
    Ok(compare(&SUBJECT, PAIRINGS, &taken))
}

fn route(wire: &Wire) -> anyhow::Result<()> {
    let ip = |end: End, words: &str| {
        let mut command = Command::new("ip");
        wire.start(end, command.args(words.split(' ')))?.finish(Duration::ZERO).map(drop)
    };
    (0..SOURCES)
        .try_for_each(|number| ip(End::Client, &format!("address add {}/32 dev eth0", source(number))))?;
    ip(End::Server, "route add 198.18.1.0/24 dev eth0")
}

struct Clients<'a> {
    name: &'static str,
    wire: &'a Wire,
    server: &'a RefCell<Running>,
    attacked: Option<u16>,
}

impl Contender for Clients<'_> {
    fn name(&self) -> &'static str {
        self.name
    }

    fn measure(&mut self) -> anyhow::Result<Measured> {
        let mut attack = self.attacked.map(|port| self.attack(port)).transpose()?;
        let values = vec![
            rate(&self.client("iperf3", "--json --time 1 --client")?)?,
            round_trips(&self.client("sockperf", "ping-pong --tcp --full-rtt --time 1 --ip")?)?,
            rate(&self.plumb()?)?,
        ];
        if let Some(attack) = &mut attack {
            ensure!(attack.is_running(), "the attack ended before the honest clients did");
        }
        let made = match attack {
            Some(attack) => ends::account(&attack.finish(ATTACK)?)?.connections,
            None => 0,
        };
        let server = &mut self.server.borrow_mut();
        ensure!(server.is_running(), "the server has exited");
        let extra = vec![
            ("attack connections", made as f64),
            ("MB of the server at most", process::most_resident(server.pid())?),
        ];
        Ok(Measured { values, extra })
    }
}

impl Clients<'_> {
    fn attack(&self, port: u16) -> anyhow::Result<Running> {
        let server = SocketAddrV4::new(End::Server.address(), port);
        let order = Order::Attack { server, rate: RATE, seconds: ATTACK.as_secs() };
        self.wire.start(End::Client, &mut ends::process(&order)?)
    }

    fn client(&self, program: &str, flags: &str) -> anyhow::Result<String> {
        self.finish(Command::new(program).args(flags.split(' ')))
    }

    fn plumb(&self) -> anyhow::Result<String> {
        self.finish(Command::new(process::plumb()?).args(["client", "--json", "--no-keep", "--time", "1"]))
    }

    fn finish(&self, command: &mut Command) -> anyhow::Result<String> {
        command.arg(End::Server.address().to_string()).args(["--port", &PORT.to_string()]);
        Ok(self.wire.start(End::Client, command)?.finish(Duration::ZERO)?.output)
    }
}

fn rate(document: &str) -> anyhow::Result<f64> {
    let document: Value = serde_json::from_str(document).context("read a client's document")?;
    let rate = document["end"]["sum_received"]["bits_per_second"].as_f64();
    Ok(rate.with_context(|| format!("a client has a rate: {}", document["error"]))? / 1e9)
}

fn round_trips(text: &str) -> anyhow::Result<f64> {
    let line =
        text.lines().find_map(|line| line.split_once("[Valid Duration] RunTime=")).map(|(_, rest)| rest);
    let read = line.and_then(|line| {
        let (seconds, rest) = line.split_once(" sec;")?;
        let received = rest.split_once("ReceivedMessages=")?.1;
        Some(received.trim().parse::<f64>().ok()? / seconds.parse::<f64>().ok()?)
    });
    read.with_context(|| format!("no duration in sockperf's output: {text}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rate_uses_the_valid_duration() {
        let text = "sockperf: [Total Run] RunTime=1.0 sec; SentMessages=9; ReceivedMessages=9\n\
            sockperf: [Valid Duration] RunTime=0.500 sec; SentMessages=1001; ReceivedMessages=1000\n";
        assert!((round_trips(text).unwrap() - 2000.0).abs() < 1e-9);
        assert!(round_trips("sockperf: ERROR").is_err());
    }

    #[test]
    fn failed_client_has_no_rate() {
        let printed = r#"{"end": {}, "error": "the server is busy"}"#;
        assert!(rate(printed).unwrap_err().to_string().contains("the server is busy"));
    }
}
