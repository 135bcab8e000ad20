//! Words for the user: results on standard output, everything else on standard error. What others wrote (guests' consoles, agents,
//! peers, files) may be anywhere in them: nothing that a terminal would obey leaves here but colours that were put on here.
//!
//! A reader that goes away (`plumb report | head -1`) is no failure; a disk that is full is. Does not know
//! what is said.

use std::{
    borrow::Cow,
    env,
    fmt::Display,
    io::{self, ErrorKind, Write},
};

pub(crate) use ::report::harmless;

use crate::width;

/// What a colour begins with (ECMA-48, SGR).
const COLOUR: &str = "\u{1b}[";

/// Takes colours away where the user's file says so; a terminal without them has none, and the environment goes before.
pub(crate) fn use_colours(wanted: Option<bool>) {
    if wanted == Some(false) && env::var_os("CLICOLOR_FORCE").is_none() {
        console::set_colors_enabled(false);
        console::set_colors_enabled_stderr(false);
    }
}

/// Writes a result.
pub(crate) fn text(text: impl Display) -> io::Result<()> {
    write(&harmless(&text.to_string()))
}

/// Writes a result with colours on it, which is made of harmless texts.
pub(crate) fn coloured(text: &str) -> io::Result<()> {
    write(&only_colours(text))
}

fn write(text: &str) -> io::Result<()> {
    let mut output = io::stdout().lock();
    match output.write_all(text.as_bytes()).and_then(|()| output.flush()) {
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
    self::line(width::wrapped(&harmless(line), width::of_output()))
}

/// Says something beside the result. A terminal that is gone must not end a run, so nothing is made of that.
pub(crate) fn aside(line: impl Display) {
    coloured_aside(&harmless(&line.to_string()));
}

/// The same with colours on it, made of harmless texts.
pub(crate) fn coloured_aside(line: &str) {
    let _ = writeln!(io::stderr(), "{}", width::wrapped(&only_colours(line), width::of_notices()));
}

/// Says something in the terminal's last row, which the next of its kind, or `erase`, takes away.
pub(crate) fn passing(line: &str) {
    let room = width::of_notices().map_or(0, |width| width.saturating_sub(1));
    let shown: String = harmless(line).chars().take(room).collect();
    let _ = write!(io::stderr(), "\r{shown}\u{1b}[K");
}

/// Takes away what was said in passing.
pub(crate) fn erase() {
    let _ = write!(io::stderr(), "\r\u{1b}[K");
}

/// A text as it is but for what a terminal would obey beside colours.
pub(crate) fn only_colours(text: &str) -> Cow<'_, str> {
    let mut pieces = text.split(COLOUR);
    let plain = pieces.next().unwrap_or_default();
    let mut shown = harmless(plain);
    for piece in pieces {
        let end = piece.find(|sign: char| !sign.is_ascii_digit() && sign != ';').unwrap_or(piece.len());
        let is_colour = piece[end..].starts_with('m');
        let shown = shown.to_mut();
        shown.push_str(if is_colour { COLOUR } else { "\\u001b[" });
        shown.push_str(&harmless(piece));
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colours_stay_where_they_were_put_on_and_nothing_else_does() {
        let page = "\u{1b}[1mbold\u{1b}[0m and \u{1b}[38;5;208morange\u{1b}[0m\n";
        assert_eq!(only_colours(page), page);
        for (text, shown) in [
            ("\u{1b}[2J", "\\u001b[2J"),
            ("\u{1b}[31", "\\u001b[31"),
            ("\u{1b}[?1049h\u{1b}[1mx", "\\u001b[?1049h\u{1b}[1mx"),
            ("\u{1b}]0;title\u{7}", "\\u001b]0;title\\u0007"),
            ("\u{1b}\u{1b}[1m", "\\u001b\u{1b}[1m"),
            ("\u{9b}1m\u{202e}", "\\u009b1m\\u202e"),
        ] {
            assert_eq!(only_colours(text), shown, "{text:?}");
        }
    }
}
