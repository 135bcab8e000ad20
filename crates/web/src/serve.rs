//! Listening, connections and the end of both. Must not know the pages.

use std::{
    io,
    net::SocketAddr,
    os::unix::net::UnixStream,
    pin::pin,
    sync::{Arc, Mutex},
    time::Duration,
};

use axum::Router;
use hyper::server::conn::http1;
use hyper_util::{
    rt::{TokioIo, TokioTimer},
    service::TowerToHyperService,
};
use store::{Location, Store, StoreError};
use thiserror::Error;
use tokio::{
    io::{AsyncRead, AsyncWrite},
    net::{TcpListener, TcpStream},
    runtime,
    sync::{Semaphore, watch},
    task::{self, JoinSet},
    time::{sleep, timeout},
};

use crate::{
    config::{Config, Documents},
    pages,
    results_cache::ResultsCache,
    site::Site,
    starts::Starts,
};

/// Connections at once; more wait.
const MOST_CONNECTIONS: usize = 128;
/// What reads the store and writes reports at once.
const MOST_READINGS: usize = 4;
/// For how long a connection may be silent, and a request's head take.
const PATIENCE: Duration = Duration::from_secs(20);
/// What answers get to be finished in when the server ends.
const GRACE: Duration = Duration::from_secs(2);
/// After a connection could not be taken, for want of descriptors.
const PAUSE: Duration = Duration::from_millis(100);

/// Why there is no page.
#[derive(Debug, Error)]
pub enum ServeError {
    #[error("cannot listen at {address}: {source}")]
    Listen { address: SocketAddr, source: io::Error },
    #[error("cannot serve {store}: {source}")]
    Runtime { store: Location, source: io::Error },
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error(
        "{address} is no address of this machine alone, and whoever reaches it would read every run: it needs a token"
    )]
    Open { address: SocketAddr },
}

/// Serves until something comes from `stop`, or its other end is closed; tells where it listens.
///
/// # Errors
/// When the store cannot be opened, or the address cannot be listened at.
pub fn serve(
    config: Config,
    documents: Box<dyn Documents>,
    stop: UnixStream,
    listening: impl FnOnce(SocketAddr),
) -> Result<(), ServeError> {
    let address = config.listen;
    if config.token.is_none() && !address.ip().is_loopback() {
        return Err(ServeError::Open { address });
    }
    // What is wrong with it is told now, and not on every page.
    drop(Store::open(&config.store)?);
    let store = Location::parse(&config.store)?;
    let failed = |source| ServeError::Runtime { store: store.clone(), source };
    let runtime = runtime::Builder::new_current_thread()
        .enable_all()
        .max_blocking_threads(MOST_READINGS)
        .build()
        .map_err(failed)?;
    let served = runtime.block_on(async {
        let listener =
            TcpListener::bind(address).await.map_err(|source| ServeError::Listen { address, source })?;
        stop.set_nonblocking(true).map_err(failed)?;
        let stop = tokio::net::UnixStream::from_std(stop).map_err(failed)?;
        let bound = listener.local_addr().map_err(failed)?;
        let (ends, ended) = watch::channel(false);
        let site = Arc::new(Site {
            starts: Starts::new(&config.store),
            config: Config { listen: bound, ..config },
            documents,
            results: ResultsCache::default(),
            idle: Mutex::default(),
            stop: ended,
        });
        listening(bound);
        let (router, mut connections) = (pages::router(&site), JoinSet::new());
        tokio::select! {
            _ = stop.readable() => {}
            () = accept(&listener, &mut connections, |stream| {
                encrypted_or_plain(stream, Arc::clone(&site), router.clone())
            }) => {}
        }
        drop(listener);
        // Nobody is left to hear it where there is no connection.
        let _ = ends.send(true);
        let _ = timeout(GRACE, async { while connections.join_next().await.is_some() {} }).await;
        let ended = task::spawn_blocking(move || {
            site.starts.end();
            site.idle().clear();
        });
        let _ = ended.await;
        Ok(())
    });
    runtime.shutdown_timeout(GRACE);
    served
}

/// Takes connections, so many at once, until it is dropped.
pub(crate) async fn accept<Served: Future<Output = ()> + Send + 'static>(
    listener: &TcpListener,
    connections: &mut JoinSet<()>,
    serve: impl Fn(TcpStream) -> Served,
) {
    let room = Arc::new(Semaphore::new(MOST_CONNECTIONS));
    loop {
        while connections.try_join_next().is_some() {}
        let Ok(place) = Arc::clone(&room).acquire_owned().await else { return };
        match listener.accept().await {
            Ok((stream, _)) => {
                let _ = stream.set_nodelay(true);
                let served = serve(stream);
                connections.spawn(async move {
                    served.await;
                    drop(place);
                });
            }
            Err(_) => sleep(PAUSE).await,
        }
    }
}

async fn encrypted_or_plain(stream: TcpStream, site: Arc<Site>, router: Router) {
    let stop = site.stop.clone();
    match &site.config.tls {
        None => connection(stream, router, stop).await,
        // Who sends anything else is not answered: it could only be answered in the clear.
        Some(tls) => {
            if let Ok(stream) = tls.accept(stream, PATIENCE).await {
                connection(stream, router, stop).await;
            }
        }
    }
}

/// Whatever a peer does to its connection is its own concern.
pub(crate) async fn connection(
    stream: impl AsyncRead + AsyncWrite + Unpin,
    router: Router,
    mut stop: watch::Receiver<bool>,
) {
    let mut http = http1::Builder::new();
    http.timer(TokioTimer::new()).header_read_timeout(PATIENCE).max_headers(64);
    let mut served = pin!(http.serve_connection(TokioIo::new(stream), TowerToHyperService::new(router)));
    let stopped = async move { drop(stop.wait_for(|stop| *stop).await) };
    tokio::select! {
        _ = served.as_mut() => return,
        () = stopped => {}
    }
    served.as_mut().graceful_shutdown();
    let _ = served.await;
}
