//! Texts that users name, read up to a limit: a device or a pipe may never end. Must not know what they say.

use std::{
    fs::File,
    io::{self, Error, ErrorKind, Read},
    path::Path,
};

/// The longest text: two hundred times the longest scenario that is built in.
const LONGEST: u64 = 1 << 20;

/// The longest of those that plumb writes itself: a run of a thousand trials has some 50 MB.
const LONGEST_OF_OURS: u64 = 1 << 30;

/// The whole text of a document that users write.
///
/// # Errors
/// When it is longer than a document can be, is not UTF-8, or cannot be read.
pub(crate) fn read(path: &Path) -> io::Result<String> {
    read_up_to(File::open(path)?, LONGEST)
}

/// The whole text of a document that plumb has written.
///
/// # Errors
/// As those of [`read`].
pub(crate) fn read_ours(input: impl Read) -> io::Result<String> {
    read_up_to(input, LONGEST_OF_OURS)
}

fn read_up_to(input: impl Read, longest: u64) -> io::Result<String> {
    let mut bytes = Vec::new();
    input.take(longest + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > longest {
        let message = format!("it is longer than {longest} bytes, the most that is read of such a file");
        return Err(Error::new(ErrorKind::FileTooLarge, message));
    }
    String::from_utf8(bytes).map_err(|_| Error::new(ErrorKind::InvalidData, "it is not UTF-8 text"))
}
