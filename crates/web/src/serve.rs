//! Listening, connections and the end of both. Must not know the pages.

use std::{io, net::SocketAddr, os::unix::net::UnixStream, pin::pin, sync::Arc, time::Duration};

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
    site::Site,
};

/// Connections at once; more wait.
const MOST_CONNECTIONS: usize = 128;
/// What reads the store and writes reports at once.
const MOST_READINGS: usize = 4;
/// For how long a connection may be silent, a request's head or its form take, and an answer not be read.
pub(crate) const PATIENCE: Duration =
    if cfg!(test) { Duration::from_secs(1) } else { Duration::from_secs(20) };
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
        let site = Arc::new(Site::new(Config { listen: bound, ..config }, documents, ended));
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
        let _ = task::spawn_blocking(move || site.idle().clear()).await;
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
                // Not set: it is answered all the same.
                let _ = stream.set_nodelay(true);
                let _ = sys::socket::set_keepalive(&stream, PATIENCE);
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

#[cfg(test)]
mod tests {
    use std::{
        io::{Read, Write},
        net, thread,
    };

    use super::*;
    use crate::exercise::TrialCounts;

    const HEAD: &str =
        "Host: 127.0.0.1\r\nOrigin: http://127.0.0.1\r\nContent-Type: application/x-www-form-urlencoded\r\n";

    /// Whoever has them all says nothing, half a head, a head alone, half a form, or does not read what it asked for; nobody needs
    /// the token for that.
    #[test]
    fn connections_that_come_to_nothing_leave_room_for_others() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let token = crate::Token::new("what-nobody-is-told").expect("it is long enough");
        let config = Config {
            listen: SocketAddr::from(([127, 0, 0, 1], 0)),
            store: folder.path().join("runs.db"),
            tls: None,
            token: Some(token),
            names: Vec::new(),
        };
        let (stop, stopped) = UnixStream::pair().expect("sockets");
        let (tell, told) = std::sync::mpsc::channel();
        let serving = thread::spawn(move || {
            serve(config, Box::new(TrialCounts), stopped, |at| tell.send(at).expect("it is awaited"))
        });
        let address = told.recv().expect("it listens");
        let attacks: [String; 5] = [
            String::new(),
            "GET / HTTP/1.1\r\nHost: 127".to_owned(),
            format!("POST /sign-in HTTP/1.1\r\n{HEAD}Content-Length: 40\r\n\r\n"),
            format!("POST /sign-in HTTP/1.1\r\n{HEAD}Transfer-Encoding: chunked\r\n\r\n5\r\ntoken\r\n"),
            format!("GET /static/site.css HTTP/1.1\r\n{HEAD}\r\n").repeat(2000),
        ];
        for attack in attacks {
            let held: Vec<_> = (0..MOST_CONNECTIONS)
                .map(|_| {
                    let mut held = net::TcpStream::connect(address).expect("it listens");
                    held.set_nonblocking(true).expect("a socket");
                    // What is not taken any more is not read either.
                    let _ = held.write(attack.as_bytes());
                    held
                })
                .collect();
            let mut honest = net::TcpStream::connect(address).expect("it listens");
            honest.set_read_timeout(Some(Duration::from_secs(60))).expect("a socket");
            write!(honest, "GET /static/icon.svg HTTP/1.1\r\n{HEAD}Connection: close\r\n\r\n").expect("sent");
            let mut answer = Vec::new();
            honest.read_to_end(&mut answer).unwrap_or_else(|error| panic!("{attack:.60}: {error}"));
            assert!(answer.starts_with(b"HTTP/1.1 200"), "{attack:.60}");
            drop(held);
        }
        drop(stop);
        serving.join().expect("no panic").expect("it served");
    }
}
