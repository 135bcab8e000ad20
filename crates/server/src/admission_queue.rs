//! iperf3 clients whose tests can be served, in a queue for a place.

use std::{
    collections::VecDeque,
    io::Write,
    net::{Shutdown, SocketAddr, TcpStream},
};

use codecs::iperf3::{
    Cookie, Params,
    server::{Machine, access_denied},
};
use units::Nanos;

use super::{
    event::Refusal,
    log_limiter::LogLimiter,
    pending::{ParameterRead, read_parameters},
};

pub(super) const LIMIT: usize = 64;
/// How long one waits for a place where there is no queue: the client before it may be taking its leave.
const MOMENT: Nanos = Nanos::from_millis(500);

/// In the order in which their parameters came.
#[derive(Default)]
pub(super) struct AdmissionQueue(VecDeque<QueuedTest>);

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
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Admission {
    Now,
    Later,
    /// There is no place, and no queue to wait for one.
    Busy,
}

impl AdmissionQueue {
    pub(super) fn count(&self) -> usize {
        self.0.len()
    }

    /// How many come before the client with this number; `None` when it does not wait.
    pub(super) fn position(&self, order: u64) -> Option<usize> {
        self.0.iter().position(|test| test.order == order)
    }

    pub(super) fn add(&mut self, test: QueuedTest) {
        self.0.push_back(test);
    }

    /// The first that may begin.
    pub(super) fn next(&mut self, admission: impl Fn(&QueuedTest) -> Admission) -> Option<QueuedTest> {
        let position = self.0.iter().position(|test| admission(test) == Admission::Now)?;
        self.0.remove(position)
    }

    /// Refuses those that have found no place for a moment.
    pub(super) fn drop_late(
        &mut self,
        admission: impl Fn(&QueuedTest) -> Admission,
        log: &mut LogLimiter<'_>,
        now: u64,
    ) {
        let late = |test: &QueuedTest| now.saturating_sub(test.since) >= MOMENT.0;
        while let Some(position) =
            self.0.iter().position(|test| admission(test) == Admission::Busy && late(test))
        {
            self.0.remove(position).into_iter().for_each(|test| test.deny(log, now));
        }
    }

    /// Reads from one that has sent something: it has left, or is about to.
    pub(super) fn check_activity(&mut self, order: u64, log: &mut LogLimiter<'_>, now: u64) {
        let Some(position) = self.position(order) else { return };
        let test = &mut self.0[position];
        if let ParameterRead::Refused(because) = read_parameters(&test.socket, &mut test.machine, now) {
            log.refused(test.peer, because, now);
            self.0.remove(position);
        }
    }
}

impl QueuedTest {
    /// Tells it what a stock server tells a second client.
    pub(super) fn deny(self, log: &mut LogLimiter<'_>, now: u64) {
        log.refused(self.peer, Refusal::Busy, now);
        if (&self.socket).write_all(&access_denied()).is_ok() {
            // Gone: it does not matter any more.
            let _ = self.socket.shutdown(Shutdown::Write);
        }
    }
}
