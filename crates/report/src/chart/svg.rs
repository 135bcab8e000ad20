//! Writes charts as SVG (<https://www.w3.org/TR/SVG2/>). Tracks which areas contain text.

use std::fmt::Write as _;

use super::{
    Chart, Drawing, Theme, heat_map,
    lettering::{Style, plain, width},
    plot, rows,
};
use crate::{backends::escape::html as escape_markup, page::*, text::Span};

pub(crate) use super::palette::style;

/// Widths of charts in files, on pages and on phones, in CSS pixels.
const WIDE: f64 = 720.0;
pub(crate) const PAGE: f64 = 860.0;
pub(crate) const NARROW: f64 = 336.0;
pub(super) const MARGIN: f64 = 6.0;
const MOST_SPOKEN: usize = 2_000;
const MOST_LABEL: usize = 160;

pub(crate) fn file(chart: &Chart, theme: Theme) -> String {
    let style = style(theme).replace('"', "'");
    let drawn = draw(chart, WIDE, "p", Some(&format!("<style>{style}</style>\n")));
    format!("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n{drawn}")
}

pub(crate) fn inline(chart: &Chart, width: f64, prefix: &str) -> String {
    draw(chart, width, prefix, None)
}

fn draw(chart: &Chart, width: f64, prefix: &str, style: Option<&str>) -> String {
    let mut canvas = Canvas::new(width, prefix, style.is_none());
    let mut height = MARGIN;
    if style.is_some() {
        height = canvas.lines((MARGIN, height), Style::Strong, &chart.title, width - 2.0 * MARGIN, 2) + 6.0;
    }
    height = match &chart.drawing {
        Drawing::Rows(rows) => rows::draw(rows, &mut canvas, height),
        Drawing::Plots(plots) => plot::draw_all(plots, &mut canvas, height),
        Drawing::HeatMap(map) => heat_map::draw(map, &mut canvas, height),
    };
    let (title, about) = (spoken(&chart.title), spoken(&chart.about));
    let (style, height) = (style.unwrap_or_default(), height + MARGIN);
    let patterns = canvas.patterns();
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"pc\" width=\"{width}\" height=\"{height:.0}\" viewBox=\"0 0 {width} \
         {height:.0}\" role=\"img\" aria-labelledby=\"{prefix}-t {prefix}-d\">\n<title id=\"{prefix}-t\">{title}</title>\n<desc \
         id=\"{prefix}-d\">{about}</desc>\n{style}{patterns}<rect class=\"paper\" width=\"{width}\" height=\"{height:.0}\"/>\n\
         {}</svg>\n",
        canvas.drawn
    )
}

fn spoken(text: &str) -> String {
    escape_markup(&shortened(&plain(text), MOST_SPOKEN))
}

pub(super) fn label(text: &str) -> String {
    shortened(text, MOST_LABEL)
}

fn shortened(text: &str, most: usize) -> String {
    text.char_indices().nth(most).map_or(text, |(end, _)| &text[..end]).to_owned()
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Anchor {
    Start,
    Middle,
    End,
}

#[derive(Debug, Clone, Copy, PartialEq)]
struct Extent(f64, f64, f64, f64);

impl Extent {
    fn overlaps(self, other: Self) -> bool {
        self.0 < other.2 && other.0 < self.2 && self.1 < other.3 && other.1 < self.3
    }
}

pub(super) struct Canvas<'a> {
    pub(super) width: f64,
    prefix: &'a str,
    is_live: bool,
    drawn: String,
    taken: Vec<Extent>,
    hatched: bool,
}

impl<'a> Canvas<'a> {
    fn new(width: f64, prefix: &'a str, is_live: bool) -> Self {
        Self { width, prefix, is_live, drawn: String::new(), taken: Vec::new(), hatched: false }
    }

    /// Groups elements with `data-` attributes for the page's script. Files do not contain such groups.
    pub(super) fn group(&mut self, attributes: &[(&str, String)], draw: impl FnOnce(&mut Self)) {
        if !self.is_live {
            return draw(self);
        }
        self.drawn.push_str("<g");
        for (name, value) in attributes {
            let _ = write!(self.drawn, " data-{name}=\"{}\"", escape_markup(&plain(value)));
        }
        self.drawn.push('>');
        draw(self);
        self.drawn.push_str("</g>\n");
    }

    pub(super) fn is_narrow(&self) -> bool {
        self.width < 480.0
    }

    /// Draws a line of text with its baseline at `y`. Moves the text into the picture if necessary.
    pub(super) fn text(&mut self, (x, y): (f64, f64), anchor: Anchor, style: Style, text: &str) {
        let text = plain(text);
        let (x, extent) = self.extent((x, y), anchor, style, &text);
        self.write((x, y), anchor, style, &escape_markup(&text));
        self.taken.push(extent);
    }

    pub(super) fn text_if_free(&mut self, at: (f64, f64), anchor: Anchor, style: Style, text: &str) -> bool {
        let (_, extent) = self.extent(at, anchor, style, &plain(text));
        let is_free =
            extent.0 >= 0.0 && extent.2 <= self.width && !self.taken.iter().any(|it| it.overlaps(extent));
        if is_free {
            self.text(at, anchor, style, text);
        }
        is_free
    }

    pub(super) fn spans(&mut self, (x, y): (f64, f64), anchor: Anchor, style: Style, text: &Text) {
        let (x, extent) = self.extent((x, y), anchor, style, &plain(&text.characters()));
        let span = |span: &Span| {
            let text = escape_markup(&plain(&span.printed()));
            tone(span.tone).map_or(text.clone(), |class| format!("<tspan class=\"{class}\">{text}</tspan>"))
        };
        let spans: String = text.0.iter().map(span).collect();
        self.write((x, y), anchor, style, &spans);
        self.taken.push(extent);
    }

    pub(super) fn lines(
        &mut self,
        (x, y): (f64, f64),
        style: Style,
        text: &str,
        room: f64,
        most: usize,
    ) -> f64 {
        let mut base = y;
        for line in super::lettering::wrapped(&plain(text), room, style, most) {
            base += line_height(style);
            self.text((x, base - 4.0), Anchor::Start, style, &line);
        }
        base
    }

    fn extent(&self, (x, y): (f64, f64), anchor: Anchor, style: Style, text: &str) -> (f64, Extent) {
        let wide = width(text, style);
        let left = match anchor {
            Anchor::Start => x,
            Anchor::Middle => x - wide / 2.0,
            Anchor::End => x - wide,
        };
        let moved = left.min(self.width - 2.0 - wide).max(1.0);
        (x + moved - left, Extent(moved, y - style.size() * 0.8, moved + wide, y + style.size() * 0.22))
    }

    /// Preserves spaces, because resvg drops them at the beginning of a span by default.
    fn write(&mut self, (x, y): (f64, f64), anchor: Anchor, style: Style, markup: &str) {
        let anchor = match anchor {
            Anchor::Start => "",
            Anchor::Middle => " text-anchor=\"middle\"",
            Anchor::End => " text-anchor=\"end\"",
        };
        let _ = writeln!(
            self.drawn,
            "<text class=\"{}\" x=\"{x:.1}\" y=\"{y:.1}\"{anchor}{}>{markup}</text>",
            style.class(),
            if markup.contains("<tspan") { " xml:space=\"preserve\"" } else { "" }
        );
    }

    pub(super) fn rect(&mut self, class: &str, (x, y): (f64, f64), (wide, high): (f64, f64)) {
        let _ = writeln!(
            self.drawn,
            "<rect class=\"{class}\" x=\"{x:.1}\" y=\"{y:.1}\" width=\"{:.1}\" height=\"{:.1}\"/>",
            wide.max(0.0),
            high.max(0.0)
        );
    }

    pub(super) fn tile(&mut self, colour: &str, (x, y): (f64, f64), (wide, high): (f64, f64)) {
        let _ = writeln!(
            self.drawn,
            "<rect fill=\"{colour}\" x=\"{x:.1}\" y=\"{y:.1}\" width=\"{wide:.1}\" height=\"{high:.1}\"/>"
        );
    }

    pub(super) fn text_on(&mut self, at: (f64, f64), dark: bool, text: &str) {
        let style = if dark { "h1" } else { "h0" };
        let (x, extent) = self.extent(at, Anchor::Middle, Style::Tick, text);
        let _ = writeln!(
            self.drawn,
            "<text class=\"k {style}\" x=\"{x:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{}</text>",
            at.1,
            escape_markup(&plain(text))
        );
        self.taken.push(extent);
    }

    pub(super) fn hatch(&mut self, (x, y): (f64, f64), (wide, high): (f64, f64)) {
        self.hatched = true;
        let prefix = self.prefix;
        let _ = writeln!(
            self.drawn,
            "<rect fill=\"url(#{prefix}-h)\" x=\"{x:.1}\" y=\"{y:.1}\" width=\"{:.1}\" height=\"{high:.1}\"/>",
            wide.max(0.0)
        );
    }

    pub(super) fn path(&mut self, class: &str, path: &str) {
        if !path.is_empty() {
            let _ = writeln!(self.drawn, "<path class=\"{class}\" d=\"{path}\"/>");
        }
    }

    pub(super) fn keep_free(&mut self, (x, y): (f64, f64), around: f64) {
        self.taken.push(Extent(x - around, y - around, x + around, y + around));
    }

    pub(super) fn circle(&mut self, class: &str, (x, y): (f64, f64), radius: f64) {
        let _ =
            writeln!(self.drawn, "<circle class=\"{class}\" cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"{radius}\"/>");
    }

    fn patterns(&self) -> String {
        if !self.hatched {
            return String::new();
        }
        format!(
            "<defs><pattern id=\"{}-h\" width=\"5\" height=\"5\" patternUnits=\"userSpaceOnUse\" \
             patternTransform=\"rotate(45)\"><path class=\"cut\" d=\"M1 0V5\"/></pattern></defs>\n",
            self.prefix
        )
    }
}

pub(super) const fn line_height(style: Style) -> f64 {
    match style {
        Style::Plain | Style::Strong => 18.0,
        Style::Note => 16.0,
        Style::Tick => 15.0,
    }
}

const fn tone(tone: Tone) -> Option<&'static str> {
    match tone {
        Tone::Plain | Tone::Code => None,
        Tone::Strong => Some("l"),
        Tone::Good => Some("good"),
        Tone::Bad => Some("bad"),
        Tone::Doubtful => Some("doubtful"),
        Tone::Faint => Some("faint"),
    }
}
