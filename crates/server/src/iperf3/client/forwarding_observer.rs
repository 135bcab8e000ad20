//! Passes engine events from engine threads to the calling thread.

use std::{cell::Cell, sync::mpsc::Sender};

use traffic::{FlowId, Observer, Progress};
use units::Bytes;
use workload::Interval;

pub(super) enum EngineEvent {
    Progress(Progress),
    Interval(FlowId, Interval),
}

pub(super) struct ForwardingObserver {
    to: Sender<EngineEvent>,
    progress: bool,
}

pub(super) struct EventSink<'a> {
    observer: &'a dyn Observer,
    received: Cell<u64>,
}

impl ForwardingObserver {
    pub(super) const fn new(to: Sender<EngineEvent>, progress: bool) -> Self {
        Self { to, progress }
    }

    fn forward(&self, event: EngineEvent) {
        let _ = self.to.send(event);
    }
}

impl Observer for ForwardingObserver {
    fn progress(&self, progress: Progress) {
        if self.progress {
            self.forward(EngineEvent::Progress(progress));
        }
    }

    fn interval(&self, flow: FlowId, interval: &Interval) {
        self.forward(EngineEvent::Interval(flow, *interval));
    }
}

impl<'a> EventSink<'a> {
    pub(super) const fn new(observer: &'a dyn Observer) -> Self {
        Self { observer, received: Cell::new(0) }
    }

    pub(super) fn forward(&self, event: &EngineEvent) {
        match event {
            EngineEvent::Progress(progress) => {
                self.received.set(self.received.get() + progress.received.0);
                self.observer.progress(*progress);
            }
            EngineEvent::Interval(flow, interval) => self.observer.interval(*flow, interval),
        }
    }

    pub(super) const fn received(&self) -> Bytes {
        Bytes(self.received.get())
    }
}
