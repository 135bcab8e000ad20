//! Plumb's ends of a load, each a process of its own as its agents are: this program, started again with an
//! order, which drives the traffic engine and prints what it measured.

use std::{
    env,
    io::{BufRead, BufReader, Write, stdout},
    net::{Ipv4Addr, SocketAddrV4},
    process::Command,
};

use anyhow::Context;
use load::{Load, PingPongLoad, StreamLoad};
use serde::{Deserialize, Serialize};
use traffic::{ClientSpec, ServerSpec, Stop, ping_pong, stream};

use crate::wire::{End, Wire};

/// Only these two ends are in the namespaces, so it need not be a secret.
const TOKEN: u64 = 1;

/// What a process is to be.
#[derive(Debug, Serialize, Deserialize)]
struct Order {
    bind: Ipv4Addr,
    /// Where to connect; the server has none.
    server: Option<SocketAddrV4>,
    load: Load,
    cpu: Option<u32>,
}

/// Sends `load` once, with the client and the server on these CPUs. For a stream what the server received, in
/// Gbit/s; for a ping-pong what half and 99 % of the round trips did not exceed, in microseconds.
pub(crate) fn send(wire: &Wire, load: &Load, cpus: Option<[u32; 2]>) -> anyhow::Result<Vec<f64>> {
    let [client_cpu, server_cpu] = cpus.map_or([None; 2], |cpus| cpus.map(Some));
    let order = |end: End, server, cpu| Order { bind: end.address(), server, load: load.clone(), cpu };
    let mut server = wire.start(End::Server, &mut process(&order(End::Server, None, server_cpu))?)?;
    let mut lines =
        BufReader::new(server.process.stdout.take().context("the server's output is a pipe")?).lines();
    let mut line = || lines.next().context("the server ended")?.context("read from the server");
    let port: u16 = line()?.parse().context("the server's first line is its port")?;
    let at = SocketAddrV4::new(End::Server.address(), port);
    let of_client = wire.run(End::Client, &mut process(&order(End::Client, Some(at), client_cpu))?)?;
    let of_server = line()?;
    let counts = match load {
        Load::Stream(_) => of_server,
        Load::PingPong(_) => of_client,
    };
    serde_json::from_str(&counts).context("read what was measured")
}

/// Is what the order says, in the namespace where it finds itself.
pub(crate) fn obey(order: &str) -> anyhow::Result<()> {
    let Order { bind, server, load, cpu } = serde_json::from_str(order).context("read the order")?;
    let cpus = cpu.map(|cpu| vec![cpu]);
    let values = match (load, server) {
        (Load::Stream(load), None) => serve_stream(ServerSpec { token: TOKEN, bind, load, cpus })?,
        (Load::Stream(load), Some(server)) => {
            stream::run_client(&ClientSpec { token: TOKEN, bind, server, load, cpus }, &Stop::new(), &())?;
            vec![]
        }
        (Load::PingPong(load), None) => pong(ServerSpec { token: TOKEN, bind, load, cpus })?,
        (Load::PingPong(load), Some(server)) => {
            ping(&ClientSpec { token: TOKEN, bind, server, load, cpus })?
        }
    };
    say(&serde_json::to_string(&values)?)
}

fn serve_stream(spec: ServerSpec<StreamLoad>) -> anyhow::Result<Vec<f64>> {
    let server = stream::Server::open(spec)?;
    say(&server.port().to_string())?;
    let outcome = server.run(&Stop::new(), &())?;
    Ok(outcome.flows.iter().map(|flow| flow.series.rate().0 / 1e9).collect())
}

fn pong(spec: ServerSpec<PingPongLoad>) -> anyhow::Result<Vec<f64>> {
    let server = ping_pong::Server::open(spec)?;
    say(&server.port().to_string())?;
    server.run(&Stop::new(), &())?;
    Ok(vec![])
}

fn ping(spec: &ClientSpec<PingPongLoad>) -> anyhow::Result<Vec<f64>> {
    let round_trips = ping_pong::run_client(spec, &Stop::new(), &())?.round_trips;
    let microseconds = |share| round_trips.quantile(share).map(|time| time.0 as f64 / 1e3);
    [0.5, 0.99].into_iter().map(microseconds).collect::<Option<_>>().context("no message came back")
}

fn process(order: &Order) -> anyhow::Result<Command> {
    let mut command = Command::new(env::current_exe().context("find this program")?);
    command.arg("--end").arg(serde_json::to_string(order)?);
    Ok(command)
}

fn say(line: &str) -> anyhow::Result<()> {
    writeln!(stdout(), "{line}").context("answer")
}

/// One CPU to bind both ends to: nothing has to wake another one, which would be most of what is measured.
pub(crate) fn one_cpu() -> [u32; 2] {
    [sys::affinity::available().first().copied().unwrap_or_default(); 2]
}
