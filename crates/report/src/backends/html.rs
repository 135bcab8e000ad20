//! A page as a single self-contained HTML file that is complete without its script: <https://html.spec.whatwg.org>.

mod anchors;
mod figure;
mod lead;
mod script;
mod table;

use self::{anchors::Anchors, figure::Figures, table::Tables};
use super::escape::html;
use crate::{
    chart::{self, Theme},
    page::{Page, *},
    text::Span,
};

const STYLE: &str = include_str!("html/page.css");

#[derive(Default)]
struct Before {
    anchors: Anchors,
    figures: Figures,
    tables: Tables,
}

pub(crate) fn page(page: &Page) -> String {
    let mut before = Before::default();
    let page = &lead::with_chart(page);
    let sections: Vec<(String, &Section)> = page
        .sections
        .iter()
        .map(|section| (before.anchors.of(section.title.as_deref().unwrap_or("summary")), section))
        .collect();
    let body: String =
        sections.iter().map(|(anchor, section)| self::section(section, anchor, &mut before)).collect();
    let title = html(&page.title);
    format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<meta name=\"viewport\" \
         content=\"width=device-width, initial-scale=1\">\n<meta http-equiv=\"Content-Security-Policy\" \
         content=\"{}\">\n<title>{title}</title>\n<style>\n{STYLE}{}{}</style>\n</head>\n<body>\n\
         {}<main>\n<h1>{title}</h1>\n{body}</main>\n{}</body>\n</html>\n",
        policy(),
        before.tables.style(),
        chart::style(Theme::Auto),
        contents(&sections),
        script::element()
    )
}

/// Allows only the page's own script, and no network requests.
fn policy() -> String {
    format!("default-src 'none'; style-src 'unsafe-inline'; script-src '{}'", script::digest())
}

fn contents(sections: &[(String, &Section)]) -> String {
    let entry = |(anchor, section): &(String, &Section)| {
        let title = section.title.as_deref()?;
        Some(format!("<li><a href=\"#{anchor}\">{}</a></li>\n", html(title)))
    };
    let entries: String = sections.iter().filter_map(entry).collect();
    format!("<nav aria-label=\"Sections\">\n<ul>\n{entries}</ul>\n</nav>\n")
}

fn section(section: &Section, anchor: &str, before: &mut Before) -> String {
    let blocks: String = section.blocks.iter().map(|block| self::block(block, before)).collect();
    let title = section.title.as_deref().map(html);
    match (section.depth, title) {
        (Depth::Folded | Depth::OnlyFull, Some(title)) => {
            format!(
                "<details class=\"section\" id=\"{anchor}\">\n<summary><h2>{title}</h2></summary>\n{blocks}</details>\n"
            )
        }
        (_, Some(title)) => format!("<section id=\"{anchor}\">\n<h2>{title}</h2>\n{blocks}</section>\n"),
        (_, None) => format!("<section id=\"{anchor}\">\n{blocks}</section>\n"),
    }
}

fn block(block: &Block, before: &mut Before) -> String {
    match block {
        Block::Heading(text) => heading(text, &before.anchors.of(&text.characters())),
        Block::Claim { id, text } => heading(text, &before.anchors.of(&format!("finding {id}"))),
        Block::Paragraph(text) => format!("<p>{}</p>\n", inline(text)),
        Block::Table(table) => before.tables.table(table, &[], &[]),
        Block::Results { table, ids, findings } => {
            let anchors: Vec<String> =
                ids.iter().map(|id| before.anchors.of(&format!("result {id}"))).collect();
            before.tables.table(table, &anchors, findings)
        }
        Block::Chart(chart) => before.figures.figure(chart),
        Block::Commands(commands) => {
            format!("<pre tabindex=\"0\"><code>{}</code></pre>\n", html(&commands.join("\n")))
        }
        Block::Folded { title, blocks } => {
            let inner: String = blocks.iter().map(|block| self::block(block, before)).collect();
            format!("<details>\n<summary>{}</summary>\n{inner}</details>\n", inline(title))
        }
        Block::List(items) => {
            let items: String = items.iter().map(|item| format!("<li>{}</li>\n", inline(item))).collect();
            format!("<ul>\n{items}</ul>\n")
        }
        Block::KeyValues(pairs) => {
            let pair = |(key, value): &(String, Text)| {
                format!("<dt>{}</dt>\n<dd>{}</dd>\n", html(key), inline(value))
            };
            format!("<dl>\n{}</dl>\n", pairs.iter().map(pair).collect::<String>())
        }
    }
}

fn heading(text: &Text, anchor: &str) -> String {
    format!("<h3 id=\"{anchor}\"><a href=\"#{anchor}\">{}</a></h3>\n", inline(text))
}

fn inline(text: &Text) -> String {
    text.0.iter().map(span).collect::<String>().trim().to_owned()
}

/// Uses the no-break spaces and soft breaks of HTML.
fn span(span: &Span) -> String {
    let text = html(&span.text);
    match span.tone {
        Tone::Plain => text,
        Tone::Strong => format!("<strong>{text}</strong>"),
        Tone::Code => format!("<code>{text}</code>"),
        Tone::Good | Tone::Bad | Tone::Doubtful | Tone::Faint => {
            format!("<span class=\"{}\">{text}</span>", class(span.tone))
        }
    }
}

const fn class(tone: Tone) -> &'static str {
    match tone {
        Tone::Plain => "plain",
        Tone::Strong => "strong",
        Tone::Code => "code",
        Tone::Good => "good",
        Tone::Bad => "bad",
        Tone::Doubtful => "doubtful",
        Tone::Faint => "faint",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::page::{Table, detail, left, right};

    const HOSTILE: &str = "</title><script>alert(1)</script>\" onload=\"x ]]> &amp;";

    #[test]
    fn escapes_names_everywhere() {
        let text = || Text::from(HOSTILE);
        let table = Table {
            columns: vec![left(HOSTILE), right("n")],
            rows: vec![vec![text(), text()]],
            caption: Some(text()),
        };
        let blocks = vec![
            Block::Heading(text()),
            Block::Paragraph(Text::code(HOSTILE)),
            Block::Table(table),
            Block::Chart(Box::new(chart::sample(HOSTILE))),
            Block::Commands(vec![HOSTILE.to_owned()]),
            Block::Folded { title: text(), blocks: vec![Block::List(vec![text()])] },
            Block::KeyValues(vec![(HOSTILE.to_owned(), text())]),
        ];
        let shown = page(&Page { title: HOSTILE.to_owned(), sections: vec![detail(HOSTILE, blocks)] });
        assert_eq!(shown.matches("<script").count(), 1, "the page's own");
        assert!(!shown.contains("onload=\""), "{shown}");
        assert_eq!(shown.matches("<title>").count(), 1);
        // The page has a title, and each of the chart's two drawings has one.
        assert_eq!(shown.matches("</title>").count(), 3, "{shown}");
    }

    #[test]
    fn anchors_identify_findings_and_results() {
        let table = Table {
            columns: vec![left("Path"), right("n")],
            rows: vec![vec!["a".into(), "1".into()], vec!["b".into(), "2".into()]],
            caption: None,
        };
        let blocks = vec![
            Block::Claim { id: "offload-off".to_owned(), text: "Warning: off".into() },
            Block::Claim { id: "offload-off".to_owned(), text: "Note: off".into() },
            Block::Results {
                table,
                ids: vec!["a/tcp".to_owned(), "b/tcp/mtu=1500".to_owned()],
                findings: vec![Vec::new(), vec!["offload-off".to_owned()]],
            },
        ];
        let shown = page(&Page { title: "t".into(), sections: vec![crate::page::section("s", blocks)] });
        for anchor in [
            "<h3 id=\"finding-offload-off\"><a href=\"#finding-offload-off\">Warning: off",
            "id=\"finding-offload-off-2\"",
            "<tr id=\"result-a-tcp\"><td class=\"short\"><a href=\"#result-a-tcp\">a</a></td><td class=\"number\">1</td></tr>",
            "<tr id=\"result-b-tcp-mtu-1500\">",
            "b</a> <a class=\"finding\" href=\"#finding-offload-off\">offload-off</a></td>",
        ] {
            assert!(shown.contains(anchor), "no {anchor} in {shown}");
        }
    }

    #[test]
    fn chart_of_a_table_follows_the_summary() {
        let chart = || Block::Chart(Box::new(chart::sample("rates")));
        let table = || Block::Table(Table { columns: vec![left("Path")], rows: Vec::new(), caption: None });
        let of = |blocks: Vec<Block>| {
            let sections = vec![
                crate::page::section("Summary", vec![Block::Paragraph("answer".into())]),
                crate::page::section("Ranking", vec![table()]),
                crate::page::section("Results", blocks),
            ];
            page(&Page { title: "t".into(), sections })
        };
        let shown = of(vec![chart(), table()]);
        let place = |text: &str| shown.find(text).expect(text);
        assert!(place("<figure") < place("id=\"ranking\"") && place("answer") < place("<figure"), "{shown}");
        assert_eq!(shown.matches("<figure").count(), 1, "it is moved: {shown}");
        let shown = of(vec![chart()]);
        assert!(shown.find("<figure") > shown.find("id=\"results\""), "a section keeps its only block");
    }

    #[test]
    fn each_heading_has_a_unique_anchor() {
        let blocks = vec![Block::Heading("One & one".into()), Block::Heading("one  one".into())];
        let shown =
            page(&Page { title: "t".into(), sections: vec![crate::page::section("One one", blocks)] });
        for anchor in
            ["section id=\"one-one\"", "h3 id=\"one-one-2\"", "h3 id=\"one-one-3\"", "href=\"#one-one\""]
        {
            assert!(shown.contains(anchor), "no {anchor} in {shown}");
        }
    }
}
