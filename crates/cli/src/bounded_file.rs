//! Texts that users name, read up to a limit: a device or a pipe may never end. Must not know what they say.

use std::{
    fs::File,
    io::{self, Error, ErrorKind, Read},
    path::Path,
};

/// The longest text: two hundred times the longest scenario that is built in.
const LONGEST: u64 = 1 << 20;

/// The whole text.
///
/// # Errors
/// When it is longer than a document can be, is not UTF-8, or cannot be read.
pub(crate) fn read(path: &Path) -> io::Result<String> {
    let mut bytes = Vec::new();
    File::open(path)?.take(LONGEST + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > LONGEST {
        let message = format!("it is longer than {LONGEST} bytes, the most that is read of such a file");
        return Err(Error::new(ErrorKind::FileTooLarge, message));
    }
    String::from_utf8(bytes).map_err(|_| Error::new(ErrorKind::InvalidData, "it is not UTF-8 text"))
}
