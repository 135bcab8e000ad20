//! A queue of accepted iperf3 tests that are waiting for a slot.

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

const TURNS: usize = 64;
/// Without `--queue`, a test waits at most this long, because the previous client may be about to leave.
const GRACE_PERIOD: Nanos = Nanos::from_millis(500);

/// Addresses take turns, while tests from the same address run in order of arrival.
#[derive(Default)]
pub(super) struct AdmissionQueue {
    tests: VecDeque<QueuedTest>,
    turns: VecDeque<Source>,
}

pub(super) struct QueuedTest {
    pub(super) order: u64,
    pub(super) socket: TcpStream,
    pub(super) peer: SocketAddr,
    pub(super) local: SocketAddr,
    pub(super) cookie: Cookie,
    pub(super) machine: Box<Machine>,
    pub(super) params: Box<Params>,
    pub(super) since: u64,
    pub(super) _share: Share,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Admission {
    Now,
    Later,
    Busy(Exhausted),
}

impl AdmissionQueue {
    pub(super) fn position(&self, order: u64) -> Option<usize> {
        self.tests.iter().position(|test| test.order == order)
    }

    pub(super) fn add(&mut self, test: QueuedTest) {
        self.tests.push_back(test);
    }

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

    pub(super) fn take_oldest(&mut self, of: impl Fn(Source) -> bool) -> Option<QueuedTest> {
        let position = self.tests.iter().position(|test| of(test.source()))?;
        self.tests.remove(position)
    }

    pub(super) fn drop_late(
        &mut self,
        admission: impl Fn(&QueuedTest) -> Admission,
        log: &mut LogLimiter<'_>,
        now: u64,
    ) {
        let late = |test: &QueuedTest| now.saturating_sub(test.since) >= GRACE_PERIOD.0;
        let busy = |test: &QueuedTest| match admission(test) {
            Admission::Busy(exhausted) if late(test) => Some(exhausted),
            _ => None,
        };
        let first = |tests: &VecDeque<QueuedTest>| {
            tests.iter().enumerate().find_map(|(position, test)| Some((position, busy(test)?)))
        };
        while let Some((position, exhausted)) = first(&self.tests) {
            self.tests.remove(position).into_iter().for_each(|test| test.deny(exhausted, log, now));
        }
    }

    pub(super) fn check_activity(&mut self, order: u64, log: &mut LogLimiter<'_>, now: u64) {
        let Some(position) = self.position(order) else { return };
        let test = &mut self.tests[position];
        if let ParameterRead::Refused(reason) = read_parameters(&test.socket, &mut test.machine, now) {
            log.refused(test.peer, reason, now);
            self.tests.remove(position);
        }
    }
}

impl QueuedTest {
    pub(super) fn source(&self) -> Source {
        self.peer.ip().into()
    }

    pub(super) fn deny(mut self, exhausted: Exhausted, log: &mut LogLimiter<'_>, now: u64) {
        log.refused(self.peer, exhausted.into(), now);
        if exhausted == Exhausted::Address && self.params.plumb.is_some() {
            self.machine.refuse(ErrorCode::LIMIT_ADDRESS, 0);
            return dismiss(&self.socket, &mut self.machine);
        }
        if (&self.socket).write_all(&access_denied()).is_ok() {
            let _ = self.socket.shutdown(Shutdown::Write);
        }
    }
}
