//! Configuration, store and sign-ins, which all pages share. Independent of HTML.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use axum::http::StatusCode;
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

/// Requests that read the store and write reports at the same time.
pub(crate) const MOST_READINGS: usize = 4;
/// Connections to a server that wait for the next reading.
const MOST_IDLE: usize = 4;

/// The page over one store.
pub(crate) struct Site {
    pub(crate) config: Config,
    pub(crate) documents: Box<dyn Documents>,
    pub(crate) results: ResultsCache,
    pub(crate) sign_ins: SignIns,
    /// Connections to a server that nobody uses just now; a file is opened for each reading, as it may be replaced.
    pub(crate) idle: Mutex<Vec<Store>>,
    /// A request waits for a permit before it takes a thread, so that a closed connection leaves no work behind.
    readings: Arc<Semaphore>,
    /// Becomes true when the server is to end.
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

    /// Comes back when the server is to end.
    pub(crate) async fn stopped(&self) {
        // Whoever would say so is gone: that is an end too.
        drop(self.stop.clone().wait_for(|stop| *stop).await);
    }

    /// Reads the store beside the thread that serves; one connection for each of the readings at once, so that none keeps a run from
    /// being written for longer.
    pub(crate) async fn read<T: Send + 'static>(
        self: &Arc<Self>,
        work: impl FnOnce(&Self, &Store) -> Result<T, Failure> + Send + 'static,
    ) -> Result<T, Failure> {
        let site = Arc::clone(self);
        let permit = Arc::clone(&self.readings).acquire_owned().await;
        let reading = task::spawn_blocking(move || {
            let _permit = permit;
            let idle = site.idle().pop();
            let store = idle.map_or_else(|| Store::open(&site.config.store), Ok)?;
            let done = work(&site, &store);
            let mut idle = site.idle();
            let is_wanted = matches!(store.location(), Location::Server(_)) && !*site.stop.borrow();
            if is_wanted && idle.len() < MOST_IDLE {
                idle.push(store);
            }
            done
        });
        reading.await.unwrap_or_else(|_| {
            Err(Failure::new(
                StatusCode::INTERNAL_SERVER_ERROR,
                "this page could not be made: a mistake in plumb",
            ))
        })
    }

    /// **Trap:** a connection is dropped where a thread may wait: not on the one that serves.
    pub(crate) fn idle(&self) -> MutexGuard<'_, Vec<Store>> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
