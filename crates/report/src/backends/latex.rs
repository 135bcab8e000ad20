//! Writes a page's tables as LaTeX for `\input`, using booktabs (https://ctan.org/pkg/booktabs). Text outside of tables
//! and captions becomes comments. `plumb plot` draws the charts.

use crate::page::{Align, Bar, Bars, Page, *};

const HEAD: &str = "% \\usepackage{booktabs}\n% \\usepackage[T1]{fontenc}  % for signs like < and >\n";
const COMMENT: usize = 96;

pub(crate) fn latex(page: &Page) -> String {
    let mut text = format!("{}{HEAD}", comment(&page.title));
    for section in &page.sections {
        let title = section.title.as_deref().unwrap_or_default();
        let blocks: String = section.blocks.iter().map(self::block).collect();
        if !blocks.trim().is_empty() {
            text.push_str(&format!("\n{}{blocks}", comment(&format!("== {title}"))));
        }
    }
    text
}

fn block(block: &Block) -> String {
    match block {
        Block::Heading(text) | Block::Claim { text, .. } => comment(&text.characters()),
        Block::Table(table) | Block::Results { table, .. } => self::table(table),
        Block::Folded { title: of, blocks } => {
            let inner: String = blocks.iter().map(self::block).collect();
            format!("{}{inner}", comment(&of.characters()))
        }
        Block::KeyValues(pairs) => {
            let row = |(key, value): &(String, Text)| format!("{} & {} \\\\\n", escaped(key), inline(value));
            let rows: String = pairs.iter().map(row).collect();
            format!(
                "\\begin{{tabular}}{{lp{{0.75\\linewidth}}}}\n\\toprule\n{rows}\\bottomrule\n\\end{{tabular}}\n"
            )
        }
        Block::Chart(chart) => chart.plain.as_ref().map(bars).unwrap_or_default(),
        Block::Paragraph(_) | Block::List(_) | Block::Commands(_) => String::new(),
    }
}

fn bars(bars: &Bars) -> String {
    let row = |bar: &Bar| format!("{} & {} \\\\\n", inline(&bar.label), inline(&bar.text));
    let rows: String = bars.rows.iter().map(row).collect();
    format!("\\begin{{tabular}}{{lr}}\n\\toprule\n{rows}\\bottomrule\n\\end{{tabular}}\n")
}

fn table(table: &Table) -> String {
    let columns: String =
        table.columns.iter().map(|column| if column.align == Align::Right { 'r' } else { 'l' }).collect();
    let joined = |cells: Vec<String>| format!("{} \\\\\n", cells.join(" & "));
    let head = joined(table.columns.iter().map(|column| escaped(&column.title)).collect());
    let rows: String = table.rows.iter().map(|row| joined(row.iter().map(inline).collect())).collect();
    let caption = table
        .caption
        .as_ref()
        .map(|caption| format!("\n\\smallskip\\par {{\\footnotesize {}}}", inline(caption)));
    format!(
        "\\begin{{tabular}}{{{columns}}}\n\\toprule\n{head}\\midrule\n{rows}\\bottomrule\n\\end{{tabular}}{}\n",
        caption.unwrap_or_default()
    )
}

fn inline(text: &Text) -> String {
    escaped(text.characters().trim())
}

fn comment(text: &str) -> String {
    let text = text.replace(char::is_control, " ");
    textwrap::wrap(text.trim(), COMMENT).iter().map(|line| format!("% {line}\n")).collect()
}

/// Prevents LaTeX from interpreting names as commands.
fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for sign in text.chars() {
        match sign {
            '\\' => escaped.push_str("\\textbackslash{}"),
            '~' => escaped.push_str("\\textasciitilde{}"),
            '^' => escaped.push_str("\\textasciicircum{}"),
            '&' | '%' | '$' | '#' | '_' | '{' | '}' => escaped.extend(['\\', sign]),
            '\u{2212}' => escaped.push_str("$-$"),
            'µ' => escaped.push_str("\\textmu{}"),
            '…' => escaped.push_str("\\ldots{}"),
            '→' => escaped.push_str("$\\rightarrow$"),
            '←' => escaped.push_str("$\\leftarrow$"),
            '•' | '·' => escaped.push_str("$\\cdot$"),
            '\u{a0}' => escaped.push('~'),
            sign if sign.is_control() => escaped.push(' '),
            // Omit bar characters and soft breaks.
            '\u{2500}'..='\u{25ff}' | '\u{200b}' => {}
            sign => escaped.push(sign),
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::page::{left, right, section};

    #[test]
    fn escapes_names_in_latex() {
        let hostile = "\\input{/etc/passwd}%$&#_^~\n\u{1b}[2J";
        let rows = vec![vec![Text::from(hostile), "1 µs".into()]];
        let table = Table { columns: vec![left(hostile), right("n")], rows, caption: Some(hostile.into()) };
        let page =
            Page { title: hostile.into(), sections: vec![section(hostile, vec![Block::Table(table)])] };
        let shown = latex(&page);
        let outside_comments: String = shown.lines().filter(|line| !line.starts_with('%')).collect();
        assert!(!outside_comments.contains("\\input{/"), "{shown}");
        assert_eq!(shown.matches("\\textbackslash{}input\\{").count(), 3, "head, row and caption: {shown}");
        assert!(
            shown.contains("\\begin{tabular}{lr}\n\\toprule\n")
                && shown.contains("1 \\textmu{}s \\\\\n\\bottomrule")
        );
    }
}
