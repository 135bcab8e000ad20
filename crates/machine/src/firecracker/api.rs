//! Firecracker's interface: HTTP/1.1 over a Unix socket, JSON both ways. Source: docs/design.md and
//! src/firecracker/swagger/firecracker.yaml of Firecracker, RFC 9112.

use std::{
    io::{self, Read, Write},
    os::unix::net::UnixStream,
    path::Path,
    thread,
    time::{Duration, Instant},
};

use serde_json::Value;
use thiserror::Error;

/// Firecracker answers at once; on a busy machine its start, and that of its guest, takes a while.
const PATIENCE: Duration = Duration::from_secs(20);
const GLANCE: Duration = Duration::from_millis(1);
/// What Firecracker answers is short; more is not it.
const LONGEST: usize = 64 << 10;
const MOST_HEADERS: usize = 32;

/// A conversation with Firecracker failed.
#[derive(Debug, Error)]
pub enum ApiError {
    /// Its socket is not there, or nobody listens.
    #[error("Firecracker's interface does not come up within {} s: {source}", PATIENCE.as_secs())]
    Absent {
        /// Why it cannot be connected to.
        #[source]
        source: io::Error,
    },
    /// It ended, or said nothing for long.
    #[error("Firecracker does not answer `PUT {path}`: {source}")]
    Silent {
        /// What was asked for.
        path: String,
        /// Why.
        #[source]
        source: io::Error,
    },
    #[error("Firecracker refuses `PUT {path} {body}` with status {status}: {reason}")]
    Refused {
        /// What was asked for.
        path: String,
        /// What was to be put there.
        body: String,
        /// The status of its answer.
        status: u16,
        /// Its own words.
        reason: String,
    },
}

/// An open connection to the interface.
#[derive(Debug)]
pub(super) struct Api {
    socket: UnixStream,
    /// What was read and not yet understood.
    unread: Vec<u8>,
}

#[derive(Debug, PartialEq, Eq)]
struct Answer {
    status: u16,
    body: Vec<u8>,
}

impl Api {
    /// Connects as soon as it listens on `socket`, while it is alive.
    pub(super) fn connect(socket: &Path, mut alive: impl FnMut() -> bool) -> Result<Self, ApiError> {
        let begun = Instant::now();
        loop {
            match UnixStream::connect(socket) {
                Ok(socket) => {
                    return Self::over(socket, PATIENCE).map_err(|source| ApiError::Absent { source });
                }
                Err(source) if !alive() || begun.elapsed() > PATIENCE => {
                    return Err(ApiError::Absent { source });
                }
                Err(_) => thread::sleep(GLANCE),
            }
        }
    }

    fn over(socket: UnixStream, patience: Duration) -> io::Result<Self> {
        socket.set_read_timeout(Some(patience))?;
        socket.set_write_timeout(Some(patience))?;
        Ok(Self { socket, unread: Vec::new() })
    }

    /// Has `body` put to `path`.
    pub(super) fn put(&mut self, path: &str, body: &Value) -> Result<(), ApiError> {
        let silent = |source| ApiError::Silent { path: path.to_owned(), source };
        let body = body.to_string();
        self.socket.write_all(request(path, &body).as_bytes()).map_err(silent)?;
        let answer = self.answer().map_err(silent)?;
        match answer.status {
            200..300 => Ok(()),
            status => {
                Err(ApiError::Refused { path: path.to_owned(), body, status, reason: reason(&answer.body) })
            }
        }
    }

    fn answer(&mut self) -> io::Result<Answer> {
        let mut more = [0; 4096];
        loop {
            if let Some((answer, length)) = parse(&self.unread)? {
                self.unread.drain(..length);
                return Ok(answer);
            }
            let read = self.socket.read(&mut more)?;
            if read == 0 {
                return Err(io::Error::new(io::ErrorKind::UnexpectedEof, "it has ended"));
            }
            self.unread.extend_from_slice(&more[..read]);
            if self.unread.len() > LONGEST {
                return Err(unreadable(format!("its answer is longer than {LONGEST} bytes")));
            }
        }
    }
}

fn request(path: &str, body: &str) -> String {
    format!(
        "PUT {path} HTTP/1.1\r\nHost: localhost\r\nAccept: application/json\r\nContent-Type: application/json\r\n\
         Content-Length: {}\r\n\r\n{body}",
        body.len()
    )
}

/// The answer that `bytes` begin with, and its length; `None` while there is more to come.
fn parse(bytes: &[u8]) -> io::Result<Option<(Answer, usize)>> {
    let mut headers = [httparse::EMPTY_HEADER; MOST_HEADERS];
    let mut head = httparse::Response::new(&mut headers);
    let parsed = head.parse(bytes).map_err(|error| unreadable(format!("its answer is no HTTP: {error}")))?;
    let httparse::Status::Complete(begin) = parsed else { return Ok(None) };
    let status = head.code.unwrap_or_default();
    let length = match body_length(&head)? {
        // An answer of this status has no body, whatever is said of its length.
        _ if status == 204 => 0,
        length => length,
    };
    let body = bytes.get(begin..begin.saturating_add(length));
    Ok(body.map(|body| (Answer { status, body: body.to_vec() }, begin + length)))
}

fn body_length(head: &httparse::Response<'_, '_>) -> io::Result<usize> {
    let named = |header: &&httparse::Header<'_>| header.name.eq_ignore_ascii_case("Content-Length");
    let Some(header) = head.headers.iter().find(named) else { return Ok(0) };
    let text = String::from_utf8_lossy(header.value);
    text.trim().parse().map_err(|_| unreadable(format!("the length of its answer is `{text}`")))
}

/// The `fault_message` of an error, or all of it where it is none.
fn reason(body: &[u8]) -> String {
    let message = |error: &Value| error["fault_message"].as_str().map(str::to_owned);
    let known = serde_json::from_slice(body).ok().and_then(|error| message(&error));
    known.unwrap_or_else(|| String::from_utf8_lossy(body).into_owned())
}

fn unreadable(message: String) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, message)
}

#[cfg(test)]
mod tests {
    use super::*;

    const REFUSAL: &str = "HTTP/1.1 400 \r\nServer: Firecracker API\r\nConnection: keep-alive\r\nContent-Type: \
                           application/json\r\nContent-Length: 26\r\n\r\n{\"fault_message\":\"no tap\"}";

    /// What comes of a request when this is answered, and then nothing more.
    fn answered(answer: &str) -> Result<(), ApiError> {
        let (ours, mut theirs) = UnixStream::pair().expect("sockets");
        theirs.write_all(answer.as_bytes()).expect("it is read");
        theirs.shutdown(std::net::Shutdown::Write).expect("connected");
        Api::over(ours, PATIENCE).expect("a socket").put("/vsock", &serde_json::json!({ "guest_cid": 3 }))
    }

    #[test]
    fn what_is_done_is_done_and_a_refusal_is_shown_whole() {
        answered("HTTP/1.1 204 \r\nServer: Firecracker API\r\n\r\n").expect("done");
        answered("HTTP/1.1 204 No Content\r\nContent-Length: 12\r\n\r\n").expect("no body comes");
        let error = answered(REFUSAL).expect_err("refused").to_string();
        assert_eq!(error, "Firecracker refuses `PUT /vsock {\"guest_cid\":3}` with status 400: no tap");
        let other = REFUSAL.replace("{\"fault_message\":\"no tap\"}", "something else than it is.");
        assert!(answered(&other).expect_err("refused").to_string().ends_with("something else than it is."));
    }

    #[test]
    fn an_answer_is_read_however_it_is_cut_and_the_next_one_stays() {
        let two = format!("{REFUSAL}HTTP/1.1 204 \r\n\r\n");
        for cut in 0..REFUSAL.len() {
            assert_eq!(parse(&two.as_bytes()[..cut]).expect("right so far"), None, "{cut}");
        }
        let (answer, length) = parse(two.as_bytes()).expect("right").expect("whole");
        assert_eq!((answer.status, answer.body.len(), length), (400, 26, REFUSAL.len()));
    }

    #[test]
    fn what_is_no_answer_is_an_error_that_says_what_was_asked() {
        for (answer, said) in [
            ("", "it has ended"),
            ("HTTP/1.1 400 \r\nContent-Length: 9\r\n\r\n{", "it has ended"),
            ("SSH-2.0-OpenSSH_9.2\r\n", "is no HTTP"),
            ("HTTP/1.1 400 \r\nContent-Length: -1\r\n\r\n", "`-1`"),
            (
                &format!("HTTP/1.1 200 \r\nContent-Length: {}\r\n\r\n{}", 1 << 20, "x".repeat(1 << 16)),
                "is longer",
            ),
        ] {
            let error = answered(answer).expect_err(said).to_string();
            assert!(error.contains("`PUT /vsock`") && error.contains(said), "{error}");
        }
    }

    #[test]
    fn one_that_says_nothing_is_not_waited_for_without_end() {
        let (ours, _theirs) = UnixStream::pair().expect("sockets");
        let mut api = Api::over(ours, Duration::from_millis(20)).expect("a socket");
        let error = api.put("/actions", &Value::Null).expect_err("nothing is said").to_string();
        assert!(error.contains("does not answer `PUT /actions`"), "{error}");
    }

    #[test]
    fn a_socket_that_never_comes_is_waited_for_while_somebody_could_make_it() {
        let mut looks = 3;
        let alive = || {
            looks -= 1;
            looks > 0
        };
        let error = Api::connect(Path::new("/nonexistent/socket"), alive).expect_err("not there").to_string();
        assert!(error.contains("does not come up"), "{error}");
        assert_eq!(looks, 0);
    }
}
