//! A connection to a PostgreSQL server with a limit on what the server may send. The client library buffers whole
//! messages, which may declare up to 2 GiB.

use std::{
    io,
    net::SocketAddr,
    path::PathBuf,
    pin::Pin,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    task::{Context, Poll, ready},
};

use socket2::{SockRef, TcpKeepalive};
use tokio::{
    io::{AsyncRead, AsyncWrite, ReadBuf},
    net::{TcpStream, UnixStream},
};
use tokio_postgres::Config;

pub(crate) enum Target {
    Tcp(SocketAddr),
    Unix(PathBuf),
}

trait Stream: AsyncRead + AsyncWrite + Send + Unpin {}
impl<T: AsyncRead + AsyncWrite + Send + Unpin> Stream for T {}

/// The number of bytes that the server may still send.
#[derive(Clone)]
pub(crate) struct Allowance(Arc<AtomicUsize>);

impl Allowance {
    pub(crate) fn new(bytes: usize) -> Self {
        Self(Arc::new(AtomicUsize::new(bytes)))
    }

    pub(crate) fn renew(&self, bytes: usize) {
        self.0.store(bytes, Ordering::Relaxed);
    }

    fn take(&self, bytes: usize) -> io::Result<()> {
        let take = |left: usize| left.checked_sub(bytes);
        let taken = self.0.fetch_update(Ordering::Relaxed, Ordering::Relaxed, take);
        taken.map(drop).map_err(|_| io::Error::other("the server sent too much data instead of a reply"))
    }
}

pub(crate) struct Socket {
    stream: Box<dyn Stream>,
    allowance: Allowance,
}

impl Socket {
    pub(crate) async fn connect(target: Target, settings: &Config, allowance: Allowance) -> io::Result<Self> {
        let stream: Box<dyn Stream> = match target {
            Target::Tcp(address) => Box::new(tcp(address, settings).await?),
            Target::Unix(path) => Box::new(UnixStream::connect(path).await?),
        };
        Ok(Self { stream, allowance })
    }
}

async fn tcp(address: SocketAddr, settings: &Config) -> io::Result<TcpStream> {
    let stream = TcpStream::connect(address).await?;
    stream.set_nodelay(true)?;
    let socket = SockRef::from(&stream);
    socket.set_tcp_user_timeout(settings.get_tcp_user_timeout().copied())?;
    if settings.get_keepalives() {
        let mut keepalive = TcpKeepalive::new().with_time(settings.get_keepalives_idle());
        if let Some(interval) = settings.get_keepalives_interval() {
            keepalive = keepalive.with_interval(interval);
        }
        if let Some(retries) = settings.get_keepalives_retries() {
            keepalive = keepalive.with_retries(retries);
        }
        socket.set_tcp_keepalive(&keepalive)?;
    }
    Ok(stream)
}

impl AsyncRead for Socket {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        ready!(Pin::new(&mut self.stream).poll_read(cx, buffer))?;
        Poll::Ready(self.allowance.take(buffer.filled().len() - before))
    }
}

impl AsyncWrite for Socket {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write(cx, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }
}

#[cfg(test)]
mod tests {
    use std::{
        io::{Read, Write},
        iter,
        os::unix::net::{UnixListener, UnixStream as ServerStream},
        thread::{self, JoinHandle},
        time::Duration,
    };

    use tokio_postgres::NoTls;

    use super::*;
    use crate::{
        client::{Client, LONGEST},
        database_error::DatabaseError,
    };

    const HANDSHAKE: &[u8] = b"R\0\0\0\x08\0\0\0\0Z\0\0\0\x05I";

    fn connect<T: Send + 'static>(
        serve: impl FnOnce(ServerStream) -> T + Send + 'static,
    ) -> (Result<Client, DatabaseError>, JoinHandle<T>) {
        let folder = tempfile::tempdir().expect("creates a folder");
        let path = folder.path().join("socket");
        let listener = UnixListener::bind(&path).expect("listens");
        let server = thread::spawn(move || serve(listener.accept().expect("is connected").0));
        let mut settings = Config::new();
        settings.user("u");
        let limits = [Duration::from_secs(60); 2];
        (Client::connect((Target::Unix(path), ""), &settings, NoTls, limits), server)
    }

    /// Returns the client's error and the number of bytes that the server could send.
    fn flooded(after: &'static [u8]) -> (String, usize) {
        let (client, server) = connect(|mut stream| {
            let mut sent = stream.write(after).expect("sends the handshake");
            while let Ok(more) = stream.write(&[b'['; 1 << 16]) {
                sent += more;
            }
            sent
        });
        let error = client.and_then(|mut client| client.batch("SELECT")).expect_err("there is no reply");
        (error.to_string(), server.join().expect("does not panic"))
    }

    #[test]
    fn message_without_end_is_limited_before_and_after_the_handshake() {
        for (after, most) in [(&b""[..], 1 << 20), (HANDSHAKE, LONGEST + (1 << 20))] {
            let (error, sent) = flooded(after);
            assert!(error.contains("too much data"), "{error}");
            // The kernel's socket buffers hold the data that the client never read.
            assert!(sent < most + (4 << 20), "{sent} bytes");
        }
    }

    fn send(stream: &mut ServerStream, kind: u8, parts: &[&[u8]]) {
        let length = 4 + parts.iter().map(|part| part.len()).sum::<usize>() as u32;
        let message = [&[kind][..], &length.to_be_bytes(), &parts.concat()].concat();
        stream.write_all(&message).expect("the client reads");
    }

    #[test]
    fn rows_may_exceed_the_limit_together() {
        const COLUMN: &[u8] = b"\0\x01v\0\0\0\0\0\0\0\0\0\0\x19\xff\xff\xff\xff\xff\xff\0\0";
        const ROW: usize = LONGEST / 4;
        const ROWS: usize = 6;
        let (client, server) = connect(|mut stream| {
            let mut request = [0; 1024];
            assert!(stream.read(&mut request).expect("the client connects") > 0);
            stream.write_all(HANDSHAKE).expect("the client reads");
            assert!(stream.read(&mut request).expect("the client asks") > 0);
            send(&mut stream, b'1', &[]);
            send(&mut stream, b'2', &[]);
            send(&mut stream, b'T', &[COLUMN]);
            let row = vec![b'x'; ROW];
            for _ in 0..ROWS {
                send(&mut stream, b'D', &[b"\0\x01", &(ROW as u32).to_be_bytes(), &row]);
            }
            send(&mut stream, b'C', &[b"SELECT 6\0"]);
            send(&mut stream, b'Z', &[b"I"]);
        });
        let (mut client, mut received) = (client.expect("connects"), 0);
        let asked = client.ask("SELECT", iter::empty(), &mut |row| {
            received += row.try_get::<_, &str>(0)?.len();
            Ok(())
        });
        assert_eq!((asked.expect("a reply"), received), (6, ROWS * ROW));
        server.join().expect("does not panic");
    }
}
