//! Stores a run record as the gzipped JSON of `report --format raw`, either in a separate file or in a report page,
//! where browsers ignore it.

use std::io::{Read, Write};

use anyhow::{Context, Result};
use base64::{Engine, prelude::BASE64_STANDARD};
use flate2::{Compression, read::GzDecoder, write::GzEncoder};
use samples::RunRecord;

use crate::bounded_file;

const OPEN: &str = "<script type=\"application/gzip\" id=\"plumb-record\">";
const CLOSE: &str = "</script>";
const END_OF_PAGE: &str = "</body>";
/// Maximum size of an embedded record in bytes. Larger pages would be difficult to send by email.
const MOST: usize = 800 << 10;

/// gzip magic number (RFC 1952).
pub(crate) const MAGIC: [u8; 2] = [0x1f, 0x8b];

pub(crate) fn pack(record: &RunRecord) -> Result<Vec<u8>> {
    let mut packer = GzEncoder::new(Vec::new(), Compression::best());
    serde_json::to_writer(&mut packer, record)?;
    packer.flush()?;
    Ok(packer.finish()?)
}

pub(crate) fn unpack(packed: impl Read) -> Result<String> {
    // Limit the size, because a small untrusted file may decompress to a huge one.
    Ok(bounded_file::read_ours(GzDecoder::new(packed))?)
}

/// Adds the record to a page. If the record is too large, returns the unchanged page and `false`.
pub(crate) fn embed(page: &str, record: &RunRecord) -> Result<(String, bool)> {
    let packed = BASE64_STANDARD.encode(pack(record)?);
    let (Some(end), true) = (page.rfind(END_OF_PAGE), packed.len() <= MOST) else {
        return Ok((page.to_owned(), false));
    };
    let (before, after) = page.split_at(end);
    Ok((format!("{before}{OPEN}{packed}{CLOSE}\n{after}"), true))
}

pub(crate) fn extract(page: &str) -> Result<Option<String>> {
    let Some((_, rest)) = page.split_once(OPEN) else { return Ok(None) };
    let (packed, _) = rest.split_once(CLOSE).context("the record in the page is truncated")?;
    let packed = BASE64_STANDARD.decode(packed).context("the record in the page is damaged")?;
    unpack(&*packed).context("the record in the page is damaged").map(Some)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distinguishes_missing_from_damaged_record() {
        assert_eq!(extract("<html><body></body></html>").expect("no error"), None);
        for broken in [format!("{OPEN}abc"), format!("{OPEN}?{CLOSE}"), format!("{OPEN}aGVsbG8={CLOSE}")] {
            assert!(extract(&broken).is_err(), "{broken}");
        }
    }
}
