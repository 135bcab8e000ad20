//! Writes the full form of a page as GitHub Flavored Markdown (<https://github.github.com/gfm/>).

mod escape;

use console::measure_text_width;

use self::escape::{fence, inline};
use super::{bars, escape::html};
use crate::page::{Align, Bars, Page, *};

const CHART: usize = 100;

pub(crate) fn markdown(page: &Page) -> String {
    let mut parts = vec![format!("# {}", inline(&Text::from(page.title.as_str())))];
    for section in &page.sections {
        parts.extend(section.title.iter().map(|title| format!("## {}", inline(&title.as_str().into()))));
        parts.extend(section.blocks.iter().map(block).filter(|text| !text.is_empty()));
    }
    parts.join("\n\n") + "\n"
}

fn block(block: &Block) -> String {
    match block {
        Block::Heading(text) | Block::Claim { text, .. } => {
            format!("### {}", inline(&Text::from(text.characters())))
        }
        Block::Paragraph(text) => inline(text),
        Block::Table(table) | Block::Results { table, .. } => self::table(table),
        Block::Chart(chart) => chart.plain.as_ref().map(self::bars).unwrap_or_default(),
        Block::Commands(commands) => fence("sh", commands),
        Block::Folded { title, blocks } => {
            let inner: Vec<String> = blocks.iter().map(self::block).filter(|text| !text.is_empty()).collect();
            if inner.is_empty() {
                return String::new();
            }
            let title = html(&title.characters());
            format!("<details>\n<summary>{title}</summary>\n\n{}\n\n</details>", inner.join("\n\n"))
        }
        Block::List(items) => lines(items.iter().map(|item| format!("- {}", inline(item)))),
        Block::KeyValues(pairs) => {
            // A row without a label continues the row above it.
            let mut label = "";
            let lines_of_pairs = pairs.iter().map(|(key, value)| {
                label = if key.is_empty() { label } else { key };
                format!("- **{}**: {}", inline(&label.into()), inline(value))
            });
            lines(lines_of_pairs)
        }
    }
}

fn bars(bars: &Bars) -> String {
    let lines: Vec<String> =
        bars::draw(bars, CHART).iter().map(|line| line.characters().trim_end().to_owned()).collect();
    fence("text", &lines)
}

fn table(table: &Table) -> String {
    let titles: Vec<String> =
        table.columns.iter().map(|column| cell(&column.title.as_str().into())).collect();
    let rows: Vec<Vec<String>> = table.rows.iter().map(|row| row.iter().map(cell).collect()).collect();
    let width = |index: usize| {
        let cells = rows.iter().chain([&titles]).map(|row| measure_text_width(&row[index]));
        cells.max().unwrap_or(0).max(3)
    };
    let widths: Vec<usize> = (0..titles.len()).map(width).collect();
    let rule =
        table.columns.iter().zip(&widths).map(|(column, width)| rule(column, *width)).collect::<Vec<_>>();
    let all = [&titles, &rule].into_iter().chain(&rows).map(|cells| row(cells, &table.columns, &widths));
    let table_lines = lines(all);
    match &table.caption {
        Some(caption) => format!("{table_lines}\n\n{}", inline(caption)),
        None => table_lines,
    }
}

/// Escapes pipes, because a pipe ends a cell even inside a code span.
fn cell(text: &Text) -> String {
    inline(text).replace('|', "\\|")
}

fn rule(column: &Column, width: usize) -> String {
    match column.align {
        Align::Left => format!(":{}", "-".repeat(width - 1)),
        Align::Right => format!("{}:", "-".repeat(width - 1)),
    }
}

fn row(cells: &[String], columns: &[Column], widths: &[usize]) -> String {
    let padded = cells.iter().zip(columns).zip(widths).map(|((cell, column), width)| {
        let padding = " ".repeat(width.saturating_sub(measure_text_width(cell)));
        match column.align {
            Align::Left => format!("{cell}{padding}"),
            Align::Right => format!("{padding}{cell}"),
        }
    });
    format!("| {} |", padded.collect::<Vec<_>>().join(" | "))
}

fn lines(lines: impl Iterator<Item = String>) -> String {
    lines.collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::page::{left, right};

    #[test]
    fn escapes_pipe_in_a_table_cell() {
        let table = Table {
            columns: vec![left("Path"), right("Rate")],
            rows: vec![vec![Text::code("a|b"), "1".into()]],
            caption: None,
        };
        assert_eq!(super::table(&table), "| Path   | Rate |\n| :----- | ---: |\n| `a\\|b` |    1 |");
    }

    #[test]
    fn folds_blocks_into_details_elements() {
        let folded = Block::Folded { title: "a <b>".into(), blocks: vec![Block::List(vec!["one".into()])] };
        assert_eq!(block(&folded), "<details>\n<summary>a &lt;b&gt;</summary>\n\n- one\n\n</details>");
    }
}
