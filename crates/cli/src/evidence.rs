//! A run as one file: its record, compressed (gzip of the JSON that `report --format raw` prints), alone or inside the page
//! that reports it, where it is nothing to a browser. Must not know what either says.

use std::io::{Read, Write};

use anyhow::Context;
use base64::{Engine, prelude::BASE64_STANDARD};
use flate2::{Compression, read::GzDecoder, write::GzEncoder};
use samples::RunRecord;

use crate::bounded_file;

const OPEN: &str = "<script type=\"application/gzip\" id=\"plumb-record\">";
const CLOSE: &str = "</script>";
const END_OF_PAGE: &str = "</body>";
/// A page with a longer one would be no page to mail.
const MOST: usize = 800 << 10;

/// How a packed record begins (RFC 1952).
pub(crate) const MAGIC: [u8; 2] = [0x1f, 0x8b];

/// A record as one file.
pub(crate) fn pack(record: &RunRecord) -> anyhow::Result<Vec<u8>> {
    let mut packer = GzEncoder::new(Vec::new(), Compression::best());
    serde_json::to_writer(&mut packer, record)?;
    packer.flush()?;
    Ok(packer.finish()?)
}

/// The text of a packed record.
///
/// # Errors
/// When it is damaged: gzip has a checksum of the whole; or longer than any record.
pub(crate) fn unpack(packed: impl Read) -> anyhow::Result<String> {
    // It may come from anywhere, and unpack to anything.
    Ok(bounded_file::read_ours(GzDecoder::new(packed))?)
}

/// A page with the record in it; as it was, and `false`, where that is too long.
pub(crate) fn embed(page: &str, record: &RunRecord) -> anyhow::Result<(String, bool)> {
    let packed = BASE64_STANDARD.encode(pack(record)?);
    let (Some(end), true) = (page.rfind(END_OF_PAGE), packed.len() <= MOST) else {
        return Ok((page.to_owned(), false));
    };
    let (before, after) = page.split_at(end);
    Ok((format!("{before}{OPEN}{packed}{CLOSE}\n{after}"), true))
}

/// The text of the record in a page; `None` where it has none.
///
/// # Errors
/// When it is damaged.
pub(crate) fn extract(page: &str) -> anyhow::Result<Option<String>> {
    let Some((_, rest)) = page.split_once(OPEN) else { return Ok(None) };
    let (packed, _) = rest.split_once(CLOSE).context("the record in the page is cut off")?;
    let packed = BASE64_STANDARD.decode(packed).context("the record in the page is damaged")?;
    unpack(&*packed).context("the record in the page is damaged").map(Some)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_without_a_record_or_with_a_broken_one_is_told_apart() {
        assert_eq!(extract("<html><body></body></html>").expect("nothing is wrong"), None);
        for broken in [format!("{OPEN}abc"), format!("{OPEN}?{CLOSE}"), format!("{OPEN}aGVsbG8={CLOSE}")] {
            assert!(extract(&broken).is_err(), "{broken}");
        }
    }
}
