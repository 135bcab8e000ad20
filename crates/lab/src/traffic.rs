//! Runs the two ends of a trial, or of several trials at once on different hosts.

use std::{net::IpAddr, time::Duration};

use protocol::{ClientOrder, EndReport, Order, Progress, Reply, ServerOrder, Subject, Token};
use samples::CpuConsumer;
use scenario::{HostName, Path};
use units::Nanos;
use workload::{BalloonSettings, WorkloadSettings};

use crate::{
    agents::{SHORT, token},
    error::RunError,
    event::{Event, Observer},
    exchange::{Exchange, Reports},
    observer::Watcher,
    trial_runner::TrialRunner,
};

const OPEN: &str = "open the server";
/// Messages are counted in batches of up to this length, so one batch would distort a shorter interval.
const MIN_SHOWN: Nanos = Nanos::from_millis(50);
/// The time that a trial takes beyond its traffic: connecting (10 s on a lossy path), draining (5 s at each
/// end) and reporting.
const SLACK: Duration = Duration::from_secs(30);
const LONG: Duration = Duration::from_secs(600);

impl TrialRunner<'_> {
    pub(crate) fn exchange(
        &mut self,
        exchanges: &[Exchange<'_>],
        observer: &mut dyn Observer,
    ) -> Result<Vec<Reports>, RunError> {
        if let [only] = exchanges
            && let Some(load) = BalloonSettings::of(&only.result.load)
        {
            let moved = self.move_memory(only, load, observer);
            if moved.is_err() {
                self.watcher.iter_mut().for_each(Watcher::give_up);
            }
            return moved.map(|reports| vec![reports]);
        }
        let begun: Vec<(Token, &Exchange<'_>)> = exchanges.iter().map(|it| (token(), it)).collect();
        let replies = self.between(&begun, observer);
        if replies.is_err() {
            for (token, exchange) in &begun {
                self.give_up(*token, exchange.path);
            }
        }
        let mut replies = replies?.into_iter();
        let mut seen = self.watcher.as_mut().map_or(Ok(None), Watcher::end)?;
        let mut reports = Vec::new();
        for exchange in exchanges {
            let Exchange { path, result, .. } = *exchange;
            let client = report(&path.from.host, replies.next())?;
            let has_peer = result.load.kind().has_peer();
            let server = if has_peer { Some(report(&path.to.host, replies.next())?) } else { None };
            // At most one of these trials involves this machine.
            let seen = if self.lab_handle.is_here(path) { seen.take() } else { None };
            reports.push(Reports { client, server, seen });
        }
        Ok(reports)
    }

    /// Stops the remaining end of a failed trial, which may still wait for the other. Errors are ignored,
    /// because the trial has already failed.
    pub(crate) fn give_up(&mut self, token: Token, path: &Path) {
        let _ = self.agents.request(&path.to.host, "end the server", Order::Abandon { token }, SHORT);
        let _ = self.agents.request(&path.from.host, "end the client", Order::Abandon { token }, SHORT);
        self.watcher.iter_mut().for_each(|watcher| watcher.abandon(token));
    }

    /// Returns each client's reply, followed by its server's reply if the trial has a server.
    fn between(
        &mut self,
        begun: &[(Token, &Exchange<'_>)],
        observer: &mut dyn Observer,
    ) -> Result<Vec<Reply>, RunError> {
        let ports = self.serve_all(begun)?;
        for ((token, exchange), port) in begun.iter().zip(&ports) {
            let ends = self.ends(exchange.path);
            let is_here = self.lab_handle.is_here(exchange.path);
            if let Some(watcher) = self.watcher.as_mut().filter(|_| is_here) {
                watcher.begin(*token, exchange, *port, ends)?;
            }
        }
        let mut requests = Vec::new();
        for ((token, exchange), port) in begun.iter().zip(ports) {
            let (token, Exchange { path, result, cpus, .. }) = (*token, **exchange);
            let order = Order::Run(ClientOrder {
                token,
                bind: exchange.client_address(),
                server: exchange.server_address(),
                port,
                load: result.load.clone(),
                cpus: cpus.client.clone(),
            });
            let deadline = deadline(&result.load);
            requests.push(self.agents.request(&path.from.host, "run the client", order, deadline)?);
            if result.load.kind().has_peer() {
                let collect = Order::Collect { token };
                requests.push(self.agents.request(&path.to.host, "run the server", collect, deadline)?);
            }
        }
        let [(token, first), ..] = begun else { return Ok(Vec::new()) };
        self.agents.wait(&requests, |beat| {
            if begun.len() == 1 || beat.token == *token {
                show(beat, &first.result.load, observer);
            }
        })
    }

    fn serve_all(&mut self, begun: &[(Token, &Exchange<'_>)]) -> Result<Vec<u16>, RunError> {
        let mut servers = Vec::new();
        for (token, exchange) in begun {
            let Exchange { path, result, cpus, .. } = exchange;
            if result.load.kind().has_peer() {
                let to = (&path.to.host, exchange.server_address());
                let order = self.server_order(to, *token, result.load.clone(), cpus.server.clone());
                servers.push((&path.to.host, order));
            }
        }
        let mut ports = self.serve(servers)?.into_iter();
        let port = |(_, exchange): &(Token, &Exchange<'_>)| {
            let has_peer = exchange.result.load.kind().has_peer();
            has_peer.then(|| ports.next()).flatten().unwrap_or(0)
        };
        Ok(begun.iter().map(port).collect())
    }

    pub(crate) fn watcher_of(&mut self, exchange: &Exchange<'_>) -> Option<&mut Watcher> {
        self.watcher.as_mut().filter(|_| exchange.probed)
    }

    /// An end in a virtual machine is represented by the machine's monitor. If both ends share a host, its processes
    /// count as the client's. Processes of unused machines count as plumb's.
    pub(crate) fn ends(&self, path: &Path) -> Vec<Subject> {
        let is_vm = |host| self.lab_handle.lab.vm(host).is_some();
        let of = |host, [plain, vm]: [CpuConsumer; 2]| {
            let agent = self.lab_handle.lab.seat(host).unwrap_or(host);
            (if is_vm(host) { vm } else { plain }, agent)
        };
        let mut ends = vec![of(&path.from.host, [CpuConsumer::Client, CpuConsumer::ClientVm])];
        if path.to.host != path.from.host {
            ends.push(of(&path.to.host, [CpuConsumer::Server, CpuConsumer::ServerVm]));
        }
        // Only the channel of an end on a remote host runs on this machine.
        ends.retain(|(_, host)| !self.lab_handle.lab.is_remote(host));
        let named: Vec<&HostName> = ends.iter().map(|(_, host)| *host).collect();
        let others = self.agents.hosts().filter(|host| !named.contains(host));
        let idle =
            Subject::of(CpuConsumer::Plumb, others.flat_map(|host| self.agents.pids(host)).collect(), false);
        let subject = |(consumer, host)| Subject::of(consumer, self.agents.pids(host), true);
        ends.into_iter().map(subject).chain([idle]).collect()
    }

    pub(crate) fn serve(&mut self, servers: Vec<(&HostName, Order)>) -> Result<Vec<u16>, RunError> {
        let (mut hosts, mut requests) = (Vec::new(), Vec::new());
        for (host, order) in servers {
            requests.push(self.agents.request(host, OPEN, order, SHORT)?);
            hosts.push(host);
        }
        let replies = self.agents.wait(&requests, |_| ())?;
        hosts.into_iter().zip(replies).map(|(host, reply)| port_of(host, &reply)).collect()
    }

    pub(crate) fn server_order(
        &self,
        (host, bind): (&HostName, IpAddr),
        token: Token,
        mut load: WorkloadSettings,
        cpus: Option<Vec<u32>>,
    ) -> Order {
        let port = self.lab_handle.lab.existing(host).and_then(|existing| existing.port);
        if let (Some(port), Some(socket)) = (port, load.kind_mut().socket_mut()) {
            socket.server_port = Some(port);
        }
        Order::Serve(ServerOrder { token, bind, load, cpus })
    }
}

fn port_of(host: &HostName, reply: &Reply) -> Result<u16, RunError> {
    match reply {
        Reply::Listening { port } => Ok(*port),
        other => Err(RunError::unexpected(host, other)),
    }
}

fn report(host: &HostName, reply: Option<Reply>) -> Result<EndReport, RunError> {
    match reply.expect("there is a reply for each request") {
        Reply::Report(report) => Ok(report),
        other => Err(RunError::unexpected(host, &other)),
    }
}

fn deadline(load: &WorkloadSettings) -> Duration {
    let kind = load.kind();
    match (kind.flows_for(), kind.sends()) {
        (Some(traffic), _) => Duration::from(traffic) + SLACK,
        (None, Some((bytes, Some(speed)))) => {
            LONG + Duration::try_from_secs_f64(bytes.0 as f64 / speed.max(1.0)).unwrap_or(LONG)
        }
        (None, _) => LONG,
    }
}

fn show(beat: &Progress, load: &WorkloadSettings, observer: &mut dyn Observer) {
    let long = beat.covers >= MIN_SHOWN;
    let live = long.then(|| load.kind().live(beat.received, beat.round_trips, beat.covers)).flatten();
    if let Some(rate) = live {
        observer.event(&Event::Rate { elapsed: beat.elapsed, rate: &rate });
    }
}
