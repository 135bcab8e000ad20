//! Plots of lines, dots and bars with annotations.

use std::fmt::Write as _;

use super::{
    axis::Axis,
    legend::{self, Key, line_class, line_key},
    lettering::{Style, fitted, plain, width},
    palette::{COLOURS, Paint},
    svg::{Anchor, Canvas, MARGIN},
};

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Plot {
    pub(crate) x: Axis,
    pub(crate) y: Axis,
    pub(crate) lines: Vec<Line>,
    pub(crate) marks: Vec<Mark>,
    pub(crate) stretches: Vec<Stretch>,
    pub(crate) spots: Vec<Spot>,
    pub(crate) keys: Vec<Key>,
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Line {
    pub(crate) number: usize,
    pub(crate) kind: LineKind,
    pub(crate) points: Vec<(f64, f64)>,
    pub(crate) intervals: Vec<Option<(f64, f64)>>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum LineKind {
    Dotted,
    Bare,
    Dots,
    /// Bars on the horizontal axis. Each bar extends to the next point, so the last point only marks the end of the
    /// last bar.
    Bars,
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Mark {
    pub(crate) at: f64,
    pub(crate) text: String,
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Stretch {
    pub(crate) from: f64,
    pub(crate) to: f64,
    pub(crate) text: String,
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Spot {
    pub(crate) at: (f64, f64),
    pub(crate) text: String,
    pub(crate) is_chosen: bool,
}

const HEIGHT: f64 = 230.0;
const LOW: f64 = 190.0;
const HEAD: f64 = 16.0;
const GAP: f64 = 8.0;
/// Separator between values, which may contain spaces.
const POINTS: &str = "|";
const MOST_NAME: f64 = 190.0;

pub(super) fn draw_all(plots: &[Plot], canvas: &mut Canvas<'_>, y: f64) -> f64 {
    // Align the left edges of stacked plots.
    let room = plots.iter().map(|plot| plot.y.room()).fold(0.0, f64::max);
    plots.iter().fold(y, |y, plot| draw(plot, canvas, y, MARGIN + room + 6.0))
}

fn draw(plot: &Plot, canvas: &mut Canvas<'_>, y: f64, left: f64) -> f64 {
    let top = legend::draw(&plot.keys, canvas, y);
    let mut top = plot.y.over(canvas, MARGIN, top, canvas.width - 2.0 * MARGIN);
    let right = canvas.width - MARGIN - 8.0;
    let head_rows = head_rows(plot, left, right);
    top += HEAD * head_rows as f64;
    let field = Field {
        plot,
        left,
        right,
        head_rows,
        top,
        bottom: top + if canvas.is_narrow() { LOW } else { HEIGHT },
    };
    let mut end = field.bottom;
    canvas.group(&field.described(), |canvas| {
        zoomed(canvas, |canvas| field.bands(canvas));
        plot.y.up(canvas, (field.left, field.right), (field.top, field.bottom));
        end = plot.x.along(canvas, (field.left, field.right), (field.top, field.bottom));
        zoomed(canvas, |canvas| plot.lines.iter().for_each(|line| field.line(line, canvas)));
        field.annotations(canvas);
    });
    end + 6.0
}

/// Returns two rows if labels above the plot would overlap in a single row.
fn head_rows(plot: &Plot, left: f64, right: f64) -> usize {
    let marks = plot.marks.iter().map(|mark| (mark.at, &mark.text));
    let stretches = plot.stretches.iter().map(|it| (f64::midpoint(it.from, it.to), &it.text));
    let mut rooms: Vec<(f64, f64)> = marks
        .chain(stretches)
        .map(|(at, text)| {
            let (x, wide) = (left + plot.x.scale.place(at) * (right - left), width(text, Style::Tick));
            (x - wide / 2.0, x + wide / 2.0)
        })
        .collect();
    rooms.sort_by(|one, other| one.0.total_cmp(&other.0));
    let is_tight = rooms.windows(2).any(|pair| pair[0].1 + GAP > pair[1].0);
    if is_tight { 2 } else { rooms.len().min(1) }
}

fn zoomed(canvas: &mut Canvas<'_>, draw: impl FnOnce(&mut Canvas<'_>)) {
    canvas.group(&[("zoomed", String::new())], draw);
}

struct Field<'a> {
    plot: &'a Plot,
    left: f64,
    right: f64,
    top: f64,
    bottom: f64,
    head_rows: usize,
}

impl Field<'_> {
    fn x(&self, value: f64) -> f64 {
        self.left + self.plot.x.scale.place(value) * (self.right - self.left)
    }

    fn y(&self, value: f64) -> f64 {
        self.bottom - self.plot.y.scale.place(value) * (self.bottom - self.top)
    }

    fn described(&self) -> Vec<(&'static str, String)> {
        let Plot { x, y, lines, .. } = self.plot;
        let mut phrase = vec![("x", x.title.clone()), ("y", y.title.clone())];
        let is_curve = lines.iter().all(|line| line.kind == LineKind::Bare);
        if let Some((low, high)) = x.ends().filter(|_| is_curve) {
            let (width, height) = (self.right - self.left, self.bottom - self.top);
            phrase.push(("box", format!("{:.1} {:.1} {width:.1} {height:.1}", self.left, self.top)));
            phrase.push(("range", format!("{low} {high}")));
        }
        phrase
    }

    fn bands(&self, canvas: &mut Canvas<'_>) {
        for stretch in &self.plot.stretches {
            let (from, to) = (self.x(stretch.from), self.x(stretch.to));
            canvas.rect("band", (from, self.top), (to - from, self.bottom - self.top));
        }
    }

    fn line(&self, line: &Line, canvas: &mut Canvas<'_>) {
        let mut phrase = vec![("s", line_key(line.number))];
        if line.kind == LineKind::Bare {
            let values: Vec<String> = line.points.iter().map(|(_, y)| self.plot.y.reading(*y)).collect();
            phrase.push(("points", values.join(POINTS)));
        }
        canvas.group(&phrase, |canvas| self.draw_line(line, canvas));
    }

    fn mark(&self, (x, y): (String, f64), canvas: &mut Canvas<'_>, draw: impl FnOnce(&mut Canvas<'_>)) {
        canvas.group(&[("u", x), ("v", self.plot.y.reading(y))], draw);
    }

    fn draw_line(&self, line: &Line, canvas: &mut Canvas<'_>) {
        let fill = Paint::Of(line.number).class();
        let stroke = format!("s{}", line.number % COLOURS);
        if line.kind == LineKind::Bars {
            for pair in line.points.windows(2) {
                let (from, to, height) = (self.x(pair[0].0), self.x(pair[1].0), self.y(pair[0].1));
                let gap = if to - from > 3.0 { 1.0 } else { 0.0 };
                let ends =
                    format!("{} to {}", self.plot.x.reading(pair[0].0), self.plot.x.reading(pair[1].0));
                self.mark((ends, pair[0].1), canvas, |canvas| {
                    canvas.rect(&fill, (from, height), (to - from - gap, self.bottom - height));
                });
            }
            return;
        }
        let mut whiskers = String::new();
        for ((x, _), interval) in line.points.iter().zip(&line.intervals) {
            if let Some((low, high)) = interval {
                let (x, low, high) = (self.x(*x), self.y(*low), self.y(*high));
                let _ = write!(
                    whiskers,
                    "M{x:.1} {low:.1}V{high:.1}M{:.1} {low:.1}H{:.1}M{:.1} {high:.1}H{:.1}",
                    x - 3.0,
                    x + 3.0,
                    x - 3.0,
                    x + 3.0
                );
            }
        }
        canvas.path(&format!("{stroke} iv"), &whiskers);
        if line.kind != LineKind::Dots {
            let mut path = String::new();
            for (index, (x, y)) in line.points.iter().enumerate() {
                let _ =
                    write!(path, "{}{:.1} {:.1}", if index == 0 { 'M' } else { 'L' }, self.x(*x), self.y(*y));
            }
            canvas.path(&line_class(line.number), &path);
        }
        if line.kind != LineKind::Bare {
            for (x, y) in &line.points {
                self.mark((self.plot.x.reading(*x), *y), canvas, |canvas| {
                    canvas.circle(&fill, (self.x(*x), self.y(*y)), 3.0);
                });
                canvas.keep_free((self.x(*x), self.y(*y)), 3.0);
            }
        }
    }

    /// Draws the labels of the chosen points first, then the others in order. Omits labels that would overlap: the
    /// table contains all labels.
    fn annotations(&self, canvas: &mut Canvas<'_>) {
        for mark in &self.plot.marks {
            let x = self.x(mark.at);
            zoomed(canvas, |canvas| {
                canvas.path("mark", &format!("M{x:.1} {:.1}V{:.1}", self.top, self.bottom));
            });
            self.head(canvas, x, &mark.text);
        }
        for stretch in &self.plot.stretches {
            self.head(canvas, (self.x(stretch.from) + self.x(stretch.to)) / 2.0, &stretch.text);
        }
        for is_chosen in [true, false] {
            for spot in self.plot.spots.iter().filter(|spot| spot.is_chosen == is_chosen) {
                self.spot(canvas, spot);
            }
        }
    }

    fn head(&self, canvas: &mut Canvas<'_>, x: f64, text: &str) {
        let text = fitted(&plain(text), self.right - self.left, Style::Tick);
        let above = (0..self.head_rows).map(|row| self.top - 4.0 - HEAD * row as f64);
        for y in above.chain([self.top + 12.0, self.top + 26.0]) {
            let mut is_free = false;
            canvas.group(&[("at", format!("{x:.1}"))], |canvas| {
                is_free = canvas.text_if_free((x, y), Anchor::Middle, Style::Tick, &text);
            });
            if is_free {
                return;
            }
        }
    }

    fn spot(&self, canvas: &mut Canvas<'_>, spot: &Spot) {
        let (x, y) = (self.x(spot.at.0), self.y(spot.at.1));
        if spot.is_chosen {
            canvas.path("iv", &format!("M{:.1} {y:.1}a7 7 0 1 0 14 0a7 7 0 1 0 -14 0", x - 7.0));
        }
        let style = if spot.is_chosen { Style::Strong } else { Style::Tick };
        let text = fitted(&plain(&spot.text), MOST_NAME.min(self.right - self.left), style);
        // Most curves rise to the right, which usually leaves room to the lower right or upper left.
        let positions = [
            (x + 7.0, y + 17.0, Anchor::Start),
            (x - 7.0, y - 10.0, Anchor::End),
            (x, y + 21.0, Anchor::Middle),
            (x, y - 13.0, Anchor::Middle),
            (x - 11.0, y + 4.0, Anchor::End),
        ];
        let wide = width(&text, style);
        let fits = |(x, y, anchor): &&(f64, f64, Anchor)| {
            let left = match anchor {
                Anchor::Start => *x,
                Anchor::Middle => x - wide / 2.0,
                Anchor::End => x - wide,
            };
            *y - 10.0 > self.top && *y < self.bottom - 2.0 && left > self.left
        };
        for (x, y, anchor) in positions.iter().filter(fits) {
            if canvas.text_if_free((*x, *y), *anchor, style, &text) {
                return;
            }
        }
    }
}
