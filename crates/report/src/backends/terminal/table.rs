//! Lays out tables in columns. If the columns do not fit, each row becomes key-value pairs.

use std::cmp::Reverse;

use super::wrap::{Line, extent, indented, width_of, wrap};
use crate::{
    page::{Align, *},
    text::Span,
};

const GAP: usize = 2;
const INDENT: usize = 2;
const SHORT_WORD: usize = 8;
/// If a row needs more lines than this, rows become key-value pairs.
const MOST_LINES: usize = 4;
const WIDE: usize = 5;

pub(super) fn lay_out(table: &Table, width: usize) -> Vec<Line> {
    let mut lines = match widths(table, width) {
        Some(widths) if !is_torn(table, &widths) => columns(table, &widths),
        _ => stacked(table, width),
    };
    lines.extend(table.caption.iter().flat_map(|caption| wrap(caption, width)));
    lines
}

fn is_torn(table: &Table, widths: &[usize]) -> bool {
    let lines = |row: &Vec<Text>| row.iter().zip(widths).map(|(cell, width)| wrap(cell, *width).len()).max();
    widths.len() >= WIDE && table.rows.iter().filter_map(lines).any(|lines| lines > MOST_LINES)
}

pub(super) fn key_values(pairs: &[(String, Text)], width: usize) -> Vec<Line> {
    let natural = pairs.iter().map(|(key, _)| extent(&key.as_str().into()).1).max().unwrap_or(0);
    let keys = natural.min(width / 3);
    let pair = |(key, value): &(String, Text)| {
        let row = [Text::faint(key), value.clone()];
        let aligns = [Align::Left, Align::Left];
        side_by_side(&row, &[keys, width.saturating_sub(keys + GAP)], &aligns)
    };
    pairs.iter().flat_map(pair).collect()
}

fn widths(table: &Table, width: usize) -> Option<Vec<usize>> {
    let room = width.checked_sub(GAP * table.columns.len().saturating_sub(1))?;
    let extents: Vec<Extent> = (0..table.columns.len()).map(|index| Extent::of(table, index)).collect();
    let mut widths: Vec<usize> = extents.iter().map(Extent::natural).collect();
    while widths.iter().sum::<usize>() > room {
        let shrinkable = (0..widths.len()).filter(|&index| widths[index] > extents[index].word);
        // Shrink the column in which the fewest cells have to wrap.
        let cheapest = shrinkable
            .min_by_key(|&index| (extents[index].wrapped_at(widths[index] - 1), Reverse(widths[index])))?;
        widths[cheapest] -= 1;
    }
    Some(widths)
}

struct Extent {
    title: usize,
    cells: Vec<usize>,
    word: usize,
}

impl Extent {
    fn of(table: &Table, index: usize) -> Self {
        let (title_word, title) = extent(&title(&table.columns[index]));
        let (words, cells): (Vec<usize>, Vec<usize>) =
            table.rows.iter().map(|row| extent(&row[index])).unzip();
        Self { title, cells, word: words.into_iter().fold(title_word, usize::max) }
    }

    fn natural(&self) -> usize {
        self.cells.iter().copied().fold(self.title, usize::max)
    }

    fn wrapped_at(&self, width: usize) -> usize {
        self.cells.iter().filter(|&&cell| cell > width).count()
    }
}

fn columns(table: &Table, widths: &[usize]) -> Vec<Line> {
    let aligns: Vec<Align> = table.columns.iter().map(|column| column.align).collect();
    let titles: Vec<Text> = table.columns.iter().map(title).collect();
    let rule = "─".repeat(widths.iter().sum::<usize>() + GAP * widths.len().saturating_sub(1));
    let mut lines = side_by_side(&titles, widths, &aligns);
    lines.push(vec![Span { text: rule, tone: Tone::Faint }]);
    lines.extend(table.rows.iter().flat_map(|row| side_by_side(row, widths, &aligns)));
    lines
}

/// Allows breaks at hyphens only in long words, so that units such as `CPU-s/GB` stay whole.
fn title(column: &Column) -> Text {
    let long = |word: &str| word.chars().count() > SHORT_WORD;
    let words: Vec<String> = column
        .title
        .split(' ')
        .map(|word| if long(word) { softened(word) } else { word.to_owned() })
        .collect();
    Text::faint(words.join(" "))
}

fn side_by_side(row: &[Text], widths: &[usize], aligns: &[Align]) -> Vec<Line> {
    let cells: Vec<Vec<Line>> = row.iter().zip(widths).map(|(cell, width)| wrap(cell, *width)).collect();
    let height = cells.iter().map(Vec::len).max().unwrap_or(0);
    let nothing = Line::new();
    let line = |height: usize| {
        let mut line = Line::new();
        for ((cell, width), align) in cells.iter().zip(widths).zip(aligns) {
            if !line.is_empty() {
                line.push(blank(GAP));
            }
            line.extend(padded(cell.get(height).unwrap_or(&nothing), *width, *align));
        }
        line
    };
    (0..height).map(line).collect()
}

fn padded(cell: &Line, width: usize, align: Align) -> Line {
    let padding = blank(width.saturating_sub(width_of(cell)));
    match align {
        Align::Left => [cell.clone(), vec![padding]].concat(),
        Align::Right => [vec![padding], cell.clone()].concat(),
    }
}

fn blank(columns: usize) -> Span {
    Span { text: " ".repeat(columns), tone: Tone::Plain }
}

fn stacked(table: &Table, width: usize) -> Vec<Line> {
    let row = |row: &Vec<Text>| {
        let named = |(column, cell): (&Column, &Text)| (column.title.clone(), cell.clone());
        let cells = table.columns.iter().zip(row).skip(1).filter(|(_, cell)| !cell.0.is_empty());
        let pairs: Vec<_> = cells.map(named).collect();
        let head = row.first().map(|cell| wrap(cell, width)).unwrap_or_default();
        [head, indented(key_values(&pairs, width.saturating_sub(INDENT)), INDENT)].concat()
    };
    table.rows.iter().flat_map(row).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::page::{left, right};

    fn check(rows: &[[&str; 3]], width: usize, expected: &[&str]) {
        let table = Table {
            columns: vec![left("Path"), left("MTU"), right("Received")],
            rows: rows.iter().map(|row| row.map(Text::from).to_vec()).collect(),
            caption: None,
        };
        let lines = lay_out(&table, width);
        let lines: Vec<String> =
            lines.into_iter().map(|line| Text(line).characters().trim_end().to_owned()).collect();
        assert_eq!(lines, expected);
    }

    #[test]
    fn aligns_columns_as_requested() {
        let expected = [
            "Path   MTU   Received",
            "─────────────────────",
            "wire   1500      33.0",
            "vxlan  1450       9.1",
        ];
        check(&[["wire", "1500", "33.0"], ["vxlan", "1450", "9.1"]], 60, &expected);
    }

    #[test]
    fn wraps_widest_column_first() {
        let rows = [["a path of many words", "1500", "33.0"]];
        let expected = [
            "Path          MTU   Received",
            "────────────────────────────",
            "a path of     1500      33.0",
            "many words",
        ];
        check(&rows, 28, &expected);
    }

    #[test]
    fn wraps_columns_with_few_long_cells_first() {
        let rows = [["wire", "within noise", "33.0 Gbit/s"], ["vxlan", "lower", "30.1 Gbit/s"]];
        let expected = [
            "Path   MTU        Received",
            "──────────────────────────",
            "wire   within  33.0 Gbit/s",
            "       noise",
            "vxlan  lower   30.1 Gbit/s",
        ];
        check(&rows, 26, &expected);
    }

    #[test]
    fn stacks_rows_if_columns_do_not_fit() {
        check(&[["wire", "1500", "33.0"]], 14, &["wire", "  MTU   1500", "  Rece  33.0", "  ived"]);
    }

    #[test]
    fn stacks_rows_that_need_many_lines() {
        let row = ["wire", "1 2 3 4 5 6 7 8 9", "a", "b", "c"].map(Text::from).to_vec();
        let columns = ["Path", "Note", "One", "Two", "Three"].map(left).to_vec();
        let table = Table { columns, rows: vec![row], caption: None };
        let height = |width| lay_out(&table, width).len();
        assert_eq!((height(60), height(27)), (3, 5));
    }

    #[test]
    fn aligns_wide_characters() {
        let expected = [
            "Path      MTU   Received",
            "────────────────────────",
            "네트워크  1500         1",
            "wire      1500         2",
        ];
        check(&[["네트워크", "1500", "1"], ["wire", "1500", "2"]], 60, &expected);
    }
}
