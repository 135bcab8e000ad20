//! Draws bar charts with characters. Each bar ends in the interval around the median.

use console::{measure_text_width, truncate_str};

use crate::page::{Bar, Bars, *};

const GAP: usize = 2;
/// Minimum width of a bar next to its numbers, in columns. With less room, the numbers go on a separate line.
const NARROW: usize = 20;
const WIDEST: usize = 44;

pub(super) fn draw(bars: &Bars, width: usize) -> Vec<Text> {
    let labels = bars.rows.iter().map(|bar| measure_text_width(&bar.label.characters())).max().unwrap_or(0);
    let label = labels.min(width / 4);
    let numbers = bars.rows.iter().map(|bar| measure_text_width(&bar.text.characters())).max().unwrap_or(0);
    let room = width.saturating_sub(label + GAP);
    let inline = room.saturating_sub(numbers + GAP) >= NARROW;
    let columns = if inline { room - numbers - GAP } else { room }.min(WIDEST);
    let most = bars.rows.iter().map(reach).fold(0.0, f64::max);
    let layout = Layout { label, columns, inline, most };
    bars.rows.iter().flat_map(|bar| layout.lines(bar)).collect()
}

struct Layout {
    label: usize,
    columns: usize,
    inline: bool,
    most: f64,
}

impl Layout {
    fn lines(&self, bar: &Bar) -> Vec<Text> {
        let label = truncate_str(&bar.label.characters(), self.label, "…").into_owned();
        let label = pad(&label, self.label + GAP);
        let indent = " ".repeat(self.label + GAP);
        let drawn = self.bar(bar);
        let head = Text::strong(label);
        let mut lines = if self.inline {
            let gap = " ".repeat((self.columns + GAP).saturating_sub(measure_text_width(&drawn)));
            vec![head.and_plain(drawn).and_plain(gap).then(bar.text.clone())]
        } else {
            vec![head.and_plain(drawn), Text::plain(&indent).then(bar.text.clone())]
        };
        lines.extend(bar.note.clone().map(|note| Text::plain("  ").then(note)));
        lines
    }

    /// Draws `██████├─●─┤`, or only the median if the interval is narrower than a column.
    fn bar(&self, bar: &Bar) -> String {
        if bar.value == 0.0 && bar.range.is_none() {
            return String::new();
        }
        let median = self.column(bar.value);
        let Some((low, high)) = bar.range.map(|(low, high)| (self.column(low), self.column(high))) else {
            return "█".repeat(median + 1);
        };
        let (low, high) = (low.min(median), high.max(median));
        let mark = |column: usize| match column {
            c if c == median => '●',
            c if c < low => '█',
            c if c == low => '├',
            c if c == high => '┤',
            _ => '─',
        };
        (0..=high).map(mark).collect()
    }

    fn column(&self, value: f64) -> usize {
        let last = self.columns.saturating_sub(1);
        if self.most <= 0.0 || !value.is_finite() {
            return 0;
        }
        let share = (value / self.most).clamp(0.0, 1.0);
        (share * last as f64).round() as usize
    }
}

fn reach(bar: &Bar) -> f64 {
    let high = bar.range.map_or(bar.value, |(_, high)| high.max(bar.value));
    if high.is_finite() { high } else { 0.0 }
}

fn pad(text: &str, width: usize) -> String {
    format!("{text}{}", " ".repeat(width.saturating_sub(measure_text_width(text))))
}

#[cfg(test)]
mod tests {
    use super::*;

    type Row = (&'static str, f64, Option<(f64, f64)>);

    fn check(rows: &[Row], width: usize, expected: &[&str]) {
        let rows = rows.iter().map(|(label, value, range)| Bar {
            label: (*label).into(),
            value: *value,
            range: *range,
            text: format!("{value}").into(),
            note: None,
        });
        let drawn = draw(&Bars { rows: rows.collect() }, width);
        let drawn: Vec<String> = drawn.iter().map(|line| line.characters().trim_end().to_owned()).collect();
        assert_eq!(drawn, expected);
    }

    #[test]
    fn bars_share_one_scale() {
        let rows = [("wire", 20.0, Some((18.0, 22.0))), ("vxlan", 10.0, Some((10.0, 10.0)))];
        check(&rows, 33, &["wire   █████████████████├─●─┤  20", "vxlan  ██████████●             10"]);
    }

    #[test]
    fn draws_only_a_bar_without_interval() {
        check(
            &[("a", 1.0, None), ("b", 0.0, None)],
            26,
            &["a  ████████████████████  1", "b                        0"],
        );
    }

    #[test]
    fn numbers_go_below_narrow_bars() {
        check(&[("wire", 1.0, None)], 20, &["wire  ██████████████", "      1"]);
    }

    #[test]
    fn invalid_numbers_draw_nothing() {
        check(
            &[("a", f64::NAN, Some((f64::NAN, f64::INFINITY)))],
            40,
            &["a  ●                                 NaN"],
        );
    }
}
