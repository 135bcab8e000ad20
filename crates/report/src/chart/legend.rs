//! The legend of a chart.

use super::{
    lettering::{Style, fitted, plain, width},
    palette::{COLOURS, Paint},
    svg::{Anchor, Canvas, MARGIN},
};

#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Key {
    Surface(Paint, String),
    /// Marks values that are not statistically significant.
    Hatched(String),
    Line(usize, String),
    Dot(String),
    Interval(String),
    Band(String),
}

const SAMPLE: f64 = 22.0;
const ROW: f64 = 18.0;
const MOST: usize = 24;

pub(super) fn draw(keys: &[Key], canvas: &mut Canvas<'_>, y: f64) -> f64 {
    if keys.is_empty() {
        return y;
    }
    let (mut x, mut top) = (MARGIN, y);
    for key in keys.iter().take(MOST) {
        let room = canvas.width - 2.0 * MARGIN - SAMPLE;
        let name = fitted(&plain(key.name()), room, Style::Note);
        let wide = SAMPLE + width(&name, Style::Note) + 14.0;
        if x > MARGIN && x + wide > canvas.width - MARGIN + 14.0 {
            (x, top) = (MARGIN, top + ROW);
        }
        canvas.group(&[("k", key.mark())], |canvas| {
            sample(key, canvas, (x, top + 8.0));
            canvas.text((x + SAMPLE, top + 12.0), Anchor::Start, Style::Note, &name);
        });
        x += wide;
    }
    if let Some(more) = keys.len().checked_sub(MOST).filter(|more| *more > 0) {
        top += ROW;
        canvas.text((MARGIN, top + 12.0), Anchor::Start, Style::Note, &format!("and {more} more"));
    }
    top + ROW + 4.0
}

impl Key {
    fn name(&self) -> &str {
        match self {
            Self::Surface(_, name)
            | Self::Hatched(name)
            | Self::Line(_, name)
            | Self::Dot(name)
            | Self::Interval(name)
            | Self::Band(name) => name,
        }
    }

    fn mark(&self) -> String {
        match self {
            Self::Surface(paint, _) => paint.key(),
            Self::Hatched(_) => UNCLEAR.to_owned(),
            Self::Line(number, _) => line_key(*number),
            Self::Dot(_) => DOT.to_owned(),
            Self::Interval(_) => INTERVAL.to_owned(),
            Self::Band(_) => BAND.to_owned(),
        }
    }
}

pub(super) const UNCLEAR: &str = "unclear";
pub(super) const DOT: &str = "dot";
pub(super) const INTERVAL: &str = "interval";
pub(super) const BAND: &str = "band";

pub(super) fn line_key(number: usize) -> String {
    format!("line-{number}")
}

fn sample(key: &Key, canvas: &mut Canvas<'_>, (x, y): (f64, f64)) {
    let (corner, size) = ((x, y - 5.0), (16.0, 10.0));
    match key {
        Key::Surface(paint, _) => {
            canvas.rect(&paint.class(), corner, size);
            if paint.is_patterned() {
                canvas.hatch(corner, size);
            }
        }
        Key::Hatched(_) => {
            canvas.rect("ff", corner, size);
            canvas.hatch(corner, size);
        }
        Key::Band(_) => canvas.rect("band", corner, size),
        Key::Dot(_) => canvas.circle("dot", (x + 8.0, y), 2.5),
        Key::Interval(_) => {
            canvas.path("iv", &interval((x, x + 16.0), y, 3.0));
            canvas.circle("mid", (x + 8.0, y), 2.5);
        }
        Key::Line(number, _) => {
            canvas.path(&line_class(*number), &format!("M{x:.1} {y:.1}H{:.1}", x + 16.0));
            canvas.circle(&format!("f{}", number % COLOURS), (x + 8.0, y), 3.0);
        }
    }
}

pub(super) fn line_class(number: usize) -> String {
    format!("line s{} d{}", number % COLOURS, (number + number / COLOURS) % COLOURS)
}

pub(super) fn interval((from, to): (f64, f64), y: f64, half: f64) -> String {
    let (above, below) = (y - half, y + half);
    format!("M{from:.1} {y:.1}H{to:.1}M{from:.1} {above:.1}V{below:.1}M{to:.1} {above:.1}V{below:.1}")
}
