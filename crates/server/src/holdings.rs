//! What a client holds of the ledger while it is served: its place, which may have to go to another, and what its thread
//! needs until it ends.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::ledger::Share;

#[derive(Debug, Clone)]
pub(super) struct Holdings(Arc<Mutex<Held>>);

#[derive(Debug)]
struct Held {
    place: Option<Share>,
    _streams: Option<Share>,
}

impl Holdings {
    pub(super) fn new(place: Option<Share>, streams: Option<Share>) -> Self {
        Self(Arc::new(Mutex::new(Held { place, _streams: streams })))
    }

    /// Its place is free for another, though its thread may take a moment to end.
    pub(super) fn give_up_place(&self) {
        self.lock().place = None;
    }

    /// Everything is free. True when its place was its own till now.
    pub(super) fn release(&self) -> bool {
        let had_place = self.lock().place.is_some();
        *self.lock() = Held { place: None, _streams: None };
        had_place
    }

    fn lock(&self) -> MutexGuard<'_, Held> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
