//! Splits a table row into cells and removes inline markup (GitHub Flavored Markdown,
//! <https://github.github.com/gfm/#tables-extension->).

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Row {
    pub(super) cells: Vec<String>,
    pub(super) closed: bool,
}

pub(super) fn row(line: &str) -> Option<Row> {
    let bars;
    let line = if !line.is_ascii() && line.contains(['│', '┃', '║']) {
        bars = line.replace(['│', '┃', '║'], "|");
        &bars
    } else {
        line
    };
    if !line.contains('|') {
        return None;
    }
    let mut cells = split(line.trim());
    if cells.len() < 2 {
        return None;
    }
    let opened = cells.first().is_some_and(|cell| cell.trim().is_empty());
    let closed = cells.last().is_some_and(|cell| cell.trim().is_empty());
    if closed {
        cells.pop();
    }
    let cells: Vec<String> = cells.iter().skip(usize::from(opened)).map(|cell| plain(cell)).collect();
    (!cells.is_empty()).then_some(Row { cells, closed })
}

/// Splits aligned text at tabs or at least two spaces.
pub(super) fn aligned(line: &str) -> Option<Row> {
    let cells: Vec<String> = line
        .trim()
        .split(['\t'])
        .flat_map(|part| part.split("  "))
        .map(plain)
        .filter(|cell| !cell.is_empty())
        .collect();
    (cells.len() > 1).then_some(Row { cells, closed: false })
}

pub(super) fn separated(line: &str) -> Option<Row> {
    let line = line.trim();
    let cells: Vec<String> = line.trim_end_matches(',').split(',').map(plain).collect();
    (cells.len() > 1 && !line.contains(['{', '}', ';'])).then_some(Row { cells, closed: line.ends_with(',') })
}

/// Parses a box's horizontal rule: `+---+---+`, `+===+===+`, `├───┼───┤`, or at least 20 dashes.
pub(super) fn box_rule(line: &str) -> Option<BoxRule> {
    const JOINTS: &str = "+┌┬┐├┼┤└┴┘╔╦╗╠╬╣╚╩╝╭╮╰╯";
    const LINES: &str = "-─━═=";
    let line = line.trim();
    let (first, mut signs) = (line.chars().next()?, line.chars());
    let is_box = JOINTS.contains(first) && line.chars().count() > 2;
    let is_line = line.len() >= 20 && line.bytes().all(|byte| byte == b'-');
    let fits = signs.all(|sign| JOINTS.contains(sign) || LINES.contains(sign));
    ((is_box || is_line) && fits).then_some(BoxRule { under_heading: line.contains('=') })
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct BoxRule {
    /// `===` follows the heading of a reStructuredText grid, in which every row has a rule below.
    pub(super) under_heading: bool,
}

pub(super) fn rule(line: &str) -> Option<usize> {
    let is_rule = |cell: &String| {
        let dashes = cell.strip_prefix(':').unwrap_or(cell);
        let dashes = dashes.strip_suffix(':').unwrap_or(dashes);
        !dashes.is_empty() && dashes.bytes().all(|byte| byte == b'-')
    };
    let row = row(line).filter(|row| row.cells.iter().all(is_rule))?;
    Some(row.cells.len())
}

pub(super) fn plain(text: &str) -> String {
    let text = text.replace("\\|", "|").replace("**", "").replace("__", "").replace(['`', '\u{a0}'], " ");
    let mut text = text.trim();
    for mark in ["~~", "*", "_"] {
        let inner = text.strip_prefix(mark).and_then(|text| text.strip_suffix(mark));
        text = inner.filter(|inner| !inner.is_empty()).map_or(text, str::trim);
    }
    let text =
        text.trim_start_matches(|sign: char| ('\u{2600}'..='\u{27bf}').contains(&sign) || sign > '\u{fe00}');
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn split(line: &str) -> Vec<&str> {
    let mut parts = Vec::new();
    let (mut begin, mut escaped) = (0, false);
    for (at, byte) in line.bytes().enumerate() {
        if byte == b'|' && !escaped {
            parts.push(&line[begin..at]);
            begin = at + 1;
        }
        escaped = byte == b'\\' && !escaped;
    }
    parts.push(&line[begin..]);
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn splits_cells_and_removes_markup() {
        for (line, cells, closed) in [
            ("| 1     | 2       | 25.8  |", vec!["1", "2", "25.8"], true),
            ("| **BM-BM** | **23.5 Gbits/sec** | 6,408 |", vec!["BM-BM", "23.5 Gbits/sec", "6,408"], true),
            ("a | b", vec!["a", "b"], false),
            ("| a | b", vec!["a", "b"], false),
            ("| `a\\|b` | | *c* |", vec!["a|b", "", "c"], true),
            ("| one |", vec!["one"], true),
        ] {
            let row = row(line).unwrap_or_else(|| panic!("{line} has cells"));
            assert_eq!(
                (row.cells, row.closed),
                (cells.into_iter().map(str::to_owned).collect(), closed),
                "{line}"
            );
        }
        for line in ["", "text", "|", "a \\| b"] {
            assert_eq!(row(line), None, "{line}");
        }
    }

    #[test]
    fn recognizes_delimiter_rows() {
        for (line, columns) in
            [("|---|:-:|--:|", Some(3)), ("- | -", Some(2)), ("| - | a |", None), ("---", None)]
        {
            assert_eq!(rule(line), columns, "{line}");
        }
        assert_eq!(rule("| : | --- |"), None);
        for (line, under_heading) in [("+---+--+", false), ("+===+==+", true), ("├──┼──┤", false)]
        {
            assert_eq!(box_rule(line), Some(BoxRule { under_heading }), "{line}");
        }
        for line in ["----", "- - - - - - - - - - -", "+1", "text"] {
            assert_eq!(box_rule(line), None, "{line}");
        }
    }

    #[test]
    fn splits_aligned_and_separated_text() {
        let cells = |row: Option<Row>| row.map(|row| row.cells).unwrap_or_default();
        assert_eq!(
            cells(aligned("64   82.0 us    97.0 Mbits/sec  (0%)")),
            ["64", "82.0 us", "97.0 Mbits/sec", "(0%)"]
        );
        assert_eq!(cells(separated("1 a ,24.5,22,")), ["1 a", "24.5", "22"]);
        assert_eq!((aligned("one sentence"), separated("f(a, b);")), (None, None));
        assert_eq!(cells(row("📋 pod │ 9.4")), ["pod", "9.4"]);
    }
}
