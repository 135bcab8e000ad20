//! `plumb member`: lets authorised controllers start agents on this host, over NATS.

use std::{
    io::{Read, Write},
    net::{IpAddr, SocketAddr},
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
use machine::{Channel, HostPolicy, Machine, Namespace};
use scenario::HostName;
use web::{Exposition, MetricsEndpoint, labels};

use crate::{
    exit::Exit,
    failure::Misuse,
    fleet_file::FleetFile,
    interrupt, output,
    program::{PROGRAM, TOOL},
};

const ABOUT: &str = "Makes this host available to scenarios as `at = \"member:NAME\"`. Connects to a NATS \
    server and starts agents for authorised controllers, until Ctrl-C. Opens no port except for \
    `--metrics`. Test traffic goes directly between hosts.";

const AFTER_HELP: &str = "The file contains:

  server = \"tls://broker.example:4222\"
  name = \"rack-1\"               # name in scenarios
  key = \"rack-1.nk\"             # NKey created by `plumb fleet add`, relative to this file, readable by \
    its owner only
  ca = \"ca.pem\"                 # CA of the server's certificate; default: the system's CAs
  controllers = { ops = \"UB…\" } # authorised controllers: names and public keys, as written by `plumb \
    fleet add`

  [policy]                      # limits; default: none
  rate = \"1Gbit/s\"             # maximum sending rate of a trial, per direction
  duration = \"30s\"             # maximum trial duration
  interfaces = [\"eth1\"]        # allowed interfaces
  ports = \"5201-5210\"          # ports to listen on when acting as the server
  hours = \"22:00-06:00\"        # allowed start times of trials, in UTC
  address = \"10.0.7.11\"        # default address for traffic; if unset, the source address of the \
    NATS connection

Reconnects if the server is unavailable. An agent exits within 18 s of losing its controller.";

#[derive(Debug, Args)]
#[command(long_about = ABOUT, after_help = AFTER_HELP)]
pub(crate) struct MemberArgs {
    /// Configuration file (TOML)
    file: PathBuf,
    /// Name in scenarios, overriding the file's `name`, so that hosts can share a file
    #[arg(long)]
    name: Option<String>,
    /// Default address for traffic, overriding the file's `address`
    #[arg(long)]
    address: Option<IpAddr>,
    /// Serve Prometheus `/metrics` over unencrypted HTTP at this address
    #[arg(long, value_name = "ADDRESS:PORT")]
    metrics: Option<SocketAddr>,
}

pub(crate) fn run(args: &MemberArgs) -> anyhow::Result<Exit> {
    let FleetFile { access, controllers, policy: host } = FleetFile::read(&args.file, args.name.as_deref())?;
    if controllers.is_empty() {
        let message = format!("{} does not authorise any controllers", args.file.display());
        return Err(Misuse::new(message)
            .hint("add `controllers = { NAME = \"KEY\" }`, as written by `plumb fleet add`")
            .into());
    }
    let stop = Stop::new();
    interrupt::set_on_signal(&stop.flag())?;
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
    let print = |line: &str| output::aside(format_args!("plumb member: {line}"));
    fleet::serve(
        &policy,
        &ThisHost { name, server: policy.access.server.clone(), policy: host },
        &status,
        &stop.flag(),
        print,
    )
    .context("cannot run as a member")?;
    Ok(Exit::Success)
}

fn numbers(name: &str, status: &MemberStatus) -> String {
    let mut text = Exposition::default();
    let one = |value: f64| [(labels(&[("member", name)]), value)].into_iter();
    let is = |flag: bool| f64::from(u8::from(flag));
    let version = labels(&[("member", name), ("version", TOOL)]);
    text.gauge("plumb_member_info", "Member name and plumb version.", [(version, 1.0)].into_iter());
    text.gauge(
        "plumb_member_connected",
        "Whether the NATS server is connected.",
        one(is(status.is_connected())),
    );
    text.gauge(
        "plumb_member_drained",
        "Whether the member is drained.",
        one(is(status.drained.load(Ordering::Relaxed))),
    );
    text.gauge(
        "plumb_member_agents",
        "Agents running or starting.",
        one(status.agents.load(Ordering::Relaxed) as f64),
    );
    let count = |counter: &AtomicU64| one(counter.load(Ordering::Relaxed) as f64);
    text.counter(
        "plumb_member_agents_started_total",
        "Agents started since the member started.",
        count(&status.started),
    );
    text.counter(
        "plumb_member_orders_refused_total",
        "Orders refused or failed since the member started.",
        count(&status.refused),
    );
    text.into_text()
}

struct ThisHost {
    name: HostName,
    server: String,
    policy: HostPolicy,
}

impl AgentStarter for ThisHost {
    fn start(&self) -> Result<Box<dyn Agent>, String> {
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
        let Channel { from_agent, to_agent } = self.channel.take().expect("channels are taken once");
        (from_agent, to_agent)
    }

    fn stop(&mut self) -> String {
        self.machine.stop();
        self.machine.condition().last_output
    }
}
