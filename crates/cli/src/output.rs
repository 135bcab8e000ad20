//! Writes results to standard output, and everything else to standard error. Removes all terminal escape
//! sequences except plumb's own colours, because text from guests, agents, peers and files is untrusted.
//!
//! A closed pipe (`plumb report | head -1`) is not an error, but a full disk is.

use std::{
    borrow::Cow,
    env,
    fmt::Display,
    io::{self, ErrorKind, Write},
};

pub(crate) use ::report::harmless;

use crate::{named_database, width};

const COLOUR: &str = "\u{1b}[";

pub(crate) fn use_colours(enabled: Option<bool>) {
    if enabled == Some(false) && env::var_os("CLICOLOR_FORCE").is_none() {
        console::set_colors_enabled(false);
        console::set_colors_enabled_stderr(false);
    }
}

pub(crate) fn text(text: impl Display) -> io::Result<()> {
    write(&harmless(&text.to_string()))
}

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

pub(crate) fn line(line: impl Display) -> io::Result<()> {
    text(format_args!("{line}\n"))
}

pub(crate) fn prose(line: &str) -> io::Result<()> {
    self::line(width::wrapped(&harmless(&named_database::in_text(line)), width::of_output()))
}

/// Ignores write errors, because a run must continue even if the terminal is closed.
pub(crate) fn aside(line: impl Display) {
    coloured_aside(&harmless(&line.to_string()));
}

pub(crate) fn coloured_aside(line: &str) {
    let line = named_database::in_text(line);
    let _ = writeln!(io::stderr(), "{}", width::wrapped(&only_colours(&line), width::of_notices()));
}

/// Shows a temporary line at the bottom of the terminal, until the next call or `erase`.
pub(crate) fn passing(line: &str) {
    let room = width::of_notices().map_or(0, |width| width.saturating_sub(1));
    let shown: String = harmless(line).chars().take(room).collect();
    let _ = write!(io::stderr(), "\r{shown}\u{1b}[K");
}

pub(crate) fn erase() {
    let _ = write!(io::stderr(), "\r\u{1b}[K");
}

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
    fn keeps_only_colour_escapes() {
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
