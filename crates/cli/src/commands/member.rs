//! `plumb member`: lets those who may have agents started on this host, over NATS.

use std::{
    io::{Read, Write},
    net::{Ipv4Addr, SocketAddr},
    path::PathBuf,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
};

use anyhow::Context;
use clap::Args;
use fleet::{Agent, AgentStarter, MemberPolicy, MemberStatus};
use jiff::Timestamp;
use lab::Stop;
use machine::{Channel, Machine, Namespace};
use protocol::HostPolicy;
use scenario::HostName;
use web::{Exposition, MetricsEndpoint, labels};

use super::{PROGRAM, TOOL};
use crate::{exit::Exit, failure::Misuse, fleet_file::FleetFile, interrupt, output};

const ABOUT: &str = "Makes this host one that scenarios name by `member = \"NAME\"`: it dials out to a NATS server, says that it is \
there, and starts agents by the orders of those who may, until Ctrl-C. No port is opened but for `--metrics`. Traffic goes between the hosts themselves.";

const AFTER_HELP: &str = "\
The file says what this host may be asked, and by whom:

  server = \"tls://broker.example:4222\"
  name = \"rack-1\"               # what scenarios call it
  key = \"rack-1.nk\"             # the NKey that `plumb fleet add` made, beside this file, readable by its owner alone
  ca = \"ca.pem\"                 # the authority that signed the server's certificate; default: those of this system
  controllers = { ops = \"UB…\" } # who may have agents started here: names and public keys, as `plumb fleet add` writes them

  [policy]                      # what they may do; without a line, anything
  rate = \"1Gbit/s\"             # the most that a trial may send in each direction
  duration = \"30s\"             # the longest trial
  interfaces = [\"eth1\"]        # over which devices
  ports = \"5201-5210\"          # the ports that this host listens on while it is the server
  hours = \"22:00-06:00\"        # when trials may begin, in UTC
  address = \"10.0.7.11\"        # where traffic goes when a scenario does not say; default: where this host reaches the server from

A server that is away is waited for. An agent ends within 18 s of the last that was heard of its controller.";

/// Flags of `plumb member`.
#[derive(Debug, Args)]
#[command(long_about = ABOUT, after_help = AFTER_HELP)]
pub(crate) struct MemberArgs {
    /// Its file (TOML)
    file: PathBuf,
    /// What scenarios call it, in place of the file's `name`: many hosts can have one file
    #[arg(long)]
    name: Option<String>,
    /// Where traffic goes when a scenario does not say, in place of the file's `address`
    #[arg(long)]
    address: Option<Ipv4Addr>,
    /// Serve `/metrics` for Prometheus over plain HTTP there
    #[arg(long, value_name = "ADDRESS:PORT")]
    metrics: Option<SocketAddr>,
}

/// Is a member until it is interrupted.
pub(crate) fn run(args: &MemberArgs) -> anyhow::Result<Exit> {
    let FleetFile { access, controllers, policy: host } = FleetFile::read(&args.file, args.name.as_deref())?;
    if controllers.is_empty() {
        let message = format!("{} names no controller that may start agents here", args.file.display());
        return Err(Misuse::new(message)
            .hint("add `controllers = { NAME = \"KEY\" }` as `plumb fleet add` writes it")
            .into());
    }
    let stop = Stop::new();
    interrupt::asks(&stop.flag())?;
    let (name, tool, since) =
        (HostName::new(&access.name), TOOL.to_owned(), Timestamp::now().as_millisecond());
    let host = HostPolicy { address: args.address.or(host.address), ..host };
    let address = host.address.or_else(|| fleet::address_towards(&access.server));
    let policy = MemberPolicy { access, controllers, address, tool, since };
    let status = Arc::new(MemberStatus::default());
    let read = (policy.access.name.clone(), Arc::clone(&status));
    let endpoint =
        args.metrics.map(|listen| MetricsEndpoint::listen(listen, move || numbers(&read.0, &read.1)));
    let endpoint = endpoint.transpose()?;
    if let Some(endpoint) = &endpoint {
        output::aside(format_args!("metrics at http://{}/metrics", endpoint.address()));
    }
    let tell = |line: &str| output::aside(format_args!("plumb member: {line}"));
    fleet::serve(
        &policy,
        &ThisHost { name, server: policy.access.server.clone(), policy: host },
        &status,
        &stop.flag(),
        tell,
    )
    .context("cannot be a member")?;
    Ok(Exit::Success)
}

/// In the text format of Prometheus.
fn numbers(name: &str, status: &MemberStatus) -> String {
    let mut text = Exposition::default();
    let one = |value: f64| [(labels(&[("member", name)]), value)].into_iter();
    let is = |flag: bool| f64::from(u8::from(flag));
    let version = labels(&[("member", name), ("version", TOOL)]);
    text.gauge("plumb_member_info", "The member and its version of plumb.", [(version, 1.0)].into_iter());
    text.gauge(
        "plumb_member_connected",
        "Whether there is a connection with the NATS server.",
        one(is(status.is_connected())),
    );
    text.gauge(
        "plumb_member_drained",
        "Whether it starts no agents for now.",
        one(is(status.drained.load(Ordering::Relaxed))),
    );
    text.gauge(
        "plumb_member_agents",
        "Agents that run or are being started.",
        one(status.agents.load(Ordering::Relaxed) as f64),
    );
    let count = |counter: &AtomicU64| one(counter.load(Ordering::Relaxed) as f64);
    text.counter(
        "plumb_member_agents_started_total",
        "Agents started since it began.",
        count(&status.started),
    );
    text.counter(
        "plumb_member_orders_refused_total",
        "Orders not carried out since it began.",
        count(&status.refused),
    );
    text.into_text()
}

/// Starts agents here, in the network namespace of this process.
struct ThisHost {
    name: HostName,
    server: String,
    policy: HostPolicy,
}

impl AgentStarter for ThisHost {
    fn start(&self) -> Result<Box<dyn Agent>, String> {
        // A host may get another address while it is a member.
        let address = self.policy.address.or_else(|| fleet::address_towards(&self.server));
        let policy = HostPolicy { address, ..self.policy.clone() };
        let mut machine = Namespace::own(self.name.clone(), PROGRAM.into()).under(&policy);
        let channel = machine.start().map_err(|error| error.to_string())?;
        Ok(Box::new(LocalAgent { machine, channel: Some(channel) }))
    }
}

struct LocalAgent {
    machine: Namespace,
    channel: Option<Channel>,
}

impl Agent for LocalAgent {
    fn streams(&mut self) -> (Box<dyn Read + Send>, Box<dyn Write + Send>) {
        let Channel { from_agent, to_agent } = self.channel.take().expect("they are asked for once");
        (from_agent, to_agent)
    }

    fn stop(&mut self) -> String {
        self.machine.stop();
        self.machine.condition().last_output
    }
}
