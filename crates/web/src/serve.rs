//! Listening, connections and shutdown.

use std::{
    convert::Infallible,
    io,
    net::SocketAddr,
    os::unix::net::UnixStream,
    pin::pin,
    sync::{
        Arc,
        atomic::{AtomicU32, Ordering},
    },
    time::Duration,
};

use axum::{
    Router,
    http::{HeaderValue, Request, header},
};
use budgets::Source;
use hyper::{
    body::Incoming,
    server::conn::http1,
    service::{Service, service_fn},
};
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
    sync::watch,
    task,
    time::{sleep, timeout},
};

use crate::{
    config::{Config, Documents},
    connections::Connections,
    guard::PATIENCE,
    pages,
    site::{MOST_READINGS, Site},
};

const HANDSHAKE: Duration = Duration::from_secs(5);
const MOST_REQUESTS: u32 = if cfg!(test) { 20 } else { 1000 };
/// Connections older than this accept no further requests. At twice this age, the response is cut off, and a browser
/// that follows a run reconnects.
const AGE: Duration = if cfg!(test) { Duration::from_secs(3) } else { Duration::from_secs(600) };
const GRACE: Duration = Duration::from_secs(1);
/// Extra time for closing connections to the store.
const READING: Duration = Duration::from_millis(250);
const PAUSE: Duration = Duration::from_millis(100);

#[derive(Debug, Error)]
pub enum ServeError {
    #[error("cannot listen at {address}: {source}")]
    Listen { address: SocketAddr, source: io::Error },
    #[error("cannot serve {store}: {source}")]
    Runtime { store: Location, source: io::Error },
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error("{address} is reachable from other machines, which could read every run; set a token")]
    Open { address: SocketAddr },
}

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
    // Report a problem with the store at startup instead of on every page.
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
        listening(bound);
        serve_until(stop, listener, Config { listen: bound, ..config }, documents).await;
        Ok(())
    });
    runtime.shutdown_timeout(READING);
    served
}

async fn serve_until(
    stop: tokio::net::UnixStream,
    listener: TcpListener,
    config: Config,
    documents: Box<dyn Documents>,
) {
    let (ends, ended) = watch::channel(false);
    let site = Arc::new(Site::new(config, documents, ended));
    let (router, mut connections) = (pages::router(&site), Connections::new());
    tokio::select! {
        _ = stop.readable() => {}
        () = accept(&listener, &mut connections, |stream, source| {
            encrypted_or_plain(stream, source, Arc::clone(&site), router.clone())
        }) => {}
    }
    drop(listener);
    // This fails if there is no receiver left.
    let _ = ends.send(true);
    let _ = timeout(GRACE, connections.ended()).await;
    let _ = timeout(READING, task::spawn_blocking(move || site.idle.lock().clear())).await;
}

/// Accepts connections until this future is dropped.
pub(crate) async fn accept<Served: Future<Output = ()> + Send + 'static>(
    listener: &TcpListener,
    connections: &mut Connections,
    serve: impl Fn(TcpStream, Source) -> Served,
) {
    loop {
        match listener.accept().await {
            Ok((stream, peer)) => {
                let _ = stream.set_nodelay(true);
                let _ = sys::socket::set_keepalive(&stream, PATIENCE);
                let source = peer.ip().into();
                connections.add(source, serve(stream, source));
            }
            Err(_) => sleep(PAUSE).await,
        }
    }
}

async fn encrypted_or_plain(stream: TcpStream, source: Source, site: Arc<Site>, router: Router) {
    let mut stop = site.stop.clone();
    match &site.config.tls {
        None => connection(stream, source, router, stop).await,
        // Close a connection without TLS, because a reply would not be encrypted.
        Some(tls) => {
            let accepted = tokio::select! {
                accepted = tls.accept(stream, HANDSHAKE) => accepted,
                _ = stop.wait_for(|stop| *stop) => return,
            };
            if let Ok(stream) = accepted {
                connection(stream, source, router, stop).await;
            }
        }
    }
}

pub(crate) async fn connection(
    stream: impl AsyncRead + AsyncWrite + Unpin,
    source: Source,
    router: Router,
    mut stop: watch::Receiver<bool>,
) {
    let (pages, requests) = (TowerToHyperService::new(router), AtomicU32::new(0));
    let service = service_fn(|mut request: Request<Incoming>| {
        request.extensions_mut().insert(source);
        let is_last = requests.fetch_add(1, Ordering::Relaxed) + 1 >= MOST_REQUESTS;
        let answer = pages.call(request);
        async move {
            let mut answer = answer.await?;
            if is_last {
                answer.headers_mut().insert(header::CONNECTION, HeaderValue::from_static("close"));
            }
            Ok::<_, Infallible>(answer)
        }
    });
    let mut http = http1::Builder::new();
    http.timer(TokioTimer::new()).header_read_timeout(PATIENCE).max_headers(64);
    let mut served = pin!(http.serve_connection(TokioIo::new(stream), service));
    let stopped = async move { drop(stop.wait_for(|stop| *stop).await) };
    tokio::select! {
        _ = served.as_mut() => return,
        () = stopped => {}
        () = sleep(AGE) => {}
    }
    served.as_mut().graceful_shutdown();
    let _ = timeout(AGE, served).await;
}

#[cfg(test)]
mod tests {
    use std::{
        io::{Read, Write},
        net,
        sync::{atomic::AtomicBool, mpsc},
        thread,
    };

    use socket2::{Domain, Socket, Type};

    use super::*;
    use crate::exercise::TrialCounts;

    const HEAD: &str =
        "Host: 127.0.0.1\r\nOrigin: http://127.0.0.1\r\nContent-Type: application/x-www-form-urlencoded\r\n";
    const FLOOD: u64 = Connections::LIMITS.address + Connections::LIMITS.server;

    fn with_server(work: impl FnOnce(SocketAddr)) {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let token = crate::Token::new("the-token-of-this-test").expect("it is long enough");
        let config = Config {
            listen: SocketAddr::from(([127, 0, 0, 1], 0)),
            store: folder.path().join("runs.db"),
            tls: None,
            token: Some(token),
            names: Vec::new(),
        };
        let (stop, stopped) = UnixStream::pair().expect("sockets");
        let (sender, address) = mpsc::channel();
        let serving = thread::spawn(move || {
            serve(config, Box::new(TrialCounts), stopped, |at| {
                sender.send(at).expect("the test waits for it");
            })
        });
        work(address.recv().expect("it listens"));
        drop(stop);
        serving.join().expect("no panic").expect("it served");
    }

    fn from(last: u8, server: SocketAddr) -> net::TcpStream {
        let socket = Socket::new(Domain::IPV4, Type::STREAM, None).expect("a descriptor");
        socket.bind(&SocketAddr::from(([127, 0, 0, last], 0)).into()).expect("loopback is a /8");
        socket.connect(&server.into()).expect("it listens");
        socket.set_read_timeout(Some(Duration::from_secs(60))).expect("a socket");
        socket.into()
    }

    fn is_answered(mut stream: &net::TcpStream) -> bool {
        let sent = stream.write_all(format!("HEAD /static/icon.svg HTTP/1.1\r\n{HEAD}\r\n").as_bytes());
        let mut answer = Vec::new();
        let mut byte = [0];
        while sent.is_ok() && !answer.ends_with(b"\r\n\r\n") {
            match stream.read(&mut byte) {
                Ok(1..) => answer.push(byte[0]),
                Ok(0) => return false,
                Err(error) if error.kind() == io::ErrorKind::ConnectionReset => return false,
                Err(error) => panic!("no answer: {error}"),
            }
        }
        answer.starts_with(b"HTTP/1.1 200")
    }

    #[test]
    fn idle_connections_do_not_block_others() {
        let attacks: [String; 5] = [
            String::new(),
            "GET / HTTP/1.1\r\nHost: 127".to_owned(),
            format!("POST /sign-in HTTP/1.1\r\n{HEAD}Content-Length: 40\r\n\r\n"),
            format!("POST /sign-in HTTP/1.1\r\n{HEAD}Transfer-Encoding: chunked\r\n\r\n5\r\ntoken\r\n"),
            format!("GET /static/site.css HTTP/1.1\r\n{HEAD}\r\n").repeat(2000),
        ];
        with_server(|server| {
            for attack in attacks {
                let flood = |_| {
                    let mut stream = from(1, server);
                    stream.set_nonblocking(true).expect("a socket");
                    // The write fails once the buffers are full.
                    let _ = stream.write(attack.as_bytes());
                    stream
                };
                let open: Vec<_> = (0..FLOOD).map(flood).collect();
                for last in [2, 1] {
                    assert!(is_answered(&from(last, server)), "{attack:.60}, from 127.0.0.{last}");
                }
                drop(open);
            }
        });
    }

    /// The attackers send a small request shortly before each timeout and reconnect when disconnected. They use a
    /// single address, or enough addresses to reach the server's limit.
    #[test]
    fn slow_connections_do_not_block_others() {
        for addresses in [&[1][..], &[1, 3, 4, 5, 6]] {
            with_server(|server| {
                let ended = AtomicBool::new(false);
                let (full, wait) = mpsc::channel();
                thread::scope(|scope| {
                    scope.spawn(|| {
                        let connect = |last: u8| {
                            let stream = from(last, server);
                            stream.set_nonblocking(true).expect("a socket");
                            stream
                        };
                        let each = || addresses.iter().copied().cycle().take(FLOOD as usize);
                        let mut open: Vec<_> = each().map(connect).collect();
                        while !ended.load(Ordering::Relaxed) {
                            for (stream, last) in open.iter_mut().zip(each()) {
                                let request = format!("HEAD /static/icon.svg HTTP/1.1\r\n{HEAD}\r\n");
                                let (sent, read) =
                                    (stream.write(request.as_bytes()), stream.read(&mut [0; 4096]));
                                if sent.is_err() || matches!(read, Ok(0)) {
                                    *stream = connect(last);
                                }
                            }
                            let _ = full.send(());
                            thread::park_timeout(Duration::from_millis(200));
                        }
                    });
                    wait.recv().expect("the attacker is connected");
                    let answered =
                        std::panic::catch_unwind(|| (0..20).all(|_| is_answered(&from(2, server))));
                    ended.store(true, Ordering::Relaxed);
                    assert!(matches!(answered, Ok(true)), "{addresses:?}");
                });
            });
        }
    }

    #[test]
    fn closes_connection_after_maximum_requests_and_age() {
        let answers = |server, pause: Duration| {
            let stream = from(1, server);
            let answered = (0..3 * MOST_REQUESTS).take_while(|_| {
                thread::park_timeout(pause);
                is_answered(&stream)
            });
            answered.count()
        };
        with_server(|server| {
            let most = answers(server, Duration::ZERO);
            assert!((1..=MOST_REQUESTS as usize).contains(&most), "{most} requests");
            let few = answers(server, AGE / MOST_REQUESTS * 4);
            assert!(few < MOST_REQUESTS as usize, "{few} slow requests");
        });
    }
}
