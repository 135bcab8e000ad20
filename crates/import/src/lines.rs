//! Splits bytes into lines of bounded length, replacing invalid UTF-8 and removing terminal escape codes.

use std::{
    borrow::Cow,
    io::{self, BufRead},
};

use sha2::{Digest, Sha256};

/// In bytes. A JSON document may be a single line.
pub(crate) const LONGEST: usize = 32 << 20;

/// The buffer is freed after a line that made it grow beyond this capacity.
const RETAINED: usize = 64 << 10;

pub(crate) struct Lines<'a> {
    input: &'a mut dyn BufRead,
    digest: Sha256,
    bytes: Vec<u8>,
    longest: usize,
    pub(crate) number: u64,
}

#[derive(Debug)]
pub(crate) enum LineError {
    Read(io::Error),
    TooLong,
}

impl<'a> Lines<'a> {
    pub(crate) fn new(input: &'a mut dyn BufRead) -> Self {
        Self { input, digest: Sha256::new(), bytes: Vec::new(), longest: LONGEST, number: 0 }
    }

    pub(crate) fn next(&mut self) -> Result<Option<(Cow<'_, str>, bool)>, LineError> {
        self.bytes.clear();
        self.bytes.shrink_to(RETAINED);
        let whole = self.fill()?;
        if self.bytes.is_empty() && !whole {
            return Ok(None);
        }
        self.number += 1;
        let ends = |byte: &u8| *byte == b'\r';
        while self.bytes.last().is_some_and(ends) {
            self.bytes.pop();
        }
        if self.bytes.len() > RETAINED {
            replace_in_place(&mut self.bytes);
        }
        Ok(Some((plain(&self.bytes), whole)))
    }

    pub(crate) fn digest(self) -> String {
        self.digest.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
    }

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

/// Replaces each invalid byte with `?`, because U+FFFD would triple the length.
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

/// Removes terminal control sequences (ECMA-48, section 5.4): `ESC [`, parameters and a final letter.
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
    fn splits_lines_and_accepts_missing_final_newline() {
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
    fn invalid_utf8_does_not_grow_a_long_line() {
        let mut input = vec![0xff_u8; 2 * RETAINED];
        input.extend("é\n".as_bytes());
        let expected = "?".repeat(2 * RETAINED) + "é";
        assert!(all(&input) == [(expected, true)], "one character per byte");
    }

    #[test]
    fn digest_is_the_sha256_of_the_file() {
        let mut input = &b"abc"[..];
        let mut lines = Lines::new(&mut input);
        while lines.next().expect("short").is_some() {}
        // FIPS 180-2, appendix B.1.
        assert_eq!(lines.digest(), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    }

    #[test]
    fn rejects_endless_line_before_memory_fills() {
        let mut input = io::BufReader::new(io::repeat(b'x'));
        let mut lines = Lines { longest: 100_000, ..Lines::new(&mut input) };
        assert!(matches!(lines.next(), Err(LineError::TooLong)));
    }
}
