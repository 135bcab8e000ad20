//! A stop request that threads can share.

use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering},
};

/// Loops check this request and end within 100 ms.
#[derive(Debug, Clone, Default)]
pub struct Stop {
    asked: Arc<AtomicBool>,
    keeps: bool,
}

impl Stop {
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    #[must_use]
    pub fn keeping() -> Self {
        Self { keeps: true, ..Self::default() }
    }

    pub fn ask(&self) {
        self.asked.store(true, Ordering::Relaxed);
    }

    #[must_use]
    pub fn is_asked(&self) -> bool {
        self.asked.load(Ordering::Relaxed)
    }

    #[must_use]
    pub const fn keeps(&self) -> bool {
        self.keeps
    }

    #[must_use]
    pub fn flag(&self) -> Arc<AtomicBool> {
        Arc::clone(&self.asked)
    }
}
