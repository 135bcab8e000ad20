//! Words for the user: results on standard output, everything else on standard error.
//!
//! A reader that goes away (`plumb report | head -1`) is no failure; a disk that is full is. Does not know
//! what is said.

use std::{
    fmt::Display,
    io::{self, ErrorKind, Write},
};

/// Writes a result as it is.
pub(crate) fn text(text: impl Display) -> io::Result<()> {
    let mut output = io::stdout().lock();
    match write!(output, "{text}").and_then(|()| output.flush()) {
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(()),
        written => written.map_err(|error| {
            io::Error::new(error.kind(), format!("cannot write to standard output: {error}"))
        }),
    }
}

/// Writes a line of a result.
pub(crate) fn line(line: impl Display) -> io::Result<()> {
    text(format_args!("{line}\n"))
}

/// Says something beside the result. A terminal that is gone must not end a run, so nothing is made of that.
pub(crate) fn aside(line: impl Display) {
    let _ = writeln!(io::stderr(), "{line}");
}
