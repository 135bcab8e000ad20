//! Plumb's client and server for a load. Each is a separate process of this program.

use std::{
    env,
    io::{Write, stdout},
    net::{IpAddr, SocketAddr, SocketAddrV4},
    path::PathBuf,
    process::Command,
    time::Duration,
};

use anyhow::{Context, bail};
use serde::{Deserialize, Serialize};
use traffic::{ClientSpec, Outcome, Server, ServerSpec, Stop};
use units::Nanos;
use workload::{EndMeasurement, LatencyHistogram, MessagesEnd, PingPongEnd, WorkloadSettings};

use crate::{
    import, listener, pacing,
    process::{ProgramOutput, Running},
    wire::{End, Wire},
};

const TOKEN: u64 = 1;

#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Order {
    Serve { bind: IpAddr, load: WorkloadSettings, cpus: Option<Vec<u32>> },
    Connect { bind: IpAddr, server: SocketAddr, load: WorkloadSettings, cpus: Option<Vec<u32>> },
    Sleep { period: Nanos, warmup: Nanos, duration: Nanos, cpus: Option<Vec<u32>> },
    Import { log: PathBuf },
    Attack { server: SocketAddrV4, rate: u32, seconds: u64 },
    Listen { at: SocketAddrV4 },
}

pub(crate) const LISTENS: &str = "listens";

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Account {
    pub(crate) bytes: u64,
    pub(crate) seconds: f64,
    pub(crate) retransmits: u64,
    pub(crate) datagrams: Option<(u64, i64)>,
    pub(crate) round_trips: Option<Quantiles>,
    pub(crate) lateness: Option<Quantiles>,
    pub(crate) import: Option<import::Reading>,
    pub(crate) connections: u64,
}

/// The median and the 99th and 99.9th percentiles, in microseconds.
pub(crate) type Quantiles = [f64; 3];

pub(crate) const SHARES: [f64; 3] = [0.5, 0.99, 0.999];

pub(crate) fn serve(
    wire: &Wire,
    load: &WorkloadSettings,
    cpus: Option<Vec<u32>>,
    wrap: fn(Command) -> Command,
) -> anyhow::Result<(Running, u16)> {
    let order = Order::Serve { bind: End::Server.address().into(), load: load.clone(), cpus };
    let mut server = wire.start(End::Server, &mut wrap(process(&order)?))?;
    let port = server.line()?.parse().context("the server's first line is its port")?;
    Ok((server, port))
}

pub(crate) fn connect(
    wire: &Wire,
    port: u16,
    load: &WorkloadSettings,
    cpus: Option<Vec<u32>>,
    wrap: fn(Command) -> Command,
) -> anyhow::Result<Running> {
    let server = SocketAddr::new(End::Server.address().into(), port);
    let order = Order::Connect { bind: End::Client.address().into(), server, load: load.clone(), cpus };
    wire.start(End::Client, &mut wrap(process(&order)?))
}

pub(crate) fn exchange(
    wire: &Wire,
    load: &WorkloadSettings,
    cpus: Option<[Vec<u32>; 2]>,
    lasts: Duration,
) -> anyhow::Result<Account> {
    let [at_client, at_server] = cpus.map_or([None, None], |both| both.map(Some));
    let (server, port) = serve(wire, load, at_server, |command| command)?;
    let client = connect(wire, port, load, at_client, |command| command)?.finish(lasts)?;
    server.finish(lasts)?;
    account(&client)
}

pub(crate) fn process(order: &Order) -> anyhow::Result<Command> {
    let mut command = Command::new(env::current_exe().context("find this program")?);
    command.arg("--end").arg(serde_json::to_string(order)?);
    Ok(command)
}

pub(crate) fn account(printed: &ProgramOutput) -> anyhow::Result<Account> {
    serde_json::from_str(&printed.output).context("read the measurement")
}

pub(crate) fn obey(order: &str) -> anyhow::Result<()> {
    let account = match serde_json::from_str(order).context("read the order")? {
        Order::Serve { bind, load, cpus } => {
            let server = Server::open(&ServerSpec { token: TOKEN, bind, load, cpus })?;
            say(&server.port().to_string())?;
            Account::of(&server.run(&Stop::new(), &())?)
        }
        Order::Connect { bind, server, load, cpus } => {
            let spec = ClientSpec { token: TOKEN, bind, server, load, cpus };
            Account::of(&traffic::run_client(&spec, &Stop::new(), &())?)
        }
        Order::Sleep { period, warmup, duration, cpus } => {
            let lateness = pacing::bare(period, warmup, duration, cpus.as_deref())?;
            Account { lateness: quantiles(&lateness), ..Account::default() }
        }
        Order::Import { log } => Account { import: Some(import::read(&log)?), ..Account::default() },
        Order::Attack { server, rate, seconds } => {
            let connections = plumb_tests::attack(server, rate, Duration::from_secs(seconds))?;
            Account { connections, ..Account::default() }
        }
        Order::Listen { at } => return listener::listen(at, || say(LISTENS)),
    };
    say(&serde_json::to_string(&account)?)
}

impl Account {
    fn of(outcome: &Outcome) -> Self {
        let series = || outcome.measured.flows().iter().map(|flow| &flow.series);
        let datagrams = series().filter_map(|series| series.datagrams()).reduce(|all, more| all.and(&more));
        let ping_pong = match &outcome.measured {
            EndMeasurement::PingPong(PingPongEnd { messages: MessagesEnd::Client(data), .. }) => Some(data),
            _ => None,
        };
        let open_loop = ping_pong.and_then(|ping| ping.open_loop.as_ref());
        let of_stream = series().find_map(|series| series.lateness.as_ref());
        Self {
            bytes: series().map(|series| series.bytes().0).sum(),
            seconds: series().map(|series| series.elapsed().seconds()).fold(0.0, f64::max),
            retransmits: series().map(workload::EndSeries::retransmits).sum(),
            datagrams: datagrams.map(|all| (all.count, all.lost)),
            round_trips: ping_pong.and_then(|ping| quantiles(&ping.round_trips)),
            lateness: open_loop.map(|it| &it.lateness).or(of_stream).and_then(quantiles),
            import: None,
            connections: 0,
        }
    }

    pub(crate) fn quantiles(&self, which: fn(&Self) -> Option<Quantiles>) -> anyhow::Result<Quantiles> {
        match which(self) {
            Some(quantiles) => Ok(quantiles),
            None => bail!("no times recorded"),
        }
    }
}

fn quantiles(histogram: &LatencyHistogram) -> Option<Quantiles> {
    let [half, most, nearly_all] = SHARES.map(|share| histogram.quantile(share));
    Some([half?, most?, nearly_all?].map(|time| time.0 as f64 / 1e3))
}

fn say(line: &str) -> anyhow::Result<()> {
    writeln!(stdout(), "{line}").context("answer")
}
