//! Pictures as SVG (<https://www.w3.org/TR/SVG2/>), whose colours are those of the page that they stand in.
//! Must not know what they show.

use std::fmt::Write as _;

use console::measure_text_width;

use super::{escape::html, html::class};
use crate::{
    page::{Bar, Bars},
    text::{Span, Text},
};

/// All lengths are in units of the picture, which a page scales to its width.
const WIDTH: f64 = 900.0;
/// What a character takes on average in the style sheet's font of 13 units, and a bold one; of 12 units.
const CHARACTER: f64 = 6.9;
const BOLD: f64 = 7.6;
const NOTE: f64 = 6.2;
const GAP: f64 = 12.0;
const BAR: f64 = 18.0;
const LINE: f64 = 18.0;
/// From one row to the next.
const APART: f64 = 10.0;
const MOST_LABEL: f64 = 240.0;
/// With less for the bars the numbers stand below them.
const LEAST_BARS: f64 = 320.0;

/// Horizontal bars from zero, with their intervals, on one scale.
pub(super) fn bars(bars: &Bars) -> String {
    let layout = Layout::of(bars);
    let (mut drawn, mut y) = (String::new(), 4.0);
    for bar in &bars.rows {
        y = layout.row(bar, y, &mut drawn);
    }
    let spoken = bars.rows.iter().map(|bar| format!("{}: {}", bar.label.characters(), bar.text.characters()));
    let spoken = html(&spoken.collect::<Vec<_>>().join("; "));
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {y:.0}\" role=\"img\" aria-label=\"{spoken}\">\n\
         {drawn}</svg>\n"
    )
}

struct Layout {
    /// Where bars begin.
    left: f64,
    /// How long the longest may be.
    room: f64,
    /// Whether numbers stand beside the bars.
    beside: bool,
    /// What the longest stands for.
    most: f64,
}

impl Layout {
    fn of(bars: &Bars) -> Self {
        let widest = |part: fn(&Bar) -> &Text| {
            bars.rows.iter().map(|bar| measure_text_width(&part(bar).characters())).max().unwrap_or(0) as f64
        };
        let left = (widest(|bar| &bar.label) * BOLD).min(MOST_LABEL) + GAP;
        let beside_room = WIDTH - left - widest(|bar| &bar.text) * CHARACTER - GAP;
        let beside = beside_room >= LEAST_BARS;
        let room = if beside { beside_room } else { WIDTH - left };
        let reach = |bar: &Bar| {
            let high = bar.range.map_or(bar.value, |(_, high)| high.max(bar.value));
            bar.points.iter().copied().fold(high, f64::max)
        };
        let most = bars.rows.iter().map(reach).filter(|reach| reach.is_finite()).fold(0.0, f64::max);
        Self { left, room, beside, most }
    }

    /// Draws one bar from `y` on; where the next begins.
    fn row(&self, bar: &Bar, y: f64, drawn: &mut String) -> f64 {
        let (left, middle, base) = (self.left, y + BAR / 2.0, y + BAR - 4.5);
        let label = shortened(&bar.label.characters(), (MOST_LABEL / BOLD) as usize);
        let end = left - GAP;
        let _ = writeln!(
            drawn,
            "<text class=\"label\" x=\"{end:.1}\" y=\"{base:.1}\" text-anchor=\"end\">{}</text>",
            html(&label)
        );
        let _ = writeln!(
            drawn,
            "<line class=\"zero\" x1=\"{left:.1}\" x2=\"{left:.1}\" y1=\"{y:.1}\" y2=\"{:.1}\"/>",
            y + BAR
        );
        let length = self.length(bar.value);
        let _ = writeln!(
            drawn,
            "<rect class=\"bar\" x=\"{left:.1}\" y=\"{y:.1}\" width=\"{length:.1}\" height=\"{BAR}\"/>"
        );
        let mut reach = length;
        if let Some((low, high)) = bar.range {
            let (low, high) = (self.length(low), self.length(high));
            reach = reach.max(high);
            let [from, to] = [left + low, left + high];
            let (above, below) = (middle - 4.0, middle + 4.0);
            let _ = writeln!(
                drawn,
                "<path class=\"interval\" d=\"M{from:.1} {middle:.1}H{to:.1}M{from:.1} {above:.1}V{below:.1}M{to:.1} \
                 {above:.1}V{below:.1}\"/>"
            );
            let _ = writeln!(
                drawn,
                "<circle class=\"median\" cx=\"{:.1}\" cy=\"{middle:.1}\" r=\"3\"/>",
                left + length
            );
        }
        for point in bar.points.iter().map(|point| self.length(*point)) {
            reach = reach.max(point);
            let _ = writeln!(
                drawn,
                "<circle class=\"trial\" cx=\"{:.1}\" cy=\"{:.1}\" r=\"2.5\"/>",
                left + point,
                y + BAR - 3.0
            );
        }
        let mut next = y + BAR;
        if self.beside {
            let x = left + reach + GAP;
            let _ = writeln!(drawn, "<text x=\"{x:.1}\" y=\"{base:.1}\">{}</text>", spans(&bar.text));
        } else {
            next += LINE;
            let _ =
                writeln!(drawn, "<text x=\"{left:.1}\" y=\"{:.1}\">{}</text>", next - 4.5, spans(&bar.text));
        }
        let note = bar.note.as_ref().map(Text::characters).unwrap_or_default();
        for line in textwrap::wrap(note.trim(), ((WIDTH - left) / NOTE) as usize)
            .iter()
            .filter(|line| !line.is_empty())
        {
            next += LINE;
            let _ = writeln!(
                drawn,
                "<text class=\"note\" x=\"{left:.1}\" y=\"{:.1}\">{}</text>",
                next - 4.5,
                html(line)
            );
        }
        next + APART
    }

    fn length(&self, value: f64) -> f64 {
        if self.most <= 0.0 || !value.is_finite() {
            return 0.0;
        }
        (value / self.most).clamp(0.0, 1.0) * self.room
    }
}

fn spans(text: &Text) -> String {
    let span =
        |span: &Span| format!("<tspan class=\"{}\">{}</tspan>", class(span.tone), html(&span.printed()));
    text.0.iter().map(span).collect()
}

fn shortened(text: &str, most: usize) -> String {
    console::truncate_str(text, most, "…").into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bar(label: &str, value: f64, range: Option<(f64, f64)>) -> Bar {
        Bar { label: label.into(), value, range, points: Vec::new(), text: "so much".into(), note: None }
    }

    /// The numbers of an attribute, in their order.
    fn numbers(picture: &str, element: &str, attribute: &str) -> Vec<f64> {
        let elements = picture.split('<').filter(|part| part.starts_with(element));
        elements
            .filter_map(|part| {
                part.split(&format!(" {attribute}=\"")).nth(1)?.split('"').next()?.parse().ok()
            })
            .collect()
    }

    #[test]
    fn lengths_are_shares_of_the_longest_reach_and_nothing_leaves_the_picture() {
        let rows = vec![
            bar("wire", 20.0, Some((18.0, 25.0))),
            bar("vxlan", 10.0, Some((9.0, 11.0))),
            bar("none", 0.0, None),
        ];
        let picture = bars(&Bars { rows });
        let widths = numbers(&picture, "rect", "width");
        assert!((widths[1] / widths[0] - 0.5).abs() < 0.01 && widths[2] == 0.0, "{widths:?}");
        let x = numbers(&picture, "rect", "x")[0];
        let reach = numbers(&picture, "text x", "x").into_iter().fold(0.0, f64::max);
        assert!(x + widths[0] * 1.25 < reach && reach < WIDTH, "{reach}");
    }

    #[test]
    fn every_trial_is_a_dot_on_the_scale_of_its_bar() {
        let rows = vec![Bar { points: vec![10.0, 20.0, 40.0], ..bar("wire", 20.0, None) }];
        let picture = bars(&Bars { rows });
        let (left, width) = (numbers(&picture, "rect", "x")[0], numbers(&picture, "rect", "width")[0]);
        let shares: Vec<f64> = numbers(&picture, "circle", "cx").iter().map(|x| (x - left) / width).collect();
        let expected = [0.5, 1.0, 2.0];
        assert!(
            shares.iter().zip(expected).all(|(share, wanted)| (share - wanted).abs() < 0.01),
            "{shares:?}"
        );
    }

    #[test]
    fn numbers_that_are_none_draw_no_nonsense_and_long_notes_are_wrapped() {
        let long = "twelve words that take a line of their own and a second one ".repeat(4);
        let rows = vec![Bar {
            note: Some(long.as_str().into()),
            ..bar("a", f64::NAN, Some((f64::NAN, f64::INFINITY)))
        }];
        let picture = bars(&Bars { rows });
        assert!(!picture.contains("NaN\"") && !picture.contains("inf"), "{picture}");
        assert!(picture.matches("class=\"note\"").count() > 1, "{picture}");
    }
}
