//! Lines out of bytes, bounded whatever comes: what is no UTF-8 is replaced, codes of terminals are removed.
//! Must not know what a line means.

use std::{
    borrow::Cow,
    io::{self, BufRead},
};

use sha2::{Digest, Sha256};

/// The longest line: a whole JSON document may stand in one.
pub(crate) const LONGEST: usize = 32 << 20;

/// What is given back to the system after a line that was longer than this.
const KEPT: usize = 64 << 10;

/// Reads line by line and digests every byte on the way.
pub(crate) struct Lines<'a> {
    input: &'a mut dyn BufRead,
    digest: Sha256,
    bytes: Vec<u8>,
    longest: usize,
    /// The number of the last line that was read, from 1.
    pub(crate) number: u64,
}

/// Why there is no next line.
#[derive(Debug)]
pub(crate) enum LineError {
    Read(io::Error),
    TooLong,
}

impl<'a> Lines<'a> {
    pub(crate) fn new(input: &'a mut dyn BufRead) -> Self {
        Self { input, digest: Sha256::new(), bytes: Vec::new(), longest: LONGEST, number: 0 }
    }

    /// The next line and whether it has an end; `None` after the last.
    pub(crate) fn next(&mut self) -> Result<Option<(Cow<'_, str>, bool)>, LineError> {
        self.bytes.clear();
        self.bytes.shrink_to(KEPT);
        let whole = self.fill()?;
        if self.bytes.is_empty() && !whole {
            return Ok(None);
        }
        self.number += 1;
        let ends = |byte: &u8| *byte == b'\r';
        while self.bytes.last().is_some_and(ends) {
            self.bytes.pop();
        }
        if self.bytes.len() > KEPT {
            replace_in_place(&mut self.bytes);
        }
        Ok(Some((plain(&self.bytes), whole)))
    }

    /// SHA-256 of all that was read, in hex.
    pub(crate) fn digest(self) -> String {
        self.digest.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
    }

    /// Collects up to the next end of a line, which it swallows; whether there was one.
    fn fill(&mut self) -> Result<bool, LineError> {
        loop {
            let available = match self.input.fill_buf() {
                Ok(available) => available,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => return Err(LineError::Read(error)),
            };
            if available.is_empty() {
                return Ok(false);
            }
            let end = available.iter().position(|byte| *byte == b'\n');
            let taken = end.map_or(available.len(), |end| end + 1);
            if self.bytes.len() + taken > self.longest {
                return Err(LineError::TooLong);
            }
            self.digest.update(&available[..taken]);
            self.bytes.extend_from_slice(&available[..end.unwrap_or(taken)]);
            self.input.consume(taken);
            if end.is_some() {
                return Ok(true);
            }
        }
    }
}

/// What is no UTF-8 becomes `?`: the usual sign for it would make a long line up to three times as long.
fn replace_in_place(bytes: &mut [u8]) {
    let mut at = 0;
    while let Err(error) = std::str::from_utf8(&bytes[at..]) {
        at += error.valid_up_to();
        bytes[at] = b'?';
        at += 1;
    }
}

fn plain(bytes: &[u8]) -> Cow<'_, str> {
    let text = String::from_utf8_lossy(bytes);
    if text.contains('\u{1b}') { without_codes(&text).into() } else { text }
}

/// Without the control sequences of terminals (ECMA-48, section 5.4): `ESC [`, parameters, a final letter.
fn without_codes(text: &str) -> String {
    let mut left = String::with_capacity(text.len());
    let mut signs = text.chars().peekable();
    while let Some(sign) = signs.next() {
        if sign != '\u{1b}' {
            left.push(sign);
        } else if signs.next_if_eq(&'[').is_some() {
            let _ = signs.by_ref().find(|sign| ('@'..='~').contains(sign));
        }
    }
    left
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(bytes: &[u8]) -> Vec<(String, bool)> {
        let mut input = bytes;
        let mut lines = Lines::new(&mut input);
        let mut read = Vec::new();
        while let Some((text, whole)) = lines.next().expect("no line is too long") {
            read.push((text.into_owned(), whole));
        }
        read
    }

    #[test]
    fn a_line_is_what_stands_before_its_end_and_the_last_may_have_none() {
        for (bytes, lines) in [
            (&b"a\nb\n"[..], vec![("a", true), ("b", true)]),
            (b"a\r\n\nb", vec![("a", true), ("", true), ("b", false)]),
            (b"", vec![]),
            (b"\x1b[1;31mred\x1b[0m\n", vec![("red", true)]),
            (b"\xff\xfe\n", vec![("\u{fffd}\u{fffd}", true)]),
        ] {
            let expected: Vec<(String, bool)> =
                lines.into_iter().map(|(text, whole)| (text.to_owned(), whole)).collect();
            assert_eq!(all(bytes), expected);
        }
    }

    #[test]
    fn a_long_line_of_what_is_no_text_does_not_grow() {
        let mut input = vec![0xff_u8; 2 * KEPT];
        input.extend("é\n".as_bytes());
        let expected = "?".repeat(2 * KEPT) + "é";
        assert!(all(&input) == [(expected, true)], "each byte is one sign");
    }

    #[test]
    fn the_digest_is_that_of_the_file() {
        let mut input = &b"abc"[..];
        let mut lines = Lines::new(&mut input);
        while lines.next().expect("short").is_some() {}
        // FIPS 180-2, appendix B.1.
        assert_eq!(lines.digest(), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    }

    #[test]
    fn a_line_without_end_is_given_up_before_it_fills_the_memory() {
        let mut input = io::BufReader::new(io::repeat(b'x'));
        let mut lines = Lines { longest: 100_000, ..Lines::new(&mut input) };
        assert!(matches!(lines.next(), Err(LineError::TooLong)));
    }
}
