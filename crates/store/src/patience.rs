//! Retries writes while the store is temporarily unavailable.

use std::{cell::RefCell, mem, thread, time::Duration};

use samples::{MachineChange, ResultEnd, RunHeader, RunId, Sink, SkippedResult, Trial};

use crate::{error::StoreError, store::Store};

const AGAIN: Duration = Duration::from_millis(200);

#[expect(missing_debug_implementations, reason = "contains closures; lives for one run")]
pub struct PatientStore<'a> {
    store: RefCell<&'a mut Store>,
    notify: &'a dyn Fn(&str),
    is_stopped: &'a dyn Fn() -> bool,
}

impl<'a> PatientStore<'a> {
    /// `notify` receives a message when a wait starts and ends.
    pub fn new(store: &'a mut Store, notify: &'a dyn Fn(&str), is_stopped: &'a dyn Fn() -> bool) -> Self {
        Self { store: RefCell::new(store), notify, is_stopped }
    }

    fn keep(
        &self,
        run: &RunId,
        what: &str,
        keep: impl Fn(&mut Store) -> Result<(), StoreError>,
    ) -> Result<(), StoreError> {
        let store = &mut **self.store.borrow_mut();
        let (mut notified, mut is_unanswered) = (false, false);
        loop {
            let error = match keep(store) {
                Err(error) if error.may_pass() => error,
                other => {
                    // The server may have stored the record before the connection failed.
                    let is_kept = is_unanswered && matches!(other, Err(StoreError::RunExists { .. }));
                    let other = if is_kept { Ok(()) } else { other };
                    if notified && other.is_ok() {
                        (self.notify)(&format!("{what} is stored now; the run continues"));
                    }
                    return other;
                }
            };
            let place = store.location().to_string();
            if matches!(error, StoreError::Moved { .. }) && store.follow_path(run).is_ok() {
                (self.notify)(&format!(
                    "{place} was deleted or moved: the run continues in a new file there, with all earlier results"
                ));
                continue;
            }
            is_unanswered |= matches!(error, StoreError::Away { .. });
            if (self.is_stopped)() {
                return Err(error);
            }
            if !mem::replace(&mut notified, true) {
                (self.notify)(&format!(
                    "{error}. {what} stays in memory until it can be stored (Ctrl-C discards it)"
                ));
            }
            thread::sleep(AGAIN);
        }
    }
}

impl Sink for PatientStore<'_> {
    type Error = StoreError;

    fn begin(&mut self, header: &RunHeader) -> Result<(), StoreError> {
        self.keep(&header.id, "The new run", |store| store.begin(header))
    }

    fn trial(&mut self, run: &RunId, trial: &Trial) -> Result<(), StoreError> {
        self.keep(run, &format!("Trial {}", trial.index), |store| store.trial(run, trial))
    }

    fn skipped(&mut self, run: &RunId, skipped: &SkippedResult) -> Result<(), StoreError> {
        self.keep(run, &format!("The skipped result {}", skipped.result), |store| store.skipped(run, skipped))
    }

    fn ended(&mut self, run: &RunId, end: &ResultEnd) -> Result<(), StoreError> {
        self.keep(run, &format!("The stop reason of {}", end.result), |store| store.ended(run, end))
    }

    fn machine_changed(&mut self, run: &RunId, change: &MachineChange) -> Result<(), StoreError> {
        self.keep(run, "The machine change", |store| store.machine_changed(run, change))
    }

    fn complete(&mut self, run: &RunId) -> Result<(), StoreError> {
        self.keep(run, "The end of the run", |store| store.complete(run))
    }
}
