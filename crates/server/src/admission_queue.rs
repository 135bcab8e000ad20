//! iperf3 clients whose tests can be served, in a queue for a place.

use std::{
    collections::VecDeque,
    io::Write,
    net::{Shutdown, SocketAddr, TcpStream},
};

use codecs::iperf3::{
    Cookie, ErrorCode, Params,
    server::{Machine, access_denied},
};
use units::Nanos;

use super::{
    ledger::{Exhausted, Share, Source},
    log_limiter::LogLimiter,
    pending::{ParameterRead, dismiss, read_parameters},
};

/// Addresses whose turn is remembered.
const TURNS: usize = 64;
/// How long one waits for a place where there is no queue: the client before it may be taking its leave.
const MOMENT: Nanos = Nanos::from_millis(500);

/// Tests in the order in which their parameters came; addresses take turns.
#[derive(Default)]
pub(super) struct AdmissionQueue {
    tests: VecDeque<QueuedTest>,
    /// Whose tests have begun of late; the latest last.
    turns: VecDeque<Source>,
}

/// A client that waits.
pub(super) struct QueuedTest {
    /// The number of its control connection.
    pub(super) order: u64,
    pub(super) socket: TcpStream,
    pub(super) peer: SocketAddr,
    pub(super) local: SocketAddr,
    pub(super) cookie: Cookie,
    pub(super) machine: Box<Machine>,
    pub(super) params: Box<Params>,
    pub(super) since: u64,
    /// That it waits, in the ledger.
    pub(super) _share: Share,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Admission {
    Now,
    Later,
    /// There is no place, and no queue to wait for one.
    Busy(Exhausted),
}

impl AdmissionQueue {
    /// How many come before the client with this number; `None` when it does not wait.
    pub(super) fn position(&self, order: u64) -> Option<usize> {
        self.tests.iter().position(|test| test.order == order)
    }

    pub(super) fn add(&mut self, test: QueuedTest) {
        self.tests.push_back(test);
    }

    /// The one that begins now: of those that may, the first of the address whose last turn was longest ago.
    pub(super) fn next(&mut self, admission: impl Fn(&QueuedTest) -> Admission) -> Option<QueuedTest> {
        let may = self.tests.iter().enumerate().filter(|(_, test)| admission(test) == Admission::Now);
        let turn = |test: &QueuedTest| self.turns.iter().position(|source| *source == test.source());
        let (position, _) = may.min_by_key(|(_, test)| turn(test))?;
        let test = self.tests.remove(position)?;
        let source = test.source();
        self.turns.retain(|other| *other != source);
        if self.turns.len() >= TURNS {
            self.turns.pop_front();
        }
        self.turns.push_back(source);
        Some(test)
    }

    /// Takes the oldest out of an address's tests.
    pub(super) fn take_oldest(&mut self, of: impl Fn(Source) -> bool) -> Option<QueuedTest> {
        let position = self.tests.iter().position(|test| of(test.source()))?;
        self.tests.remove(position)
    }

    /// Refuses those that have found no place for a moment.
    pub(super) fn drop_late(
        &mut self,
        admission: impl Fn(&QueuedTest) -> Admission,
        log: &mut LogLimiter<'_>,
        now: u64,
    ) {
        let late = |test: &QueuedTest| now.saturating_sub(test.since) >= MOMENT.0;
        let busy = |test: &QueuedTest| match admission(test) {
            Admission::Busy(whose) if late(test) => Some(whose),
            _ => None,
        };
        let first = |tests: &VecDeque<QueuedTest>| {
            tests.iter().enumerate().find_map(|(position, test)| Some((position, busy(test)?)))
        };
        while let Some((position, whose)) = first(&self.tests) {
            self.tests.remove(position).into_iter().for_each(|test| test.deny(whose, log, now));
        }
    }

    /// Reads from one that has sent something: it has left, or is about to.
    pub(super) fn check_activity(&mut self, order: u64, log: &mut LogLimiter<'_>, now: u64) {
        let Some(position) = self.position(order) else { return };
        let test = &mut self.tests[position];
        if let ParameterRead::Refused(because) = read_parameters(&test.socket, &mut test.machine, now) {
            log.refused(test.peer, because, now);
            self.tests.remove(position);
        }
    }
}

impl QueuedTest {
    pub(super) fn source(&self) -> Source {
        self.peer.ip().into()
    }

    /// Tells it what a stock server tells a second client; one of our own that its address has too much.
    pub(super) fn deny(mut self, whose: Exhausted, log: &mut LogLimiter<'_>, now: u64) {
        log.refused(self.peer, whose.into(), now);
        if whose == Exhausted::Address && self.params.plumb.is_some() {
            self.machine.refuse(ErrorCode::LIMIT_ADDRESS, 0);
            return dismiss(&self.socket, &mut self.machine);
        }
        if (&self.socket).write_all(&access_denied()).is_ok() {
            // Gone: it does not matter any more.
            let _ = self.socket.shutdown(Shutdown::Write);
        }
    }
}
