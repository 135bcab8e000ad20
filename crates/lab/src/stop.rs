//! A flag to stop a run, polled by every wait.

use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering},
};

/// Clones share the flag.
#[derive(Debug, Clone, Default)]
pub struct Stop(Arc<AtomicBool>);

impl Stop {
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Requests the end of the run.
    pub fn ask(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    #[must_use]
    pub fn is_asked(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }

    /// For signal handlers.
    #[must_use]
    pub fn flag(&self) -> Arc<AtomicBool> {
        Arc::clone(&self.0)
    }
}
