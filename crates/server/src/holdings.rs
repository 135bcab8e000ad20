//! The resources reserved for a client: its slot, which may be reassigned early, and its streams.

use std::sync::Arc;

use parking_lot::Mutex;

use super::ledger::Share;

#[derive(Debug, Clone)]
pub(super) struct Holdings(Arc<Mutex<Reservations>>);

#[derive(Debug)]
struct Reservations {
    place: Option<Share>,
    _streams: Option<Share>,
}

impl Holdings {
    pub(super) fn new(place: Option<Share>, streams: Option<Share>) -> Self {
        Self(Arc::new(Mutex::new(Reservations { place, _streams: streams })))
    }

    pub(super) fn give_up_place(&self) {
        self.0.lock().place = None;
    }

    pub(super) fn release(&self) -> bool {
        let reservations =
            std::mem::replace(&mut *self.0.lock(), Reservations { place: None, _streams: None });
        reservations.place.is_some()
    }
}
