//! A session, in which the agent obeys orders until the controller disconnects or another controller greets
//! it.

mod client;
mod mtu;
mod serve;

use std::{
    ffi::CStr,
    io::{Read, Write},
    net::IpAddr,
    thread::{self, Scope},
    time::SystemTime,
};

use anyhow::Context;
use machine::HostPolicy;
use protocol::{ChannelError, FromAgent, Hello, Order, Receiver, Reply, ToAgent};
use scenario::{DeviceName, HostName};
use units::Nanos;

use crate::{
    describe, guest_memory::GuestMemory, network::Network, observe::Probes, refusal::Refusal,
    replies::Replies, trials::Trials,
};

const NAME: &CStr = c"plumb-agent";

/// Serves controllers until the channel closes, then stops all work. Fails if a controller uses another
/// protocol version or violates the protocol.
pub fn run(
    input: impl Read + Send,
    output: impl Write + Send + 'static,
    tool_version: &str,
    policy: &HostPolicy,
) -> anyhow::Result<()> {
    // The name appears only in process listings, so ignore errors.
    let _ = sys::child::name_own(NAME);
    let replies = Replies::new(output);
    let mut orders = Receiver::new(input);
    replies.send(&FromAgent::Hello(Hello::new(tool_version)));
    match greet(&mut orders) {
        Err(ChannelError::Closed) => return Ok(()),
        greeted => greeted.context("the handshake with the controller failed")?,
    }
    loop {
        match obey_one(&mut orders, &replies, policy) {
            // On a slow guest, the next controller may arrive before the agent notices the disconnection.
            Ok(next) => next.accept().context("the handshake with the next controller failed")?,
            Err(ChannelError::Closed) => return Ok(()),
            Err(error) => return Err(error).context("invalid message from the controller"),
        }
        replies.send(&FromAgent::Hello(Hello::new(tool_version)));
    }
}

/// Serves one controller until it disconnects or the next one greets, then stops all its work.
fn obey_one(
    orders: &mut Receiver<impl Read>,
    replies: &Replies,
    policy: &HostPolicy,
) -> Result<Hello, ChannelError> {
    let trials = Trials::default();
    let probes = Probes::new(probe::probe);
    let network = Network::default();
    let memory = GuestMemory::default();
    thread::scope(|scope| {
        let session = Session {
            scope,
            replies,
            trials: &trials,
            probes: &probes,
            network: &network,
            memory: &memory,
            policy,
        };
        let ended = session.obey(orders);
        trials.stop_all();
        probes.close();
        ended
    })
}

/// Returns the wall-clock time in seconds since 1970, for the hours in a policy.
fn now() -> u64 {
    SystemTime::UNIX_EPOCH.elapsed().map_or(0, |time| time.as_secs())
}

fn greet(orders: &mut Receiver<impl Read>) -> Result<(), ChannelError> {
    match orders.receive()? {
        ToAgent::Hello(hello) => hello.accept(),
        ToAgent::Request { .. } => Err(ChannelError::Malformed {
            reason: "the first message must be a hello".into(),
            start: "a request".into(),
        }),
    }
}

#[derive(Clone, Copy)]
struct Session<'scope, 'env> {
    scope: &'scope Scope<'scope, 'env>,
    replies: &'env Replies,
    trials: &'env Trials,
    probes: &'env Probes,
    network: &'env Network,
    memory: &'env GuestMemory,
    policy: &'env HostPolicy,
}

#[derive(Clone, Copy)]
struct Ticket {
    id: u64,
    deadline: Nanos,
}

impl<'scope> Session<'scope, '_> {
    fn obey(self, orders: &mut Receiver<impl Read>) -> Result<Hello, ChannelError> {
        loop {
            match orders.receive()? {
                ToAgent::Request { id, deadline, order } => self.begin(Ticket { id, deadline }, order),
                ToAgent::Hello(hello) => return Ok(hello),
            }
        }
    }

    fn begin(self, ticket: Ticket, order: Order) {
        let Self { policy, network, trials, probes, .. } = self;
        let (answer, deadline) = (|reply| self.replies.answer(ticket.id, reply), ticket.deadline);
        match order {
            Order::Describe => answer(Ok(describe::environment())),
            Order::Abandon { token } => {
                trials.abandon(token);
                probes.abandon(token);
                answer(Ok(Reply::Done));
            }
            Order::ConfigureNetwork { lab, host } => answer(network.configure_network(&lab, &host)),
            Order::FindInterface { host, address, interface } => {
                answer(self.find(&host, address, interface.as_ref()));
            }
            Order::Reserve { by } => {
                let may = policy.check_hours(now()).map_err(Refusal::new);
                answer(may.and_then(|()| network.reserve(&by)));
            }
            Order::Release => answer(network.release()),
            Order::Configure { devices } => answer(network.configure(&devices)),
            Order::ReadStates { devices } => answer(network.states(&devices)),
            Order::ReadCounters { devices } => answer(network.counters(&devices)),
            // These orders are handled one after another, so that no probe or server starts after its trial
            // has been abandoned.
            Order::Observe(order) => answer(probes.observe(&order)),
            Order::Observed { token } => answer(probes.observed(token)),
            Order::Serve(order) => {
                let may = policy.check(&order.load, now()).map_err(Refusal::new);
                answer(may.and_then(|()| network.at(order.bind, || serve::open(self, order))));
            }
            Order::Collect { token } => self.apart(ticket, move || serve::collect(self, deadline, token)),
            Order::Run(order) => self.apart(ticket, move || {
                policy.check(&order.load, now()).map_err(Refusal::new)?;
                network.at(order.bind, || client::run(self, deadline, &order))
            }),
            Order::Memory { work } => self.apart(ticket, move || self.memory.obey(work)),
            Order::ProbeMtu(order) => {
                self.apart(ticket, move || network.at(order.bind, || mtu::probe(self, deadline, &order)));
            }
            Order::FindHole(order) => {
                self.apart(ticket, move || network.at(order.bind, || mtu::find_hole(self, deadline, &order)));
            }
            Order::SendPackets { probe, count } => self.apart(ticket, move || {
                network.at(probe.bind, || mtu::send_packets(self, deadline, &probe, count))
            }),
        }
    }

    fn find(
        self,
        host: &HostName,
        address: Option<IpAddr>,
        interface: Option<&DeviceName>,
    ) -> Result<Reply, Refusal> {
        let address = address.or(self.policy.address.filter(|_| interface.is_none()));
        let found = self.network.find(host, address, interface)?;
        if let Reply::Interface { end, .. } = &found {
            self.policy.check_interface(&end.device.device).map_err(Refusal::new)?;
        }
        Ok(found)
    }

    fn apart(self, ticket: Ticket, work: impl FnOnce() -> Result<Reply, Refusal> + Send + 'scope)
    where
        Self: 'scope,
    {
        let replies = self.replies;
        let answer = move || replies.answer(ticket.id, work());
        if let Err(error) = thread::Builder::new().name("order".into()).spawn_scoped(self.scope, answer) {
            let reason = format!("cannot start a thread for the order: {error}");
            replies.answer(ticket.id, Err(Refusal { reason, unsupported: false }));
        }
    }
}
