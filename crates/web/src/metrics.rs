//! Serves long-running commands' Prometheus metrics at `/metrics` over plain HTTP.

use std::{
    io,
    net::{self, SocketAddr},
    sync::Arc,
    thread::{self, JoinHandle},
};

use axum::{Router, http::header, routing::get};
use tokio::{
    net::TcpListener,
    runtime::{self, Runtime},
    sync::watch,
};

use crate::{
    connections::Connections,
    links,
    serve::{ServeError, accept, connection},
};

pub(crate) const FORMAT: &str = "text/plain; version=0.0.4; charset=utf-8";

#[derive(Debug)]
pub struct MetricsEndpoint {
    address: SocketAddr,
    ends: watch::Sender<bool>,
    thread: Option<JoinHandle<()>>,
}

impl MetricsEndpoint {
    /// Serves the result of `text` on a new thread. There is no access control.
    pub fn listen(
        address: SocketAddr,
        text: impl Fn() -> String + Send + Sync + 'static,
    ) -> Result<Self, ServeError> {
        let failed = |source| ServeError::Listen { address, source };
        let listener = net::TcpListener::bind(address).map_err(failed)?;
        listener.set_nonblocking(true).map_err(failed)?;
        let bound = listener.local_addr().map_err(failed)?;
        let runtime = runtime::Builder::new_current_thread().enable_all().build().map_err(failed)?;
        let (ends, ended) = watch::channel(false);
        let router = router(text);
        let thread = thread::spawn(move || drop(serve(&runtime, listener, &router, &ended)));
        Ok(Self { address: bound, ends, thread: Some(thread) })
    }

    #[must_use]
    pub const fn address(&self) -> SocketAddr {
        self.address
    }
}

impl Drop for MetricsEndpoint {
    fn drop(&mut self) {
        // This fails if the thread has already exited.
        let _ = self.ends.send(true);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

fn router(text: impl Fn() -> String + Send + Sync + 'static) -> Router {
    let text = Arc::new(text);
    let answer = move || {
        let now = text();
        async move { ([(header::CONTENT_TYPE, FORMAT)], now) }
    };
    Router::new().route(links::METRICS, get(answer))
}

fn serve(
    runtime: &Runtime,
    listener: net::TcpListener,
    router: &Router,
    ended: &watch::Receiver<bool>,
) -> io::Result<()> {
    runtime.block_on(async {
        let listener = TcpListener::from_std(listener)?;
        let (mut connections, mut stop) = (Connections::new(), ended.clone());
        tokio::select! {
            _ = stop.wait_for(|stop| *stop) => {}
            () = accept(&listener, &mut connections, |stream, source| {
                connection(stream, source, router.clone(), ended.clone())
            }) => {}
        }
        Ok(())
    })
}

#[cfg(test)]
mod tests {
    use std::{
        io::{Read, Write},
        sync::atomic::{AtomicU32, Ordering},
    };

    use super::*;

    fn get_from(address: SocketAddr, path: &str) -> String {
        let mut stream = net::TcpStream::connect(address).expect("it listens");
        write!(stream, "GET {path} HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\r\n")
            .expect("it reads");
        let mut answer = String::new();
        stream.read_to_string(&mut answer).expect("text");
        answer
    }

    #[test]
    fn serves_current_metrics_only_at_their_path() {
        let asked = AtomicU32::new(0);
        let text = move || format!("plumb_a {}\n", asked.fetch_add(1, Ordering::Relaxed));
        let endpoint =
            MetricsEndpoint::listen(SocketAddr::from(([127, 0, 0, 1], 0)), text).expect("loopback");
        for text in ["plumb_a 0\n", "plumb_a 1\n"] {
            let answer = get_from(endpoint.address(), "/metrics");
            assert!(answer.starts_with("HTTP/1.1 200") && answer.ends_with(text), "{answer}");
            assert!(answer.contains("content-type: text/plain; version=0.0.4"), "{answer}");
        }
        assert!(get_from(endpoint.address(), "/").starts_with("HTTP/1.1 404"));
        let address = endpoint.address();
        let taken = MetricsEndpoint::listen(address, String::new).expect_err("it is taken").to_string();
        assert!(taken.contains(&format!("cannot listen at {address}")), "{taken}");
        let open = net::TcpStream::connect(address).expect("it listens");
        drop(endpoint);
        drop(open);
        assert!(net::TcpStream::connect(address).is_err());
    }
}
