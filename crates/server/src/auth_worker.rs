//! One thread that judges logins, so that the door never waits for a decryption.
//!
//! What awaits it is bounded: when that is full, a client is told that the server is busy.

use std::{
    net::IpAddr,
    sync::mpsc::{Receiver, Sender, SyncSender, TrySendError, channel, sync_channel},
    thread::Scope,
};

use traffic::Stop;

use super::{admission_check::Keys, admission_queue::Waiting, login_failures::Failures, waker::Poke};

/// Logins that may await judgement: a fraction of a second of work.
const LOGINS: usize = 32;

/// The door's side of it.
pub(super) struct Clerk {
    /// `None` where nobody has to log in.
    desk: Option<Desk>,
    failures: Failures,
}

struct Desk {
    logins: SyncSender<Waiting>,
    judged: Receiver<Judged>,
}

/// Somebody whose login was judged.
pub(super) struct Judged {
    pub(super) waiting: Waiting,
    pub(super) known: bool,
}

/// What becomes of a login.
pub(super) enum Login {
    /// Nobody has to.
    Needless(Waiting),
    /// It will be [`Clerk::judged`].
    Pending,
    /// It cannot be one, or comes from where too many have failed.
    Refused(Waiting),
    /// Too many are being judged.
    Busy(Waiting),
}

impl Clerk {
    /// Begins its thread where there are keys; that ends when the clerk is dropped.
    pub(super) fn new<'scope>(
        scope: &'scope Scope<'scope, '_>,
        keys: Option<&'scope Keys>,
        closing: &'scope Stop,
        poke: &Poke,
    ) -> Self {
        let desk = keys.map(|keys| {
            let ((logins, coming), (judge, judged)) = (sync_channel(LOGINS), channel());
            let poke = poke.clone();
            scope.spawn(move || judge_all(&coming, keys, closing, &judge, &poke));
            Desk { logins, judged }
        });
        Self { desk, failures: Failures::default() }
    }

    /// Judges what can be judged at once, and hands on the rest.
    pub(super) fn log_in(&mut self, waiting: Waiting, keys: Option<&Keys>, now: u64) -> Login {
        let Some((desk, keys)) = self.desk.as_ref().zip(keys) else { return Login::Needless(waiting) };
        let peer = waiting.peer.ip();
        if self.failures.are_many(peer, now) {
            return Login::Refused(waiting);
        }
        if !keys.may_know(&waiting.params) {
            self.failures.add(peer, now);
            return Login::Refused(waiting);
        }
        match desk.logins.try_send(waiting) {
            Ok(()) => Login::Pending,
            Err(TrySendError::Full(waiting) | TrySendError::Disconnected(waiting)) => Login::Busy(waiting),
        }
    }

    /// The next one that was judged.
    pub(super) fn judged(&mut self) -> Option<Judged> {
        self.desk.as_ref()?.judged.try_recv().ok()
    }

    /// Somebody from there has failed.
    pub(super) fn failed(&mut self, peer: IpAddr, now: u64) {
        self.failures.add(peer, now);
    }
}

fn judge_all(coming: &Receiver<Waiting>, keys: &Keys, closing: &Stop, judge: &Sender<Judged>, poke: &Poke) {
    while let Ok(waiting) = coming.recv() {
        let known = !closing.is_asked() && keys.check(&waiting.params).is_ok();
        // The door is gone: so is everybody at it.
        let _ = judge.send(Judged { waiting, known });
        poke.poke();
    }
}
