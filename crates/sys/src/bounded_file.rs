//! Reads text files up to a size limit, because a device or pipe may never end, and a small file may decode to
//! gigabytes.

use std::fs::File;
use std::io::{self, Error, ErrorKind, Read};
use std::path::Path;

/// The size limit in bytes: 200 times the size of the longest built-in scenario.
const LONGEST: u64 = 1 << 20;

/// The memory limit in bytes for the text and decoded values of a document written by plumb, as estimated by
/// [`DecodedSize`]. A run of 1,000 trials has 50 MB of text and counts as 350 MB.
const MOST_MEMORY: u64 = 1 << 30;
const PIECE: usize = 64 << 10;
/// The estimated memory per byte of text. A growing buffer has up to twice the capacity it needs.
const TEXT: u64 = 2;
/// The estimated memory for a JSON object, in bytes. `{}` can decode to a struct of several hundred bytes.
const OBJECT: u64 = 512;
/// The estimated memory for any other JSON value, in bytes. A key with a number takes 80 to 130, and a number in
/// a list takes 8 to 32.
const VALUE: u64 = 64;

/// Reads a text document written by a user. Fails if the file exceeds the size limit, is not UTF-8, or cannot
/// be read.
#[expect(clippy::disallowed_methods, reason = "the size that is read is limited")]
pub fn read(path: &Path) -> io::Result<String> {
    read_opened(File::open(path)?)
}

pub fn read_opened(file: File) -> io::Result<String> {
    read_up_to(file, LONGEST)
}

/// Reads a document written by plumb: JSON, or HTML with embedded JSON. The decoded document must fit the memory
/// limit.
pub fn read_ours(mut input: impl Read) -> io::Result<String> {
    let (mut bytes, mut piece) = (Vec::new(), vec![0; PIECE]);
    let mut size = DecodedSize::default();
    loop {
        let read = match input.read(&mut piece) {
            Ok(0) => return text(bytes),
            Ok(read) => read,
            Err(error) if error.kind() == ErrorKind::Interrupted => continue,
            Err(error) => return Err(error),
        };
        size.add(&piece[..read]);
        if size.bytes > MOST_MEMORY {
            let message = format!(
                "decoding it would take more than {} MiB of memory, the limit for such a file (stopped after {} MiB of text)",
                MOST_MEMORY >> 20,
                (bytes.len() + read) >> 20
            );
            return Err(Error::new(ErrorKind::FileTooLarge, message));
        }
        bytes.extend_from_slice(&piece[..read]);
    }
}

fn read_up_to(input: impl Read, longest: u64) -> io::Result<String> {
    let mut bytes = Vec::new();
    input.take(longest + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > longest {
        let message = format!("it is longer than {longest} bytes, the maximum for such a file");
        return Err(Error::new(ErrorKind::FileTooLarge, message));
    }
    text(bytes)
}

fn text(bytes: Vec<u8>) -> io::Result<String> {
    String::from_utf8(bytes).map_err(|_| Error::new(ErrorKind::InvalidData, "it is not UTF-8 text"))
}

/// Estimates the memory for a JSON text and its decoded values while reading the text.
#[derive(Debug, Default)]
struct DecodedSize {
    bytes: u64,
    in_string: bool,
    is_escaped: bool,
}

impl DecodedSize {
    fn add(&mut self, piece: &[u8]) {
        self.bytes += TEXT * piece.len() as u64;
        for byte in piece {
            match (byte, self.in_string) {
                _ if self.is_escaped => self.is_escaped = false,
                (b'\\', true) => self.is_escaped = true,
                (b'"', _) => self.in_string = !self.in_string,
                (b'{', false) => self.bytes += OBJECT,
                (b'[' | b',', false) => self.bytes += VALUE,
                _ => {}
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn size(text: &str) -> u64 {
        let (mut whole, mut pieces) = (DecodedSize::default(), DecodedSize::default());
        whole.add(text.as_bytes());
        text.as_bytes().chunks(1).for_each(|piece| pieces.add(piece));
        assert_eq!(whole.bytes, pieces.bytes, "{text}");
        whole.bytes
    }

    #[test]
    fn ignores_brackets_and_commas_in_strings() {
        assert_eq!(size("[1,2]"), 5 * TEXT + 2 * VALUE);
        assert_eq!(size(r#"{"a":[{}]}"#), 10 * TEXT + 2 * OBJECT + VALUE);
        assert_eq!(size(r#""{[,\"{[,\\""#), 12 * TEXT);
        assert_eq!(size(r#""\\",{"#), 6 * TEXT + VALUE + OBJECT);
    }

    #[test]
    fn refuses_small_text_that_decodes_to_large_values() {
        for piece in ["{},", "[],", "0,", "\"\",", "\"a\":0,", "{\"trials\":[{\"warnings\":[{}]}]},"] {
            let error = read_ours(Repeated { piece, at: 0 }).expect_err(piece);
            assert!(error.to_string().contains("more than 1024 MiB of memory"), "{piece}: {error}");
        }
        assert_eq!(read_ours(&b"{\"header\":{}}"[..]).expect("is small"), "{\"header\":{}}");
    }

    struct Repeated {
        piece: &'static str,
        at: usize,
    }

    impl Read for Repeated {
        fn read(&mut self, to: &mut [u8]) -> io::Result<usize> {
            let piece = self.piece.as_bytes();
            for byte in to.iter_mut() {
                *byte = piece[self.at % piece.len()];
                self.at += 1;
            }
            Ok(to.len())
        }
    }
}
