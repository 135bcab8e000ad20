//! Decompresses gzip while reading, because flent compresses its files.

use std::io::{self, BufRead, BufReader};

use flate2::bufread::MultiGzDecoder;

/// RFC 1952, section 2.3.1.
const MAGIC: [u8; 2] = [0x1f, 0x8b];

pub(crate) fn begins(input: &mut dyn BufRead) -> io::Result<bool> {
    Ok(input.fill_buf()?.starts_with(&MAGIC))
}

pub(crate) fn unpack(input: &mut dyn BufRead) -> BufReader<MultiGzDecoder<&mut dyn BufRead>> {
    BufReader::new(MultiGzDecoder::new(input))
}
