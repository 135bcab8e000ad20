//! A shared request to stop.

use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering},
};

/// A flag that ends all loops with a clone of it within 100 ms.
#[derive(Debug, Clone, Default)]
pub struct Stop {
    asked: Arc<AtomicBool>,
    keeps: bool,
}

impl Stop {
    /// A flag that discards the measurement.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// A flag that ends a client's load early and keeps the measurement.
    #[must_use]
    pub fn keeping() -> Self {
        Self { keeps: true, ..Self::default() }
    }

    /// Requests the stop; irreversible.
    pub fn ask(&self) {
        self.asked.store(true, Ordering::Relaxed);
    }

    /// Whether the stop was requested.
    #[must_use]
    pub fn is_asked(&self) -> bool {
        self.asked.load(Ordering::Relaxed)
    }

    /// Whether the measurement is kept.
    #[must_use]
    pub const fn keeps(&self) -> bool {
        self.keeps
    }

    /// The flag for a signal handler.
    #[must_use]
    pub fn flag(&self) -> Arc<AtomicBool> {
        Arc::clone(&self.asked)
    }
}
