//! Assembles states, JSON and error numbers from the bytes of the control connection.

use serde::de::DeserializeOwned;

use super::Failure;

/// Maximum size in bytes. iperf3 has allowed 8 KiB since version 3.18.
pub const MAX_PARAMS: u32 = 64 << 10;
pub const MAX_CLIENT_RESULTS: u32 = 1 << 20;
/// Maximum size in bytes. The results may contain the server's whole report.
pub const MAX_SERVER_RESULTS: u32 = 8 << 20;

const RESERVED: usize = 4 << 10;

const SHOWN: usize = 200;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Due {
    State,
    /// A length followed by JSON, or a state byte if the first byte cannot start a valid length.
    Json {
        what: &'static str,
        limit: u32,
    },
    Error,
    Nothing,
}

#[derive(Debug, PartialEq)]
pub(super) enum Item {
    State(u8),
    Json(Vec<u8>),
    Error { code: i32, errno: i32 },
}

#[derive(Debug, Default)]
pub(super) struct Inbox {
    buffered: Vec<u8>,
    body: Option<u32>,
}

impl Inbox {
    pub(super) fn take(&mut self, due: Due, bytes: &mut &[u8]) -> Result<Option<Item>, Failure> {
        match due {
            Due::Nothing => {
                *bytes = &[];
                Ok(None)
            }
            Due::State => Ok(bytes.split_off_first().map(|byte| Item::State(*byte))),
            Due::Error => Ok(self.error(bytes)),
            Due::Json { what, limit } => self.json(what, limit, bytes),
        }
    }

    fn json(&mut self, what: &'static str, limit: u32, bytes: &mut &[u8]) -> Result<Option<Item>, Failure> {
        if self.body.is_none() {
            if self.buffered.is_empty() && limit < 1 << 24 && bytes.first().is_some_and(|first| *first != 0) {
                return self.take(Due::State, bytes);
            }
            if !self.fill(4, bytes) {
                return Ok(None);
            }
            let length = self.word(0).cast_unsigned();
            if length == 0 || length > limit {
                return Err(Failure::Oversized { what, length, limit });
            }
            self.buffered = Vec::with_capacity(RESERVED.min(length as usize));
            self.body = Some(length);
        }
        let length = self.body.unwrap_or_default() as usize;
        if !self.fill(length, bytes) {
            return Ok(None);
        }
        self.body = None;
        Ok(Some(Item::Json(std::mem::take(&mut self.buffered))))
    }

    fn error(&mut self, bytes: &mut &[u8]) -> Option<Item> {
        if !self.fill(8, bytes) {
            return None;
        }
        let item = Item::Error { code: self.word(0), errno: self.word(4) };
        self.buffered.clear();
        Some(item)
    }

    /// iperf3 3.12 sometimes omits the second error number.
    pub(super) fn half_error(&self) -> Option<i32> {
        (self.buffered.len() >= 4).then(|| self.word(0))
    }

    fn fill(&mut self, length: usize, bytes: &mut &[u8]) -> bool {
        let missing = (length - self.buffered.len()).min(bytes.len());
        let (taken, rest) = bytes.split_at(missing);
        self.buffered.extend_from_slice(taken);
        *bytes = rest;
        self.buffered.len() == length
    }

    fn word(&self, at: usize) -> i32 {
        i32::from_be_bytes(self.buffered[at..at + 4].try_into().expect("four bytes"))
    }
}

pub(super) fn frame<T: serde::Serialize>(json: &T) -> Vec<u8> {
    let mut bytes = vec![0; 4];
    serde_json::to_writer(&mut bytes, json).expect("string keys only");
    let length = u32::try_from(bytes.len() - 4).expect("results are far below 4 GiB");
    bytes[..4].copy_from_slice(&length.to_be_bytes());
    bytes
}

pub(super) fn read<T: DeserializeOwned>(what: &'static str, json: &[u8]) -> Result<T, Failure> {
    serde_json::from_slice(json)
        .map_err(|error| Failure::Malformed { what, reason: excerpt(&error.to_string()) })
}

/// Shortens the text and replaces control characters, because a peer's text may be printed to a terminal.
fn excerpt(text: &str) -> String {
    let mut shown: String = text.chars().take(SHOWN).flat_map(harmless).collect();
    if text.chars().nth(SHOWN).is_some() {
        shown.push('…');
    }
    shown
}

fn harmless(sign: char) -> impl Iterator<Item = char> {
    let escaped = sign.is_control().then(|| sign.escape_default());
    let plain = escaped.is_none().then_some(sign);
    escaped.into_iter().flatten().chain(plain)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const DUE: Due = Due::Json { what: "results", limit: 1000 };

    fn items(due: Due, chunks: &[&[u8]]) -> Result<Vec<Item>, Failure> {
        let (mut inbox, mut items) = (Inbox::default(), Vec::new());
        for mut chunk in chunks.iter().copied() {
            while !chunk.is_empty() {
                items.extend(inbox.take(due, &mut chunk)?);
            }
        }
        Ok(items)
    }

    #[test]
    fn announced_length_allocates_no_memory() {
        let mut inbox = Inbox::default();
        let due = Due::Json { what: "results", limit: MAX_SERVER_RESULTS };
        let mut bytes = &MAX_SERVER_RESULTS.to_be_bytes()[..];
        assert_eq!(inbox.take(due, &mut bytes), Ok(None));
        assert!(inbox.buffered.capacity() <= RESERVED, "{}", inbox.buffered.capacity());
        for _ in 0..1000 {
            assert_eq!(inbox.take(due, &mut &[b' '; 100][..]), Ok(None));
        }
        assert!(inbox.buffered.capacity() <= 2 * inbox.buffered.len(), "{}", inbox.buffered.capacity());
    }

    #[test]
    fn rejects_excessive_length_immediately() {
        for length in [0, 1001, 0x00ff_ffff] {
            let refused = Err(Failure::Oversized { what: "results", length, limit: 1000 });
            assert_eq!(items(DUE, &[&length.to_be_bytes()]), refused);
        }
    }

    #[test]
    fn shortens_quoted_input_in_errors() {
        let long = format!("\"\u{9b}31m\\u001b[2J{}\"", "x".repeat(1 << 20));
        let Err(Failure::Malformed { reason, .. }) = read::<u32>("results", long.as_bytes()) else {
            panic!("a string is not a number")
        };
        assert!(reason.chars().count() < 250, "{}", reason.len());
        assert!(reason.contains("xxx") && !reason.contains(char::is_control), "{reason:?}");
    }

    #[test]
    fn accepts_state_instead_of_json() {
        assert_eq!(items(DUE, &[&[0xfe]]), Ok(vec![Item::State(0xfe)]));
    }

    proptest! {
        #[test]
        fn chunk_boundaries_do_not_matter(body: Vec<u8>, cut in 0..1000usize, code: i32) {
            prop_assume!(!body.is_empty());
            let mut bytes = u32::try_from(body.len()).unwrap().to_be_bytes().to_vec();
            bytes.extend(&body);
            let (before, after) = bytes.split_at(cut.min(bytes.len()));
            prop_assert_eq!(items(DUE, &[before, after]), Ok(vec![Item::Json(body)]));
            let bytes = [code.to_be_bytes(), 7i32.to_be_bytes()].concat();
            let (before, after) = bytes.split_at(cut % 8);
            prop_assert_eq!(items(Due::Error, &[before, after]), Ok(vec![Item::Error { code, errno: 7 }]));
        }
    }
}
