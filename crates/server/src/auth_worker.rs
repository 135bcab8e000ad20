//! Checks logins on a separate thread, so that the event loop never waits for a decryption.

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

const LOGINS: usize = 32;

pub(super) struct AuthWorker {
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

pub(super) enum Login {
    NotRequired(QueuedTest),
    Pending,
    Refused(QueuedTest),
    Busy(QueuedTest),
}

impl AuthWorker {
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

    pub(super) fn log_in(
        &self,
        test: QueuedTest,
        keys: Option<&LoginKeys>,
        failures: &mut Rates,
        now: u64,
    ) -> Login {
        let Some((channels, keys)) = self.channels.as_ref().zip(keys) else {
            return Login::NotRequired(test);
        };
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
    let mut seen_tokens = SeenTokens::default();
    while let Ok(test) = logins_in.recv() {
        // A panic caused by data from a client fails only this login.
        let check = || keys.check(&test.params, &mut seen_tokens).is_ok();
        let known = !closing.is_asked() && catch_unwind(AssertUnwindSafe(check)).unwrap_or(false);
        // The event loop has ended and closed its connections.
        let _ = results.send(CheckedLogin { test, known });
        waker.wake();
    }
}
