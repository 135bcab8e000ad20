//! Configuration, store and sign-ins, shared by all pages.

use std::sync::Arc;

use axum::http::StatusCode;
use parking_lot::Mutex;
use store::{Location, Store};
use tokio::{
    sync::{Semaphore, watch},
    task,
};

use crate::{
    config::{Config, Documents},
    failure::Failure,
    results_cache::ResultsCache,
    sign_ins::SignIns,
};

pub(crate) const MOST_READINGS: usize = 4;
const MOST_IDLE: usize = 4;

pub(crate) struct Site {
    pub(crate) config: Config,
    pub(crate) documents: Box<dyn Documents>,
    pub(crate) results: ResultsCache,
    pub(crate) sign_ins: SignIns,
    /// Idle connections to a database server. A store file is opened for each read, because it may be replaced.
    ///
    /// **Trap:** only drop a connection on a thread that may block, unlike the server's own threads.
    pub(crate) idle: Mutex<Vec<Store>>,
    /// Requests wait for a permit before they take a thread, so a closed connection leaves no work in the queue.
    readings: Arc<Semaphore>,
    pub(crate) stop: watch::Receiver<bool>,
}

impl Site {
    pub(crate) fn new(config: Config, documents: Box<dyn Documents>, stop: watch::Receiver<bool>) -> Self {
        Self {
            config,
            documents,
            results: ResultsCache::default(),
            sign_ins: SignIns::new(),
            idle: Mutex::default(),
            readings: Arc::new(Semaphore::new(MOST_READINGS)),
            stop,
        }
    }

    pub(crate) async fn stopped(&self) {
        // A dropped sender also means that the server is shutting down.
        drop(self.stop.clone().wait_for(|stop| *stop).await);
    }

    /// Runs `work` on a blocking thread with its own connection, so that reads do not delay writes.
    pub(crate) async fn read<T: Send + 'static>(
        self: &Arc<Self>,
        work: impl FnOnce(&Self, &Store) -> Result<T, Failure> + Send + 'static,
    ) -> Result<T, Failure> {
        let site = Arc::clone(self);
        let permit = Arc::clone(&self.readings).acquire_owned().await;
        let reading = task::spawn_blocking(move || {
            let _permit = permit;
            let idle = site.idle.lock().pop();
            let store = idle.map_or_else(|| Store::open(&site.config.store), Ok)?;
            let done = work(&site, &store);
            let mut idle = site.idle.lock();
            let is_wanted = matches!(store.location(), Location::Server(_)) && !*site.stop.borrow();
            if is_wanted && idle.len() < MOST_IDLE {
                idle.push(store);
            }
            done
        });
        reading.await.unwrap_or_else(|_| {
            Err(Failure::new(StatusCode::INTERNAL_SERVER_ERROR, "internal error; please report this"))
        })
    }
}
