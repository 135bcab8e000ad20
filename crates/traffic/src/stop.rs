//! A request to stop, shared by whoever may ask and every loop that must obey. It does not know why.

use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering},
};

/// A flag that ends every loop that was given a clone of it, within 100 ms.
#[derive(Debug, Clone, Default)]
pub struct Stop(Arc<AtomicBool>);

impl Stop {
    /// A flag that nobody has raised.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Asks for the end. It cannot be taken back.
    pub fn ask(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// Whether the end was asked for.
    #[must_use]
    pub fn is_asked(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }

    /// The flag itself, for a signal handler.
    #[must_use]
    pub fn flag(&self) -> Arc<AtomicBool> {
        Arc::clone(&self.0)
    }
}
