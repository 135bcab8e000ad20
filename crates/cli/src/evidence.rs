//! A run's record inside the page that reports it, so that the page can be read back: compressed, and nothing to a browser.
//! Must not know what either says.

use std::io::{Read, Write};

use anyhow::Context;
use base64::{Engine, prelude::BASE64_STANDARD};
use flate2::{Compression, read::GzDecoder, write::GzEncoder};
use samples::RunRecord;

const OPEN: &str = "<script type=\"application/gzip\" id=\"plumb-record\">";
const CLOSE: &str = "</script>";
const END_OF_PAGE: &str = "</body>";
/// A page with a longer one would be no page to mail.
const MOST: usize = 800 << 10;
/// What a page unpacks to at most: it may come from anywhere.
const MOST_UNPACKED: u64 = 1 << 30;

/// A page with the record in it; as it was, and `false`, where that is too long.
pub(crate) fn embed(page: &str, record: &RunRecord) -> anyhow::Result<(String, bool)> {
    let mut packer = GzEncoder::new(Vec::new(), Compression::best());
    serde_json::to_writer(&mut packer, record)?;
    packer.flush()?;
    let packed = BASE64_STANDARD.encode(packer.finish()?);
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
    let mut text = String::new();
    let mut unpacker = GzDecoder::new(&*packed).take(MOST_UNPACKED);
    unpacker.read_to_string(&mut text).context("the record in the page is damaged")?;
    Ok(Some(text))
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
