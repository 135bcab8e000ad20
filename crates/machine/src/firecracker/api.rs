//! A client for Firecracker's API: JSON in HTTP/1.1 over a Unix socket (docs/design.md and
//! src/firecracker/swagger/firecracker.yaml of Firecracker, RFC 9112).

use std::{
    io::{self, Read, Write},
    os::unix::net::UnixStream,
    path::Path,
    thread,
    time::{Duration, Instant},
};

use serde_json::Value;
use thiserror::Error;

/// Starting Firecracker and its guest may take this long on a busy machine.
const PATIENCE: Duration = Duration::from_secs(20);
const POLL: Duration = Duration::from_millis(1);
const MAX_RESPONSE: usize = 64 << 10;
const MAX_HEADERS: usize = 32;

#[derive(Debug, Error)]
pub enum ApiError {
    #[error("Firecracker's API socket is not available after {} s: {source}", PATIENCE.as_secs())]
    Absent {
        #[source]
        source: io::Error,
    },
    #[error("no response from Firecracker to `PUT {path}`: {source}")]
    Silent {
        path: String,
        #[source]
        source: io::Error,
    },
    #[error("Firecracker refused `PUT {path} {body}` with status {status}: {reason}")]
    Refused { path: String, body: String, status: u16, reason: String },
}

#[derive(Debug)]
pub(super) struct Api {
    socket: UnixStream,
    unread: Vec<u8>,
}

#[derive(Debug, PartialEq, Eq)]
struct Answer {
    status: u16,
    body: Vec<u8>,
}

impl Api {
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
                Err(_) => thread::sleep(POLL),
            }
        }
    }

    fn over(socket: UnixStream, patience: Duration) -> io::Result<Self> {
        socket.set_read_timeout(Some(patience))?;
        socket.set_write_timeout(Some(patience))?;
        Ok(Self { socket, unread: Vec::new() })
    }

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
                return Err(io::Error::new(io::ErrorKind::UnexpectedEof, "the connection was closed"));
            }
            self.unread.extend_from_slice(&more[..read]);
            if self.unread.len() > MAX_RESPONSE {
                return Err(unreadable(format!("the response exceeds {MAX_RESPONSE} bytes")));
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

fn parse(bytes: &[u8]) -> io::Result<Option<(Answer, usize)>> {
    let mut headers = [httparse::EMPTY_HEADER; MAX_HEADERS];
    let mut head = httparse::Response::new(&mut headers);
    let parsed =
        head.parse(bytes).map_err(|error| unreadable(format!("the response is not HTTP: {error}")))?;
    let httparse::Status::Complete(begin) = parsed else { return Ok(None) };
    let status = head.code.unwrap_or_default();
    let length = match body_length(&head)? {
        // A response with status 204 has no body, even if it has a length header.
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
    text.trim().parse().map_err(|_| unreadable(format!("invalid response length `{text}`")))
}

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

    fn answered(answer: &str) -> Result<(), ApiError> {
        let (ours, mut theirs) = UnixStream::pair().expect("sockets");
        theirs.write_all(answer.as_bytes()).expect("it is read");
        theirs.shutdown(std::net::Shutdown::Write).expect("connected");
        Api::over(ours, PATIENCE).expect("a socket").put("/vsock", &serde_json::json!({ "guest_cid": 3 }))
    }

    #[test]
    fn accepts_status_204_and_reports_refusal() {
        answered("HTTP/1.1 204 \r\nServer: Firecracker API\r\n\r\n").expect("done");
        answered("HTTP/1.1 204 No Content\r\nContent-Length: 12\r\n\r\n").expect("no body");
        let error = answered(REFUSAL).expect_err("refused").to_string();
        assert_eq!(error, "Firecracker refused `PUT /vsock {\"guest_cid\":3}` with status 400: no tap");
        let other = REFUSAL.replace("{\"fault_message\":\"no tap\"}", "some text which isn't JSON");
        assert!(answered(&other).expect_err("refused").to_string().ends_with("some text which isn't JSON"));
    }

    #[test]
    fn parses_split_response_and_keeps_next() {
        let two = format!("{REFUSAL}HTTP/1.1 204 \r\n\r\n");
        for cut in 0..REFUSAL.len() {
            assert_eq!(parse(&two.as_bytes()[..cut]).expect("incomplete"), None, "{cut}");
        }
        let (answer, length) = parse(two.as_bytes()).expect("right").expect("whole");
        assert_eq!((answer.status, answer.body.len(), length), (400, 26, REFUSAL.len()));
    }

    #[test]
    fn names_request_in_error_for_invalid_response() {
        for (answer, expected) in [
            ("", "the connection was closed"),
            ("HTTP/1.1 400 \r\nContent-Length: 9\r\n\r\n{", "the connection was closed"),
            ("SSH-2.0-OpenSSH_9.2\r\n", "is not HTTP"),
            ("HTTP/1.1 400 \r\nContent-Length: -1\r\n\r\n", "`-1`"),
            (
                &format!("HTTP/1.1 200 \r\nContent-Length: {}\r\n\r\n{}", 1 << 20, "x".repeat(1 << 16)),
                "exceeds",
            ),
        ] {
            let error = answered(answer).expect_err(expected).to_string();
            assert!(error.contains("`PUT /vsock`") && error.contains(expected), "{error}");
        }
    }

    #[test]
    fn times_out_without_response() {
        let (ours, _theirs) = UnixStream::pair().expect("sockets");
        let mut api = Api::over(ours, Duration::from_millis(20)).expect("a socket");
        let error = api.put("/actions", &Value::Null).expect_err("no response").to_string();
        assert!(error.contains("to `PUT /actions`"), "{error}");
    }

    #[test]
    fn waits_for_socket_while_process_is_alive() {
        let mut looks = 3;
        let alive = || {
            looks -= 1;
            looks > 0
        };
        let error = Api::connect(Path::new("/nonexistent/socket"), alive).expect_err("not there").to_string();
        assert!(error.contains("is not available"), "{error}");
        assert_eq!(looks, 0);
    }
}
