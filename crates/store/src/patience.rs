//! Keeping what was measured in a store that cannot be written just now: it is held in memory and tried again until it is
//! kept or the user asks for the end. Must not know what is kept.

use std::{cell::RefCell, thread, time::Duration};

use samples::{CellEnd, MachineChange, RunHeader, RunId, Sink, SkippedCell, Trial};

use crate::{error::StoreError, store::Store};

/// How soon it is tried again, beyond what a lock is waited for anyway.
const AGAIN: Duration = Duration::from_millis(200);

/// A store that is waited for.
#[expect(missing_debug_implementations, reason = "it has closures, and lives as long as one run")]
pub struct PatientStore<'a> {
    store: RefCell<&'a mut Store>,
    tell: &'a dyn Fn(&str),
    is_stopped: &'a dyn Fn() -> bool,
}

impl<'a> PatientStore<'a> {
    /// Keeps in `store`; `tell` is told when it has to be waited for and when that is over, `is_stopped` whether the user asked
    /// for the end.
    pub fn new(store: &'a mut Store, tell: &'a dyn Fn(&str), is_stopped: &'a dyn Fn() -> bool) -> Self {
        Self { store: RefCell::new(store), tell, is_stopped }
    }

    fn keep(
        &self,
        run: &RunId,
        what: &str,
        keep: impl Fn(&mut Store) -> Result<(), StoreError>,
    ) -> Result<(), StoreError> {
        let store = &mut **self.store.borrow_mut();
        let (mut told, mut is_unanswered) = (false, false);
        loop {
            let error = match keep(store) {
                Err(error) if error.may_pass() => error,
                other => {
                    // What a server kept before it could say so.
                    let is_kept = is_unanswered && matches!(other, Err(StoreError::RunExists { .. }));
                    let other = if is_kept { Ok(()) } else { other };
                    if told && other.is_ok() {
                        (self.tell)(&format!("{what} is kept now, and the run goes on"));
                    }
                    return other;
                }
            };
            let place = store.location().to_string();
            if matches!(error, StoreError::Moved { .. }) && store.follow_path(run).is_ok() {
                (self.tell)(&format!(
                    "{place} was deleted or moved: the run goes on in a new file there, with all that it had"
                ));
                continue;
            }
            is_unanswered |= matches!(error, StoreError::Away { .. });
            if (self.is_stopped)() {
                return Err(error);
            }
            if !told {
                (self.tell)(&format!(
                    "{error}. {what} is held in memory until it can be kept (Ctrl-C gives it up)"
                ));
                told = true;
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

    fn skipped(&mut self, run: &RunId, skipped: &SkippedCell) -> Result<(), StoreError> {
        self.keep(run, &format!("That {} is skipped", skipped.cell), |store| store.skipped(run, skipped))
    }

    fn ended(&mut self, run: &RunId, end: &CellEnd) -> Result<(), StoreError> {
        self.keep(run, &format!("The end of {}", end.cell), |store| store.ended(run, end))
    }

    fn machine_changed(&mut self, run: &RunId, change: &MachineChange) -> Result<(), StoreError> {
        self.keep(run, "The change of the machine", |store| store.machine_changed(run, change))
    }

    fn complete(&mut self, run: &RunId) -> Result<(), StoreError> {
        self.keep(run, "The end of the run", |store| store.complete(run))
    }
}
