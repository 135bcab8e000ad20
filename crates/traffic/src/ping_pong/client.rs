//! The end that sends first and measures.

use load::{PingPongLoad, Transport};
use samples::{LatencyHistogram, PingPongData, ThreadCpu, ThreadRole};
use sys::clock::monotonic;
use units::Nanos;

use super::{check, tcp, udp};
use crate::{
    crew::{self, Job, Shared, Spent},
    ends::Outcome,
    error::Result,
    observer::Observer,
    socket::TICK,
    spec::ClientSpec,
    stop::Stop,
};

/// Sends messages and awaits their return, one at a time, until the time is over.
///
/// # Errors
/// When the server cannot be reached, or ends the connection before its time.
pub(crate) fn run_client(
    spec: &ClientSpec<PingPongLoad>,
    stop: &Stop,
    observer: &dyn Observer,
) -> Result<Outcome> {
    check(&spec.load)?;
    let end = match spec.load.transport {
        Transport::Tcp => ClientEnd::Tcp(tcp::Client::connect(spec, stop)?),
        Transport::Udp => ClientEnd::Udp(udp::Client::connect(spec, stop)?),
    };
    let shared = Shared::new(stop);
    let work = || {
        if let Some(cpus) = &spec.cpus {
            sys::affinity::pin_thread(cpus)?;
        }
        shared.wait_for_start()?;
        match end {
            ClientEnd::Tcp(client) => client.run(spec, &shared),
            ClientEnd::Udp(client) => client.run(spec, &shared),
        }
    };
    let job = Job { name: format!("ping {}", spec.server), work: Box::new(work) };
    let mut outcomes = crew::run(vec![job], &shared, observer)?;
    Ok(outcomes.remove(0))
}

enum ClientEnd {
    Tcp(tcp::Client),
    Udp(udp::Client),
}

/// What a pinging thread notes: times after each round trip, everything else a few times a second.
pub(super) struct Notes<'a> {
    shared: &'a Shared<'a>,
    warm: u64,
    end: u64,
    wake: u64,
    first: Option<u64>,
    last: u64,
    answered: u64,
    told: u64,
    lost: u64,
    round_trips: LatencyHistogram,
    spent: Spent,
}

impl<'a> Notes<'a> {
    /// The time begins now.
    pub(super) fn begin(settings: &PingPongLoad, shared: &'a Shared<'a>) -> Self {
        let round_trips = LatencyHistogram::new();
        let spent = Spent::from_now();
        let now = monotonic();
        let warm = now + settings.warmup.0;
        let end = warm + settings.duration.0;
        let (first, last, wake) = (None, now, now);
        Self { shared, warm, end, wake, first, last, answered: 0, told: 0, lost: 0, round_trips, spent }
    }

    /// A message sent at `sent` came back at `now`. False when the time is over.
    #[inline]
    pub(super) fn answered(&mut self, sent: u64, now: u64) -> Result<bool> {
        self.answered += 1;
        if sent >= self.warm {
            self.round_trips.record(Nanos(now - sent));
        }
        self.passed(sent, now)
    }

    /// A message sent at `sent` did not come back until `now`. False when the time is over.
    pub(super) fn lost(&mut self, sent: u64, now: u64) -> Result<bool> {
        if sent >= self.warm {
            self.lost += 1;
        }
        self.passed(sent, now)
    }

    /// Whether the loop may go on waiting.
    pub(super) fn check(&self) -> Result<()> {
        self.shared.check()
    }

    #[inline]
    fn passed(&mut self, sent: u64, now: u64) -> Result<bool> {
        if sent >= self.warm {
            self.first = self.first.or(Some(sent));
            self.last = now;
        }
        if now >= self.wake {
            self.wake = now + TICK.as_nanos() as u64;
            self.shared.check()?;
            self.shared.add_round_trips(self.answered - self.told);
            self.told = self.answered;
        }
        Ok(now < self.end)
    }

    /// The CPU time until now: before the connection is closed.
    pub(super) fn spent(&self) -> ThreadCpu {
        self.spent.until_now("client", ThreadRole::Ping)
    }

    pub(super) fn outcome(self, thread: ThreadCpu, socket: samples::SocketFacts) -> Outcome {
        let elapsed = Nanos(self.first.map_or(0, |first| self.last - first));
        let (round_trips, lost) = (self.round_trips, self.lost);
        let data = PingPongData { round_trips, elapsed, lost, client: socket, ..PingPongData::default() };
        Outcome { ping_pong: Some(data), threads: vec![thread], ..Outcome::default() }
    }
}
