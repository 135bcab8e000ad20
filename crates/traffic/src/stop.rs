//! A request to stop, shared by whoever may ask and every loop that must obey. It does not know why.

use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering},
};

/// A flag that ends every loop that was given a clone of it, within 100 ms.
#[derive(Debug, Clone, Default)]
pub struct Stop {
    asked: Arc<AtomicBool>,
    keeps: bool,
}

impl Stop {
    /// A flag that nobody has raised; whoever raises it gives up what is under way.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// A flag by which a client's load ends before its time, with what was measured till then.
    #[must_use]
    pub fn keeping() -> Self {
        Self { keeps: true, ..Self::default() }
    }

    /// Asks for the end. It cannot be taken back.
    pub fn ask(&self) {
        self.asked.store(true, Ordering::Relaxed);
    }

    /// Whether the end was asked for.
    #[must_use]
    pub fn is_asked(&self) -> bool {
        self.asked.load(Ordering::Relaxed)
    }

    /// Whether what was measured till then is wanted.
    #[must_use]
    pub const fn keeps(&self) -> bool {
        self.keeps
    }

    /// The flag itself, for a signal handler.
    #[must_use]
    pub fn flag(&self) -> Arc<AtomicBool> {
        Arc::clone(&self.asked)
    }
}
