//! Files that come compressed, as flent writes them: unpacked on the way in, never as a whole.
//! Must not know what is in them.

use std::io::{self, BufRead, BufReader};

use flate2::bufread::MultiGzDecoder;

/// What gzip files begin with (RFC 1952, section 2.3.1).
const MAGIC: [u8; 2] = [0x1f, 0x8b];

/// Whether the input is compressed.
///
/// # Errors
/// When it cannot be read.
pub(crate) fn begins(input: &mut dyn BufRead) -> io::Result<bool> {
    Ok(input.fill_buf()?.starts_with(&MAGIC))
}

/// The same unpacked.
pub(crate) fn unpack(input: &mut dyn BufRead) -> BufReader<MultiGzDecoder<&mut dyn BufRead>> {
    BufReader::new(MultiGzDecoder::new(input))
}
