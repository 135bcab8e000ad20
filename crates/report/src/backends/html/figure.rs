//! Charts in a page, drawn for screens and for phones. Each chart and its data can be downloaded.

use base64::{Engine, prelude::BASE64_STANDARD};

use super::super::escape::html;
use crate::chart::{self, Chart, NARROW, PAGE, Theme};

/// Maximum total size of a page's charts, in bytes. Further charts are replaced by the commands that draw them.
const MOST: usize = 600 << 10;

#[derive(Debug, Default)]
pub(super) struct Figures {
    count: usize,
    bytes: usize,
}

impl Figures {
    pub(super) fn figure(&mut self, chart: &Chart) -> String {
        if self.bytes > MOST {
            return format!(
                "<p class=\"faint\">A chart is omitted to keep the page small: <code>plumb plot --kind {}</code> draws it.</p>\n",
                chart.kind
            );
        }
        self.count += 1;
        let figure = drawn(chart, self.count);
        self.bytes += figure.len();
        figure
    }
}

fn drawn(chart: &Chart, number: usize) -> String {
    let name = format!("{}-{number}", chart.kind);
    let on = |class: &str, width: f64, prefix: String| {
        chart::inline(chart, width, &prefix).replacen("class=\"pc\"", &format!("class=\"pc {class}\""), 1)
    };
    let link = |ending: &str, kind: &str, text: &str| {
        let text = BASE64_STANDARD.encode(text);
        let phrase = html(&format!("{}, {name}", ending.to_uppercase()));
        format!(
            "<a download=\"{name}.{ending}\" href=\"data:{kind};base64,{text}\" aria-label=\"{phrase}\">{}</a>",
            ending.to_uppercase()
        )
    };
    format!(
        "<figure id=\"{name}\">\n{}{}<figcaption>{}{}</figcaption>\n</figure>\n",
        on("on-screens", PAGE, format!("c{number}")),
        on("on-phones", NARROW, format!("n{number}")),
        link("csv", "text/csv", &chart.csv()),
        link("svg", "image/svg+xml", &chart::file(chart, Theme::Auto)),
    )
}
