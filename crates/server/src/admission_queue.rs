//! iperf3 clients whose tests can be served, until it is their turn.

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
    log_limiter::Hush,
    pending::{Heard, hear_greeting},
};

/// Clients that may wait.
pub(super) const WAITING: usize = 64;
/// How long one waits for a place where there is no queue: the client before it may be taking its leave.
const MOMENT: Nanos = Nanos::from_millis(500);

/// All of them, in the order in which their parameters came.
#[derive(Default)]
pub(super) struct Turns(VecDeque<Waiting>);

/// One of them.
pub(super) struct Waiting {
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

/// What may be done with one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Turn {
    Now,
    Later,
    /// There is no place, and no queue to wait for one.
    Busy,
}

impl Turns {
    pub(super) fn count(&self) -> usize {
        self.0.len()
    }

    /// How many come before the client with this number; `None` when it does not wait.
    pub(super) fn place(&self, order: u64) -> Option<usize> {
        self.0.iter().position(|waiting| waiting.order == order)
    }

    pub(super) fn add(&mut self, waiting: Waiting) {
        self.0.push_back(waiting);
    }

    /// The first whose turn it is.
    pub(super) fn next(&mut self, turn: impl Fn(&Waiting) -> Turn) -> Option<Waiting> {
        let place = self.0.iter().position(|waiting| turn(waiting) == Turn::Now)?;
        self.0.remove(place)
    }

    /// Sends those away who have found no place for a moment.
    pub(super) fn send_away(&mut self, turn: impl Fn(&Waiting) -> Turn, hush: &mut Hush<'_>, now: u64) {
        let late = |waiting: &Waiting| now.saturating_sub(waiting.since) >= MOMENT.0;
        while let Some(place) = self.0.iter().position(|waiting| turn(waiting) == Turn::Busy && late(waiting))
        {
            self.0.remove(place).into_iter().for_each(|waiting| waiting.deny(hush, now));
        }
    }

    /// Looks after one that has said something: it has left, or is about to.
    pub(super) fn stir(&mut self, order: u64, hush: &mut Hush<'_>, now: u64) {
        let Some(place) = self.place(order) else { return };
        let waiting = &mut self.0[place];
        if let Heard::Over(because) = hear_greeting(&waiting.socket, &mut waiting.machine, now) {
            hush.refused(waiting.peer, because, now);
            self.0.remove(place);
        }
    }
}

impl Waiting {
    /// Tells it what a stock server tells a second client.
    pub(super) fn deny(self, hush: &mut Hush<'_>, now: u64) {
        hush.refused(self.peer, Refusal::Busy, now);
        if (&self.socket).write_all(&access_denied()).is_ok() {
            // Gone: it does not matter any more.
            let _ = self.socket.shutdown(Shutdown::Write);
        }
    }
}
