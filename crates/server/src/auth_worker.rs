//! One thread that checks logins, so that the event loop never waits for a decryption.
//!
//! What awaits it is bounded: when that is full, a client is told that the server is busy.

use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    sync::mpsc::{Receiver, Sender, SyncSender, TrySendError, channel, sync_channel},
    thread::Scope,
};

use traffic::Stop;

use super::{
    admission_check::LoginKeys,
    admission_queue::QueuedTest,
    ledger::{FAILURE, Rates},
    seen_tokens::SeenTokens,
    waker::Waker,
};

/// Logins that may await their check: a fraction of a second of work.
const LOGINS: usize = 32;

/// The event loop's side of it.
pub(super) struct AuthWorker {
    /// `None` where nobody has to log in.
    channels: Option<Channels>,
}

struct Channels {
    logins: SyncSender<QueuedTest>,
    checked: Receiver<CheckedLogin>,
}

pub(super) struct CheckedLogin {
    pub(super) test: QueuedTest,
    pub(super) known: bool,
}

/// What becomes of a login.
pub(super) enum Login {
    /// Nobody has to.
    Needless(QueuedTest),
    /// It will come out of [`AuthWorker::next_checked`].
    Pending,
    /// It cannot be one, or comes from where too many have failed.
    Refused(QueuedTest),
    /// Too many are being checked.
    Busy(QueuedTest),
}

impl AuthWorker {
    /// Begins its thread where there are keys; that ends when this is dropped.
    pub(super) fn new<'scope>(
        scope: &'scope Scope<'scope, '_>,
        keys: Option<&'scope LoginKeys>,
        closing: &'scope Stop,
        waker: &Waker,
    ) -> Self {
        let channels = keys.map(|keys| {
            let ((logins, logins_in), (results, checked)) = (sync_channel(LOGINS), channel());
            let waker = waker.clone();
            scope.spawn(move || check_all(&logins_in, keys, closing, &results, &waker));
            Channels { logins, checked }
        });
        Self { channels }
    }

    /// Decides what can be decided at once, and hands on the rest.
    pub(super) fn log_in(
        &self,
        test: QueuedTest,
        keys: Option<&LoginKeys>,
        failures: &mut Rates,
        now: u64,
    ) -> Login {
        let Some((channels, keys)) = self.channels.as_ref().zip(keys) else { return Login::Needless(test) };
        if !failures.allows(test.source(), FAILURE, now) {
            return Login::Refused(test);
        }
        if !keys.may_know(&test.params) {
            failures.spend(test.source(), FAILURE, now);
            return Login::Refused(test);
        }
        match channels.logins.try_send(test) {
            Ok(()) => Login::Pending,
            Err(TrySendError::Full(test) | TrySendError::Disconnected(test)) => Login::Busy(test),
        }
    }

    pub(super) fn next_checked(&mut self) -> Option<CheckedLogin> {
        self.channels.as_ref()?.checked.try_recv().ok()
    }
}

fn check_all(
    logins_in: &Receiver<QueuedTest>,
    keys: &LoginKeys,
    closing: &Stop,
    results: &Sender<CheckedLogin>,
    waker: &Waker,
) {
    let mut seen = SeenTokens::default();
    while let Ok(test) = logins_in.recv() {
        // What a client has sent may have found a defect: its login fails, and nobody else's.
        let check = || keys.check(&test.params, &mut seen).is_ok();
        let known = !closing.is_asked() && catch_unwind(AssertUnwindSafe(check)).unwrap_or(false);
        // The event loop is gone: so are its connections.
        let _ = results.send(CheckedLogin { test, known });
        waker.wake();
    }
}
