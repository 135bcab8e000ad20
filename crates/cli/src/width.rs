//! How wide what is printed may be, and lines that are wrapped or cut to it. Must not know what they say.

use std::{borrow::Cow, env};

use console::Term;
use textwrap::{Options, WordSeparator, WordSplitter};

/// Without a terminal a page is as wide as this.
const PAGE: usize = 100;
/// A page is at least and at most so wide: below, tables cannot be read, and above, lines cannot.
const PAGES: (usize, usize) = (40, 120);
/// Of a line that is too long so many columns stay at least: its time and what happened.
const LEAST: usize = 2;
/// A line of prose leaves the last columns free: what fills them may go on in the next row.
const SPARE: usize = 2;
/// What stands at the end of a line however narrow the terminal is.
const MARK: &str = "  (warm-up)";

/// Columns of standard output, as `COLUMNS` or the terminal says; `None` where there is no end.
pub(crate) fn of_output() -> Option<usize> {
    let said = env::var("COLUMNS").ok().and_then(|columns| columns.parse().ok());
    let terminal = || Term::stdout().size_checked().map(|(_, columns)| usize::from(columns));
    said.or_else(terminal).filter(|columns| *columns > 0)
}

/// Columns of standard error; `None` where it is no terminal.
pub(crate) fn of_notices() -> Option<usize> {
    Term::stderr().size_checked().map(|(_, columns)| usize::from(columns)).filter(|columns| *columns > 0)
}

/// Lines broken between words, what goes on indented.
pub(crate) fn wrapped(text: &str, width: Option<usize>) -> Cow<'_, str> {
    let Some(width) = width else { return text.into() };
    let options =
        breaking(width.max(PAGES.0).saturating_sub(SPARE)).subsequent_indent("  ").break_words(false);
    text.split('\n').map(|line| textwrap::fill(line, &options)).collect::<Vec<_>>().join("\n").into()
}

/// Breaks at spaces alone: a path or a run's name stays in one piece, to be copied.
pub(crate) fn breaking(width: usize) -> Options<'static> {
    let options = Options::new(width).word_separator(WordSeparator::AsciiSpace);
    options.word_splitter(WordSplitter::NoHyphenation)
}

/// The width of a page that is printed there.
pub(crate) fn of_page() -> usize {
    let (least, most) = PAGES;
    of_output().unwrap_or(PAGE).clamp(least, most)
}

/// A line of columns, with as many of them as there is room for; the last ones go first.
pub(crate) fn fit(line: &str, width: Option<usize>) -> String {
    let Some(width) = width.filter(|width| line.chars().count() > *width) else { return line.to_owned() };
    let (line, mark) = line.strip_suffix(MARK).map_or((line, ""), |line| (line, MARK));
    let room = width.saturating_sub(mark.len());
    let mut kept = columns(line);
    while kept.len() > LEAST && (kept[kept.len() - 1] > room || is_name(line, &kept)) {
        kept.pop();
    }
    let end = kept.last().copied().unwrap_or_default();
    let cut: String = line.chars().take(end.min(room)).collect();
    cut + mark
}

/// Where each column ends, in signs: two spaces stand between them.
fn columns(line: &str) -> Vec<usize> {
    let signs: Vec<char> = line.chars().collect();
    let ends = |at: usize| {
        signs[at - 1] != ' '
            && signs.get(at..at + 2).is_none_or(|gap| gap == [' ', ' '])
            && at != signs.len() - 1
    };
    (1..=signs.len()).filter(|at| ends(*at)).collect()
}

/// Whether the last column is the name of a value that went: one word, of letters first.
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
        "    0.0-1.0 s  sent         49.3 Gbit/s   5.74 GiB  0 sent again  cwnd 4.00 MiB  rtt 42.0 µs";
    const PING: &str =
        "    0.0-0.5 s     12080 round trips  p50 8.66 µs  p99  138 µs  max 4.12 ms  lost 0  (warm-up)";

    #[test]
    fn what_goes_on_is_indented_and_a_path_stays_in_one_piece() {
        let text = "note: kept in a-folder/with-a-name/of-its-own; this run reads it\nend";
        assert_eq!(wrapped(text, None), text);
        let lines = "note: kept in\n  a-folder/with-a-name/of-its-own; this\n  run reads it\nend";
        assert_eq!(wrapped(text, Some(42)), lines);
    }

    #[test]
    fn a_line_loses_its_last_columns_where_there_is_no_room_for_them() {
        assert_eq!(fit(STREAM, None), STREAM);
        assert_eq!(fit(STREAM, Some(200)), STREAM);
        for (width, expected) in [
            (80, "    0.0-1.0 s  sent         49.3 Gbit/s   5.74 GiB  0 sent again  cwnd 4.00 MiB"),
            (60, "    0.0-1.0 s  sent         49.3 Gbit/s   5.74 GiB"),
            (40, "    0.0-1.0 s  sent         49.3 Gbit/s"),
            (10, "    0.0-1."),
        ] {
            assert_eq!(fit(STREAM, Some(width)), expected, "{width}");
        }
    }

    #[test]
    fn no_name_is_left_without_its_value_and_the_warm_up_keeps_its_mark() {
        for (width, expected) in [
            (70, "    0.0-0.5 s     12080 round trips  p50 8.66 µs  (warm-up)"),
            (75, "    0.0-0.5 s     12080 round trips  p50 8.66 µs  p99  138 µs  (warm-up)"),
        ] {
            assert_eq!(fit(PING, Some(width)), expected, "{width}");
        }
    }
}
