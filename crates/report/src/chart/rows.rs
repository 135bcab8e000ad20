//! Labelled rows on a horizontal axis: stacked bars, intervals, and a dot per trial.

use super::{
    axis::Axis,
    legend::{self, BAND, DOT, INTERVAL, Key, UNCLEAR, interval},
    lettering::{Style, plain, width, wrapped},
    palette::Paint,
    svg::{Anchor, Canvas, MARGIN, label, line_height},
};
use crate::text::Text;

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Rows {
    pub(crate) axis: Axis,
    pub(crate) rows: Vec<Row>,
    pub(crate) keys: Vec<Key>,
    pub(crate) reference: Option<f64>,
}

#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Row {
    pub(crate) label: String,
    pub(crate) pieces: Vec<Piece>,
    pub(crate) interval: Option<(f64, f64)>,
    pub(crate) middle: Option<f64>,
    pub(crate) points: Vec<f64>,
    pub(crate) band: Option<(f64, f64)>,
    pub(crate) text: Text,
    pub(crate) note: Option<Text>,
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Piece {
    pub(crate) from: f64,
    pub(crate) to: f64,
    pub(crate) paint: Paint,
    pub(crate) is_unclear: bool,
}

const BAR: f64 = 14.0;
const LANE: f64 = 9.0;
const APART: f64 = 9.0;
const MOST_LABEL: f64 = 0.36;
/// Text wider than this goes above the bar instead of next to it.
const MOST_INLINE: f64 = 190.0;
/// Maximum number of rows. The table shows all.
pub(crate) const MOST_ROWS: usize = 60;

pub(super) fn draw(rows: &Rows, canvas: &mut Canvas<'_>, y: f64) -> f64 {
    let shown = &rows.rows[..rows.rows.len().min(MOST_ROWS)];
    let layout = Layout::of(shown, &rows.axis, canvas);
    let top = legend::draw(&rows.keys, canvas, y);
    // Compute positions first: the background is drawn before the rows.
    let mut places = Vec::new();
    let mut end = top;
    for row in shown {
        places.push(end);
        end += layout.height(row) + APART;
    }
    end = rows.axis.along(canvas, (layout.left, layout.right), (top, end));
    if let Some(reference) = rows.reference {
        let x = layout.x(reference);
        canvas.path("mark", &format!("M{x:.1} {top:.1}V{:.1}", places.last().map_or(top, |y| y + BAR + 4.0)));
    }
    canvas.group(&[("y", rows.axis.title.clone())], |canvas| {
        shown.iter().zip(places).for_each(|(row, y)| layout.row(row, canvas, y));
    });
    match rows.rows.len() - shown.len() {
        0 => end,
        more => canvas.lines(
            (layout.left, end),
            Style::Note,
            &format!("and {more} more in the table"),
            layout.right,
            1,
        ),
    }
}

struct Layout<'a> {
    axis: &'a Axis,
    left: f64,
    right: f64,
    is_stacked: bool,
    /// Labels are bold unless the rows have headings.
    style: Style,
    is_inline: bool,
    width: f64,
}

impl<'a> Layout<'a> {
    fn of(rows: &[Row], axis: &'a Axis, canvas: &Canvas<'_>) -> Self {
        let widest = |text: &dyn Fn(&Row) -> f64| rows.iter().map(text).fold(0.0, f64::max);
        let drawn = |row: &Row| !row.is_heading();
        let style = if rows.iter().all(drawn) { Style::Strong } else { Style::Plain };
        let label = widest(&|row| if drawn(row) { width(&plain(&row.label), style) } else { 0.0 });
        let text = widest(&|row| width(&plain(&row.text.characters()), Style::Plain));
        let is_stacked = canvas.is_narrow();
        let is_inline = !is_stacked && text <= MOST_INLINE;
        let left = if is_stacked { MARGIN } else { MARGIN + label.min(canvas.width * MOST_LABEL) + 12.0 };
        let taken = if is_inline { text + 12.0 } else { 0.0 };
        Self {
            axis,
            left,
            right: canvas.width - MARGIN - taken,
            is_stacked,
            style,
            is_inline,
            width: canvas.width,
        }
    }

    fn x(&self, value: f64) -> f64 {
        self.left + self.axis.scale.place(value) * (self.right - self.left)
    }

    fn label(&self, row: &Row) -> Vec<String> {
        let room = if self.is_stacked || row.is_heading() {
            self.width - 2.0 * MARGIN
        } else {
            self.left - MARGIN - 12.0
        };
        if row.is_heading() {
            wrapped(&plain(&row.label), room, Style::Strong, 1)
        } else {
            wrapped(&plain(&row.label), room, self.style, 2)
        }
    }

    fn texts(&self, text: &Text) -> Vec<String> {
        wrapped(&plain(&text.characters()), self.width - MARGIN - self.left, Style::Plain, 2)
    }

    fn note(&self, row: &Row) -> Vec<String> {
        let note = row.note.as_ref().map(|note| plain(&note.characters())).unwrap_or_default();
        if note.trim().is_empty() {
            return Vec::new();
        }
        wrapped(note.trim(), self.width - MARGIN - self.left, Style::Note, 4)
    }

    fn has_text(row: &Row) -> bool {
        !row.text.characters().trim().is_empty()
    }

    fn is_shared(&self, row: &Row) -> bool {
        let both =
            width(&plain(&row.label), self.style) + width(&plain(&row.text.characters()), Style::Plain);
        self.is_stacked && !row.label.is_empty() && both + 14.0 <= self.width - 2.0 * MARGIN
    }

    fn above(&self, row: &Row) -> f64 {
        if self.is_shared(row) {
            return line_height(Style::Plain);
        }
        let labels = if self.is_stacked { self.label(row).len() } else { 0 };
        let texts = if self.is_inline || !Self::has_text(row) { 0 } else { self.texts(&row.text).len() };
        (labels + texts) as f64 * line_height(Style::Plain)
    }

    fn height(&self, row: &Row) -> f64 {
        let label = self.label(row).len() as f64 * line_height(Style::Strong);
        if row.is_heading() {
            return label;
        }
        let lane = if row.points.is_empty() { 0.0 } else { LANE };
        let own = self.above(row) + BAR + lane + self.note(row).len() as f64 * line_height(Style::Note);
        if self.is_stacked { own } else { own.max(label) }
    }

    fn row(&self, row: &Row, canvas: &mut Canvas<'_>, y: f64) {
        let mut line = y;
        for label in self.label(row) {
            line += line_height(Style::Strong);
            let (x, anchor) = if self.is_stacked || row.is_heading() {
                (MARGIN, Anchor::Start)
            } else {
                (self.left - 12.0, Anchor::End)
            };
            let style = if row.is_heading() { Style::Strong } else { self.style };
            canvas.text((x, line - 5.0), anchor, style, &label);
        }
        if row.is_heading() {
            return;
        }
        let bar = y + self.above(row);
        canvas.group(&[("label", label(&row.label))], |canvas| self.bar(row, canvas, bar));
        self.text(row, canvas, bar);
        let mut base = bar + BAR + if row.points.is_empty() { 0.0 } else { LANE };
        for line in self.note(row) {
            base += line_height(Style::Note);
            canvas.text((self.left, base - 3.0), Anchor::Start, Style::Note, &line);
        }
    }

    fn text(&self, row: &Row, canvas: &mut Canvas<'_>, bar: f64) {
        if !Self::has_text(row) {
            return;
        }
        if self.is_shared(row) {
            return canvas.spans((self.right, bar - 5.0), Anchor::End, Style::Plain, &row.text);
        }
        if self.is_inline {
            let base = bar + BAR - 3.0;
            return canvas.spans((self.right + 12.0, base), Anchor::Start, Style::Plain, &row.text);
        }
        let lines = self.texts(&row.text);
        let mut base = bar - lines.len() as f64 * line_height(Style::Plain);
        let is_whole = lines.len() == 1 && lines[0] == plain(&row.text.characters()).trim();
        for line in &lines {
            base += line_height(Style::Plain);
            if is_whole {
                canvas.spans((self.left, base - 5.0), Anchor::Start, Style::Plain, &row.text);
            } else {
                canvas.text((self.left, base - 5.0), Anchor::Start, Style::Plain, line);
            }
        }
    }

    fn bar(&self, row: &Row, canvas: &mut Canvas<'_>, y: f64) {
        if let Some((low, high)) = row.band {
            self.mark(BAND, self.ends((low, high)), canvas, |canvas| {
                let (low, high) = (self.x(low), self.x(high));
                canvas.rect("band", (low, y - 3.0), (high - low, BAR + 6.0));
            });
        }
        for piece in &row.pieces {
            let (from, to) = (self.x(piece.from.min(piece.to)), self.x(piece.from.max(piece.to)));
            let key = if piece.is_unclear { UNCLEAR.to_owned() } else { piece.paint.key() };
            self.mark(&key, self.axis.reading((piece.to - piece.from).abs()), canvas, |canvas| {
                canvas.rect(&piece.paint.class(), (from, y), (to - from, BAR));
                if piece.is_unclear || piece.paint.is_patterned() {
                    canvas.hatch((from, y), (to - from, BAR));
                }
            });
        }
        let middle = y + BAR / 2.0;
        if let Some((low, high)) = row.interval {
            self.mark(INTERVAL, self.ends((low, high)), canvas, |canvas| {
                canvas.path("iv", &interval((self.x(low), self.x(high)), middle, 4.0));
            });
        }
        if let Some(value) = row.middle {
            self.mark(INTERVAL, self.axis.reading(value), canvas, |canvas| {
                canvas.circle("mid", (self.x(value), middle), 3.0);
            });
        }
        for point in row.points.iter().filter(|point| point.is_finite()) {
            self.mark(DOT, self.axis.reading(*point), canvas, |canvas| {
                canvas.circle("dot", (self.x(*point), y + BAR + LANE / 2.0), 2.5);
            });
        }
    }

    fn mark(&self, key: &str, value: String, canvas: &mut Canvas<'_>, draw: impl FnOnce(&mut Canvas<'_>)) {
        canvas.group(&[("s", key.to_owned()), ("v", value)], draw);
    }

    fn ends(&self, (low, high): (f64, f64)) -> String {
        format!("{} to {}", self.axis.reading(low), self.axis.reading(high))
    }
}

impl Row {
    fn is_heading(&self) -> bool {
        self.pieces.is_empty()
            && self.interval.is_none()
            && self.middle.is_none()
            && self.points.is_empty()
            && !Layout::has_text(self)
    }

    pub(crate) fn reach(&self) -> impl Iterator<Item = f64> {
        let pieces = self.pieces.iter().flat_map(|piece| [piece.from, piece.to]);
        let ends = self.interval.into_iter().flat_map(|(low, high)| [low, high]);
        pieces.chain(ends).chain(self.middle).chain(self.points.iter().copied())
    }
}
