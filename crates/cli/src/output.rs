//! Words for the user: results on standard output, everything else on standard error.
//!
//! A reader that goes away (`plumb report | head -1`) is no failure; a disk that is full is. Does not know
//! what is said.

use std::{
    borrow::Cow,
    fmt::Display,
    io::{self, ErrorKind, Write},
};

use crate::width;

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

/// Writes a line of prose of a result, wrapped where it is for a terminal.
pub(crate) fn prose(line: &str) -> io::Result<()> {
    self::line(width::wrapped(line, width::of_output()))
}

/// Says something beside the result. A terminal that is gone must not end a run, so nothing is made of that.
pub(crate) fn aside(line: impl Display) {
    let _ = writeln!(io::stderr(), "{}", width::wrapped(&line.to_string(), width::of_notices()));
}

/// A text that another machine wrote, with nothing in it that a terminal would obey but ends of lines.
pub(crate) fn harmless(text: &str) -> Cow<'_, str> {
    let obeyed = |sign: char| sign.is_control() && !matches!(sign, '\n' | '\t');
    if !text.contains(obeyed) {
        return text.into();
    }
    let mut shown = String::with_capacity(text.len() * 2);
    for sign in text.chars() {
        if obeyed(sign) { shown.extend(sign.escape_default()) } else { shown.push(sign) }
    }
    shown.into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_terminal_would_obey_is_shown_instead() {
        assert_eq!(harmless("two\n\tlines ü"), "two\n\tlines ü");
        assert_eq!(harmless("\u{1b}[2J\r\u{9b}x\u{7f}"), "\\u{1b}[2J\\r\\u{9b}x\\u{7f}");
    }
}
