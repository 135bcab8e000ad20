//! What all pages share: what was configured, the store, what was started. Must not know HTML.

use std::sync::Arc;

use axum::http::StatusCode;
use store::Store;
use tokio::{sync::watch, task};

use crate::{
    config::{Config, Documents},
    failure::Failure,
    results_cache::ResultsCache,
    starts::Starts,
};

/// The page over one store.
pub(crate) struct Site {
    pub(crate) config: Config,
    pub(crate) documents: Box<dyn Documents>,
    pub(crate) starts: Starts,
    pub(crate) results: ResultsCache,
    /// Becomes true when the server is to end.
    pub(crate) stop: watch::Receiver<bool>,
}

impl Site {
    /// Comes back when the server is to end.
    pub(crate) async fn stopped(&self) {
        // Whoever would say so is gone: that is an end too.
        drop(self.stop.clone().wait_for(|stop| *stop).await);
    }

    /// Reads the store beside the thread that serves; one connection a reading, so that none keeps a run from being written
    /// for longer.
    pub(crate) async fn read<T: Send + 'static>(
        self: &Arc<Self>,
        work: impl FnOnce(&Self, &Store) -> Result<T, Failure> + Send + 'static,
    ) -> Result<T, Failure> {
        let site = Arc::clone(self);
        let reading = task::spawn_blocking(move || work(&site, &Store::open(&site.config.store)?));
        reading.await.unwrap_or_else(|_| {
            Err(Failure::new(
                StatusCode::INTERNAL_SERVER_ERROR,
                "this page could not be made: a mistake in plumb",
            ))
        })
    }
}
