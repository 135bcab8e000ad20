//! The NATS client protocol, with limits on sizes. Source:
//! <https://docs.nats.io/reference/reference-protocols/nats-protocol>.

use serde::{Deserialize, Serialize};
use thiserror::Error;

/// The longest line in bytes. INFO lists every server of a cluster.
const LINE: usize = 16 << 10;
/// The longest payload in bytes, including headers: twice the longest message of a session.
pub(crate) const PAYLOAD: usize = 64 << 10;
const EXCERPT: usize = 60;

#[derive(Debug, PartialEq, Eq)]
pub(crate) enum ServerOp {
    Info(Info),
    Ping,
    Pong,
    Ok,
    Error(String),
    Message(Delivery),
}

#[derive(Debug, PartialEq, Eq, Deserialize)]
pub(crate) struct Info {
    #[serde(default)]
    pub(crate) nonce: String,
    #[serde(default)]
    pub(crate) tls_required: bool,
}

#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Delivery {
    pub(crate) sid: u64,
    pub(crate) subject: String,
    pub(crate) payload: Vec<u8>,
    /// Status 503: the subject of the request has no subscribers.
    pub(crate) no_responders: bool,
}

#[derive(Debug, Error, PartialEq, Eq)]
pub(crate) enum WireError {
    #[error("it sent a line of more than {LINE} bytes")]
    Line,
    #[error("it sent a message of {0} bytes, but the maximum is {PAYLOAD}")]
    Payload(usize),
    #[error("it sent an invalid line: {0}")]
    Invalid(String),
}

/// A decoder that buffers at most one line, one payload and one read.
#[derive(Debug, Default)]
pub(crate) struct Decoder {
    buffer: Vec<u8>,
    start: usize,
}

impl Decoder {
    pub(crate) fn push(&mut self, bytes: &[u8]) {
        self.buffer.drain(..self.start);
        self.start = 0;
        self.buffer.extend(bytes);
    }

    pub(crate) fn next(&mut self) -> Result<Option<ServerOp>, WireError> {
        let rest = &self.buffer[self.start..];
        let Some(end) = rest.iter().take(LINE + 2).position(|byte| *byte == b'\n') else {
            return if rest.len() > LINE + 1 { Err(WireError::Line) } else { Ok(None) };
        };
        let line = rest[..end].strip_suffix(b"\r").unwrap_or(&rest[..end]);
        let invalid = || WireError::Invalid(line[..line.len().min(EXCERPT)].escape_ascii().to_string());
        let text = std::str::from_utf8(line).map_err(|_| invalid())?;
        let (name, arguments) = text.split_once([' ', '\t']).unwrap_or((text, ""));
        let payload = &rest[end + 1..];
        let (op, length) = match name {
            "MSG" | "HMSG" => {
                let head = Head::parse(name == "HMSG", arguments).ok_or_else(invalid)?;
                if head.total > PAYLOAD {
                    return Err(WireError::Payload(head.total));
                }
                let Some(bytes) = payload.get(..head.total + 2) else { return Ok(None) };
                (head.deliver(&bytes[..head.total]), head.total + 2)
            }
            "INFO" => (ServerOp::Info(serde_json::from_str(arguments).map_err(|_| invalid())?), 0),
            "PING" => (ServerOp::Ping, 0),
            "PONG" => (ServerOp::Pong, 0),
            "+OK" => (ServerOp::Ok, 0),
            "-ERR" => (ServerOp::Error(printable(arguments.trim_matches('\''))), 0),
            _ => return Err(invalid()),
        };
        self.start += end + 1 + length;
        Ok(Some(op))
    }
}

struct Head<'a> {
    subject: &'a str,
    sid: u64,
    headers: usize,
    total: usize,
}

impl<'a> Head<'a> {
    /// `subject sid [reply] [#headers] #total`
    fn parse(has_headers: bool, arguments: &'a str) -> Option<Self> {
        let words: Vec<&str> = arguments.split_ascii_whitespace().collect();
        let lengths = 1 + usize::from(has_headers);
        let (addresses, lengths) = words.split_at_checked(words.len().checked_sub(lengths)?)?;
        let (subject, sid) = match addresses {
            [subject, sid] | [subject, sid, _] => (subject, sid.parse().ok()?),
            _ => return None,
        };
        let number = |word: &str| word.parse::<usize>().ok();
        let total = number(lengths.last()?)?;
        let headers = if has_headers { number(lengths.first()?)? } else { 0 };
        (headers <= total).then_some(Self { subject, sid, headers, total })
    }

    fn deliver(&self, bytes: &[u8]) -> ServerOp {
        let (headers, payload) = bytes.split_at(self.headers);
        ServerOp::Message(Delivery {
            sid: self.sid,
            subject: self.subject.to_owned(),
            payload: payload.to_vec(),
            no_responders: headers.starts_with(b"NATS/1.0 503"),
        })
    }
}

/// Truncates the text to 300 characters and replaces control characters.
pub(crate) fn printable(text: &str) -> String {
    text.chars().take(300).map(|c| if c.is_control() { '?' } else { c }).collect()
}

#[derive(Debug, Serialize)]
pub(crate) struct Connect<'a> {
    pub(crate) name: &'a str,
    pub(crate) tls_required: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) nkey: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) sig: Option<String>,
    pub(crate) verbose: bool,
    pub(crate) pedantic: bool,
    pub(crate) lang: &'a str,
    pub(crate) version: &'a str,
    /// The protocol version. 1 means that the server may send INFO again.
    pub(crate) protocol: u8,
    pub(crate) headers: bool,
    pub(crate) no_responders: bool,
}

pub(crate) const PING: &[u8] = b"PING\r\n";
pub(crate) const PONG: &[u8] = b"PONG\r\n";

pub(crate) fn connect(connect: &Connect<'_>) -> Vec<u8> {
    let json = serde_json::to_string(connect).expect("texts and numbers are JSON");
    format!("CONNECT {json}\r\n").into_bytes()
}

pub(crate) fn publish(subject: &str, reply: Option<&str>, payload: &[u8]) -> Vec<u8> {
    let reply = reply.map(|reply| format!("{reply} ")).unwrap_or_default();
    [format!("PUB {subject} {reply}{}\r\n", payload.len()).as_bytes(), payload, b"\r\n"].concat()
}

pub(crate) fn subscribe(subject: &str, sid: u64) -> Vec<u8> {
    format!("SUB {subject} {sid}\r\n").into_bytes()
}

pub(crate) fn unsubscribe(sid: u64) -> Vec<u8> {
    format!("UNSUB {sid}\r\n").into_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decode(pieces: &[&[u8]]) -> Result<Vec<ServerOp>, WireError> {
        let mut decoder = Decoder::default();
        let mut ops = Vec::new();
        for piece in pieces {
            decoder.push(piece);
            while let Some(op) = decoder.next()? {
                ops.push(op);
            }
        }
        Ok(ops)
    }

    fn message(sid: u64, payload: &[u8], no_responders: bool) -> ServerOp {
        let (subject, payload) = ("a.b".to_owned(), payload.to_vec());
        ServerOp::Message(Delivery { sid, subject, payload, no_responders })
    }

    #[test]
    fn decodes_operations_split_at_any_byte() {
        let bytes = b"INFO {\"nonce\":\"n\",\"tls_required\":true}\r\nPING\r\nPONG\r\n+OK\r\n-ERR 'No \x1b'\r\n\
            MSG a.b 7 4\r\n\r\n\r\n\r\nMSG a.b 8 r.s 0\r\n\r\nHMSG a.b 9 r 16 18\r\nNATS/1.0 503\r\n\r\nhi\r\n";
        let expected = || {
            vec![
                ServerOp::Info(Info { nonce: "n".to_owned(), tls_required: true }),
                ServerOp::Ping,
                ServerOp::Pong,
                ServerOp::Ok,
                ServerOp::Error("No ?".to_owned()),
                message(7, b"\r\n\r\n", false),
                message(8, b"", false),
                message(9, b"hi", true),
            ]
        };
        assert_eq!(decode(&[bytes]), Ok(expected()));
        let single: Vec<&[u8]> = bytes.chunks(1).collect();
        assert_eq!(decode(&single), Ok(expected()));
    }

    #[test]
    fn refuses_long_lines_long_payloads_and_invalid_lines() {
        let endless = [&b"INFO "[..], &b"x".repeat(LINE)].concat();
        assert_eq!(decode(&[&endless]), Err(WireError::Line));
        for length in [PAYLOAD + 1, 1 << 40, usize::MAX] {
            let text = format!("MSG a 1 {length}\r\n");
            assert_eq!(decode(&[text.as_bytes()]), Err(WireError::Payload(length)));
            let text = format!("HMSG a 1 0 {length}\r\n");
            assert_eq!(decode(&[text.as_bytes()]), Err(WireError::Payload(length)));
        }
        for line in [
            "",
            "MSG",
            "MSG a",
            "MSG a 1",
            "MSG a x 1",
            "MSG a 1 -1",
            "HMSG a 1 9 3",
            "MSG a b c d 1",
            "INFO 3",
            "GET /",
            "\u{7f}",
        ] {
            assert!(
                matches!(decode(&[format!("{line}\r\n").as_bytes()]), Err(WireError::Invalid(_))),
                "{line}"
            );
        }
    }
}
