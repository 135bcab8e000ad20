//! Determines the width of the output, and wraps or truncates lines.

use std::{borrow::Cow, env};

use console::Term;
use textwrap::{Options, WordSeparator, WordSplitter};

const PAGE: usize = 100;
/// Minimum and maximum width of a page, for readability.
const PAGES: (usize, usize) = (40, 120);
/// The first columns, time and event, are never dropped.
const LEAST: usize = 2;
/// Number of columns to leave empty, because some terminals wrap full rows.
const SPARE: usize = 2;
/// Stays at the end of a truncated line.
const MARK: &str = "  (warm-up)";

/// Returns the width of standard output, from `COLUMNS` or the terminal. `None` means unlimited.
pub(crate) fn of_output() -> Option<usize> {
    let variable = env::var("COLUMNS").ok().and_then(|columns| columns.parse().ok());
    let terminal = || Term::stdout().size_checked().map(|(_, columns)| usize::from(columns));
    variable.or_else(terminal).filter(|columns| *columns > 0)
}

pub(crate) fn of_notices() -> Option<usize> {
    Term::stderr().size_checked().map(|(_, columns)| usize::from(columns)).filter(|columns| *columns > 0)
}

pub(crate) fn wrapped(text: &str, width: Option<usize>) -> Cow<'_, str> {
    let Some(width) = width else { return text.into() };
    let options =
        breaking(width.max(PAGES.0).saturating_sub(SPARE)).subsequent_indent("  ").break_words(false);
    text.split('\n').map(|line| textwrap::fill(line, &options)).collect::<Vec<_>>().join("\n").into()
}

/// Wraps Markdown with hanging indents for list items.
pub(crate) fn wrapped_page(text: &str) -> String {
    let wrapped = |line: &str| {
        let item = line.trim_start();
        let marker = if item.starts_with("- ") { 2 } else { 0 };
        let indent = " ".repeat(line.len() - item.len() + marker);
        let options = breaking(of_page().saturating_sub(SPARE)).subsequent_indent(&indent).break_words(false);
        textwrap::fill(line, options)
    };
    text.split('\n').map(wrapped).collect::<Vec<_>>().join("\n")
}

/// Breaks lines only at spaces, so that paths and run names can be copied.
pub(crate) fn breaking(width: usize) -> Options<'static> {
    let options = Options::new(width).word_separator(WordSeparator::AsciiSpace);
    options.word_splitter(WordSplitter::NoHyphenation)
}

pub(crate) fn of_page() -> usize {
    let (least, most) = PAGES;
    of_output().unwrap_or(PAGE).clamp(least, most)
}

pub(crate) fn fit(line: &str, width: Option<usize>) -> String {
    let Some(width) = width.filter(|width| line.chars().count() > *width) else { return line.to_owned() };
    let (line, mark) = line.strip_suffix(MARK).map_or((line, ""), |line| (line, MARK));
    let room = width.saturating_sub(mark.len());
    let mut remaining = columns(line);
    while remaining.len() > LEAST && (remaining[remaining.len() - 1] > room || is_name(line, &remaining)) {
        remaining.pop();
    }
    let end = remaining.last().copied().unwrap_or_default();
    let cut: String = line.chars().take(end.min(room)).collect();
    cut + mark
}

fn columns(line: &str) -> Vec<usize> {
    let signs: Vec<char> = line.chars().collect();
    let ends = |at: usize| {
        signs[at - 1] != ' '
            && signs.get(at..at + 2).is_none_or(|gap| gap == [' ', ' '])
            && at != signs.len() - 1
    };
    (1..=signs.len()).filter(|at| ends(*at)).collect()
}

/// Returns whether the last column is a label without a value: a single word that starts with a letter.
fn is_name(line: &str, ends: &[usize]) -> bool {
    let [.., before, last] = ends else { return false };
    let column: String = line.chars().skip(*before).take(last - before).collect();
    let column = column.trim();
    !column.contains(' ') && column.starts_with(char::is_alphabetic)
}

#[cfg(test)]
mod tests {
    use super::*;

    const STREAM: &str =
        "    0.0-1.0 s  sent         49.3 Gbit/s   5.74 GiB  0 retransmits  cwnd 4.00 MiB  rtt 42.0 µs";
    const PING: &str =
        "    0.0-0.5 s     12080 round trips  p50 8.66 µs  p99  138 µs  max 4.12 ms  lost 0  (warm-up)";

    #[test]
    fn indents_continuation_lines_and_does_not_break_paths() {
        let text = "note: kept in a-folder/with-a-name/of-its-own; this run reads it\nend";
        assert_eq!(wrapped(text, None), text);
        let lines = "note: kept in\n  a-folder/with-a-name/of-its-own; this\n  run reads it\nend";
        assert_eq!(wrapped(text, Some(42)), lines);
    }

    #[test]
    fn removes_last_columns_of_long_lines() {
        assert_eq!(fit(STREAM, None), STREAM);
        assert_eq!(fit(STREAM, Some(200)), STREAM);
        for (width, expected) in [
            (80, "    0.0-1.0 s  sent         49.3 Gbit/s   5.74 GiB  0 retransmits  cwnd 4.00 MiB"),
            (60, "    0.0-1.0 s  sent         49.3 Gbit/s   5.74 GiB"),
            (40, "    0.0-1.0 s  sent         49.3 Gbit/s"),
            (10, "    0.0-1."),
        ] {
            assert_eq!(fit(STREAM, Some(width)), expected, "{width}");
        }
    }

    #[test]
    fn removes_labels_with_their_values_and_keeps_warm_up_mark() {
        for (width, expected) in [
            (70, "    0.0-0.5 s     12080 round trips  p50 8.66 µs  (warm-up)"),
            (75, "    0.0-0.5 s     12080 round trips  p50 8.66 µs  p99  138 µs  (warm-up)"),
        ] {
            assert_eq!(fit(PING, Some(width)), expected, "{width}");
        }
    }
}
