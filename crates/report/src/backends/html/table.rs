//! Tables. On screens that are too narrow, rows become lists of labelled values.

use std::collections::BTreeSet;

use super::{super::escape::html, anchors::Anchors, inline};
use crate::{
    chart::{self, Weight},
    page::{Align, *},
    text::{GLUE, SOFT},
};

/// Sizes in CSS pixels, as in the style sheet.
const FONT: f64 = 14.0;
const PADDING: f64 = 8.0;
const REM: f64 = 16.0;
/// Tables change their layout at multiples of this width, in rem.
const STEP: u32 = 2;
/// Maximum width of a table, in rem.
const MOST: u32 = 66;
/// Minimum width of a screen, in rem.
const SMALL: u32 = 18;
/// Words with more characters than this may break anywhere.
const LONG: usize = 24;

#[derive(Debug, Default)]
pub(super) struct Tables {
    /// Maximum screen widths at which tables become lists, in rem.
    limits: BTreeSet<u32>,
    columns: usize,
}

impl Tables {
    pub(super) fn table(&mut self, table: &Table, anchors: &[String], findings: &[Vec<String>]) -> String {
        let limit = self.limit(table);
        let heads: String = table
            .columns
            .iter()
            .map(|column| {
                format!("<th scope=\"col\"{}>{}</th>", class(column, None), breakable(&html(&column.title)))
            })
            .collect();
        let cell = |row: usize, (place, (text, column)): (usize, (&Text, &Column))| {
            let shown = breakable(&inline(text));
            let shown = match anchors.get(row).filter(|_| place == 0) {
                Some(anchor) => {
                    let links: String = findings.get(row).into_iter().flatten().map(|id| link(id)).collect();
                    format!("<a href=\"#{anchor}\">{shown}</a>{links}")
                }
                None => shown,
            };
            format!("<td{}>{shown}</td>", class(column, Some(text)))
        };
        let row = |(number, row): (usize, &Vec<Text>)| {
            let cells: String =
                row.iter().zip(&table.columns).enumerate().map(|it| cell(number, it)).collect();
            let id = anchors.get(number).map(|anchor| format!(" id=\"{anchor}\"")).unwrap_or_default();
            format!("<tr{id}>{cells}</tr>\n")
        };
        let rows: String = table.rows.iter().enumerate().map(row).collect();
        let limit = limit.map(|limit| format!(" class=\"upto{limit}\" style=\"{}\"", html(&labels(table))));
        let limit = limit.unwrap_or_default();
        let caption = table.caption.as_ref().map(|it| format!("<p class=\"caption\">{}</p>\n", inline(it)));
        format!(
            "<div class=\"wide\">\n<table{limit}>\n<thead><tr>{heads}</tr></thead>\n<tbody>\n{rows}</tbody>\n</table>\n\
             </div>\n{}",
            caption.unwrap_or_default()
        )
    }

    fn limit(&mut self, table: &Table) -> Option<u32> {
        let widths = table.columns.iter().enumerate().map(|(place, column)| {
            let cells = table.rows.iter().filter_map(|row| row.get(place)).map(|text| least(column, text));
            cells.fold(longest_word(&column.title, Weight::Bold), f64::max) + PADDING
        });
        let rem = (widths.sum::<f64>() / REM).ceil() as u32;
        let limit = rem.next_multiple_of(STEP).min(MOST);
        (limit > SMALL).then(|| {
            self.limits.insert(limit);
            self.columns = self.columns.max(table.columns.len());
            limit
        })
    }

    pub(super) fn style(&self) -> String {
        let rule = |limit: &u32| {
            format!(
                "@container (max-width: {limit}rem) {{ .upto{limit} {{ display: block; & thead {{ display: none; }} \
                 & tbody {{ display: block; }} & tr {{ display: block; padding: 0.375rem 0; border-bottom: 1px solid var(--line); }} \
                 & td {{ display: flow-root; padding: 0; border: 0; text-align: right; white-space: normal; overflow-wrap: anywhere; }} \
                 & td:empty {{ display: none; }} & td::before {{ content: var(--title); float: left; margin-right: 1rem; \
                 color: var(--faint); }} }} }}\n"
            )
        };
        let titles = (1..=self.columns)
            .map(|column| format!("td:nth-child({column}) {{ --title: var(--t{column}); }}\n"));
        titles.chain(self.limits.iter().map(rule)).collect()
    }
}

/// Defines the titles of the columns as CSS strings: <https://www.w3.org/TR/css-syntax-3/#consume-string-token>.
fn labels(table: &Table) -> String {
    let labels = (1..).zip(&table.columns).map(|(number, column)| {
        let title = column.title.replace('\\', "\\\\").replace('"', "\\22 ").replace('\n', " ");
        format!("--t{number}:\"{title}\";")
    });
    labels.collect()
}

fn class(column: &Column, cell: Option<&Text>) -> &'static str {
    match column.align {
        Align::Right => " class=\"number\"",
        Align::Left if cell.is_some_and(is_short) => " class=\"short\"",
        Align::Left => "",
    }
}

fn link(finding: &str) -> String {
    let anchor = Anchors::first(&format!("finding {finding}"));
    format!(" <a class=\"finding\" href=\"#{anchor}\">{}</a>", html(finding))
}

fn is_short(text: &Text) -> bool {
    text.characters().chars().count() <= LONG
}

fn least(column: &Column, text: &Text) -> f64 {
    let weight = if text.0.iter().any(|it| it.tone == Tone::Strong) { Weight::Bold } else { Weight::Regular };
    if column.align == Align::Left && is_short(text) {
        return chart::ems(&text.characters(), weight) * FONT;
    }
    longest_word(&text.0.iter().map(|span| span.text.as_str()).collect::<String>(), weight)
}

fn longest_word(text: &str, weight: Weight) -> f64 {
    let words = text.split_inclusive([' ', '-', SOFT]).map(|word| {
        let shown: String = word.trim_end_matches([' ', SOFT]).chars().take(LONG).collect();
        chart::ems(&shown.replace(GLUE, " "), weight) * FONT
    });
    words.fold(0.0, f64::max)
}

/// `markup` may contain tags and character references.
fn breakable(markup: &str) -> String {
    let (mut broken, mut run, mut is_tag) = (String::with_capacity(markup.len()), 0, false);
    let mut is_reference = false;
    for sign in markup.chars() {
        match sign {
            '<' => is_tag = true,
            '&' => is_reference = true,
            _ => {}
        }
        broken.push(sign);
        is_reference &= sign != ';';
        if is_tag {
            is_tag = sign != '>';
            continue;
        }
        run = if matches!(sign, ' ' | '-' | SOFT) { 0 } else { run + usize::from(!is_reference) };
        if run == LONG {
            broken.push_str("<wbr>");
            run = 0;
        }
    }
    broken
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::page::{left, right};

    fn shown(columns: usize) -> (String, String) {
        let titles = (0..columns).map(|place| if place == 0 { left("Path") } else { right("Packets in") });
        let row = (0..columns).map(|place| if place == 0 { "node-to-node" } else { "1,234" }.into());
        let table = Table { columns: titles.collect(), rows: vec![row.collect()], caption: None };
        let mut tables = Tables::default();
        let shown = tables.table(&table, &[], &[]);
        (shown, tables.style())
    }

    #[test]
    fn only_tables_wider_than_a_phone_become_lists() {
        let (narrow, style) = shown(3);
        assert!(
            narrow.contains("<table>") && !style.contains("@container") && style.is_empty(),
            "{narrow}{style}"
        );
        let (wide, style) = shown(8);
        assert!(wide.contains("--t8:&quot;Packets in&quot;;"), "{wide}");
        assert!(style.contains("td:nth-child(8) { --title: var(--t8); }"), "{style}");
        let (_, limit) = wide.split_once("class=\"upto").expect("it has a limit");
        let (limit, _) = limit.split_once('"').expect("a quoted number");
        assert!(style.contains(&format!("@container (max-width: {limit}rem)")), "{style}");
    }

    #[test]
    fn titles_end_neither_their_string_nor_their_attribute() {
        let table = Table { columns: vec![left("a\\\"; } <b>\n")], rows: Vec::new(), caption: None };
        assert_eq!(labels(&table), "--t1:\"a\\\\\\22 ; } <b> \";");
    }

    #[test]
    fn long_words_may_break_but_not_inside_markup() {
        let long = format!("<strong>{}&amp;x</strong>", "a".repeat(LONG - 1));
        assert_eq!(breakable(&long), format!("<strong>{}&amp;<wbr>x</strong>", "a".repeat(LONG - 1)));
        assert_eq!(breakable("node-to-node-to-node-to-node"), "node-to-node-to-node-to-node");
    }
}
