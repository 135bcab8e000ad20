//! What the engine tells on its own threads, handed on to the calling one.

use std::{cell::Cell, sync::mpsc::Sender};

use traffic::{Beat, FlowId, Observer};
use units::Bytes;
use workload::Interval;

/// What the engine told.
pub(super) enum Told {
    Beat(Beat),
    Interval(FlowId, Interval),
}

/// Hears one of the engine's runs. Of two runs only one tells the beat.
pub(super) struct Relay {
    to: Sender<Told>,
    beats: bool,
}

/// Hands on what was told, and counts what was received.
pub(super) struct Ears<'a> {
    observer: &'a dyn Observer,
    received: Cell<u64>,
}

impl Relay {
    pub(super) const fn new(to: Sender<Told>, beats: bool) -> Self {
        Self { to, beats }
    }

    fn tell(&self, told: Told) {
        // Nobody listens any more only when the test is being given up.
        let _ = self.to.send(told);
    }
}

impl Observer for Relay {
    fn beat(&self, beat: Beat) {
        if self.beats {
            self.tell(Told::Beat(beat));
        }
    }

    fn interval(&self, flow: FlowId, interval: &Interval) {
        self.tell(Told::Interval(flow, *interval));
    }
}

impl<'a> Ears<'a> {
    pub(super) const fn new(observer: &'a dyn Observer) -> Self {
        Self { observer, received: Cell::new(0) }
    }

    pub(super) fn hear(&self, told: &Told) {
        match told {
            Told::Beat(beat) => {
                self.received.set(self.received.get() + beat.received.0);
                self.observer.beat(*beat);
            }
            Told::Interval(flow, interval) => self.observer.interval(*flow, interval),
        }
    }

    /// Payload received until the last beat.
    pub(super) const fn received(&self) -> Bytes {
        Bytes(self.received.get())
    }
}
