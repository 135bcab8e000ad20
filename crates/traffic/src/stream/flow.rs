//! One end of one connection, ready to flow, and how all of them are run.

use std::{net::TcpStream, time::Duration};

use load::{Direction, StreamLoad};
use samples::ThreadCpu;

use super::{receive, send, share};
use crate::{
    crew::{self, Job, Shared},
    dial,
    ends::{FlowOutcome, Outcome},
    error::Result,
    observer::Observer,
    socket::{TICK, limit_waits},
    stop::Stop,
};

/// The shortest wait that is asked of the kernel, whose timers have a few milliseconds.
const SHORTEST: Duration = Duration::from_millis(5);

/// One end of one connection.
pub(super) struct Flow<'a> {
    pub(super) id: u32,
    pub(super) direction: Direction,
    /// Which end this is: `client` or `server`.
    pub(super) end: &'static str,
    /// For errors.
    pub(super) name: String,
    pub(super) socket: TcpStream,
    pub(super) settings: &'a StreamLoad,
    pub(super) cpus: Option<&'a [u32]>,
    /// What it carries, where that is known.
    pub(super) share: Option<u64>,
}

impl<'a> Flow<'a> {
    pub(super) fn new(
        (direction, id): (Direction, u32),
        end: &'static str,
        socket: TcpStream,
        settings: &'a StreamLoad,
        cpus: Option<&'a [u32]>,
    ) -> Self {
        let peer = socket.peer_addr().map_or_else(|_| "its peer".into(), |peer| peer.to_string());
        let way = if direction == Direction::Reverse { "reverse" } else { "forward" };
        let name = format!("connection {id} ({way}) with {peer}");
        let share = share(settings, id);
        Self { id, direction, end, name, socket, settings, cpus, share }
    }

    fn is_server(&self) -> bool {
        self.end == super::server::END
    }

    fn sends(&self) -> bool {
        self.is_server() == (self.direction == Direction::Reverse)
    }

    /// Prepares, waits for the others and flows.
    fn run(self, shared: &Shared<'_>) -> Result<(FlowOutcome, ThreadCpu)> {
        if let Some(cpus) = self.cpus {
            sys::affinity::pin_thread(cpus)?;
        }
        limit_waits(&self.socket, TICK.min(self.settings.interval.into()).max(SHORTEST))?;
        // Written once, so that every page is there before the time begins.
        let mut buffer = vec![0xA5; self.settings.message.0 as usize];
        shared.wait_for_start()?;
        if self.is_server() {
            dial::give_go(&self.socket, &self.name)?;
        } else {
            dial::await_go(&self.socket, &self.name, || shared.check())?;
        }
        let flowed = if self.sends() {
            send::run(&self, shared, &buffer)
        } else {
            receive::run(&self, shared, &mut buffer)
        };
        if flowed.is_err() {
            // An ordinary close would look to the peer like the stream's proper end.
            sys::socket::set_linger_zero(&self.socket)?;
        }
        let (series, thread) = flowed?;
        Ok((FlowOutcome { id: self.id, direction: self.direction, series }, thread))
    }
}

/// Runs all flows of one end, a thread each.
pub(super) fn run(flows: Vec<Flow<'_>>, stop: &Stop, observer: &dyn Observer) -> Result<Outcome> {
    let shared = &Shared::new(stop);
    let mut jobs = Vec::with_capacity(flows.len());
    for flow in flows {
        jobs.push(Job { name: flow.name.clone(), work: Box::new(move || flow.run(shared)) });
    }
    let (flows, threads) = crew::run(jobs, shared, observer)?.into_iter().unzip();
    Ok(Outcome { flows, threads, ..Outcome::default() })
}
