//! A heat map: a coloured, labelled tile for each pair of settings.

use super::{
    lettering::{Style, fitted, plain, width},
    palette::heat,
    svg::{Anchor, Canvas, MARGIN, label},
};

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct HeatMap {
    pub(crate) across: (String, Vec<String>),
    pub(crate) up: (String, Vec<String>),
    pub(crate) title: String,
    pub(crate) tiles: Vec<Tile>,
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Tile {
    pub(crate) at: (usize, usize),
    pub(crate) value: f64,
    pub(crate) text: String,
    pub(crate) is_chosen: bool,
}

impl HeatMap {
    fn described(&self, tile: &Tile) -> [(&'static str, String); 3] {
        let level = |(factor, levels): &(String, Vec<String>), at: usize| {
            format!("{factor}={}", levels.get(at).map_or("", String::as_str))
        };
        let levels = [level(&self.across, tile.at.0), level(&self.up, tile.at.1)].join(", ");
        [("label", label(&levels)), ("y", self.title.clone()), ("v", tile.text.clone())]
    }
}

const HIGH: f64 = 34.0;
const WIDEST: f64 = 96.0;

pub(super) fn draw(map: &HeatMap, canvas: &mut Canvas<'_>, y: f64) -> f64 {
    let (columns, rows) = (map.across.1.len().max(1), map.up.1.len().max(1));
    let labels = map.up.1.iter().map(|label| width(&plain(label), Style::Tick)).fold(0.0, f64::max).min(90.0);
    let left = MARGIN + labels + 8.0;
    let wide = ((canvas.width - MARGIN - left) / columns as f64).min(WIDEST);
    let title = format!("{}; {} upwards", map.title, map.up.0);
    let top = canvas.lines((MARGIN, y), Style::Note, &title, canvas.width - 2.0 * MARGIN, 2) + 4.0;
    let values = || map.tiles.iter().map(|tile| tile.value).filter(|value| value.is_finite());
    let (low, high) = (values().fold(f64::INFINITY, f64::min), values().fold(0.0, f64::max));
    for tile in &map.tiles {
        let corner =
            (left + tile.at.0 as f64 * wide, top + (rows - 1 - tile.at.1.min(rows - 1)) as f64 * HIGH);
        let (colour, dark) = heat((tile.value - low) / (high - low));
        canvas.group(&map.described(tile), |canvas| {
            canvas.tile(&colour, corner, (wide - 1.5, HIGH - 1.5));
            if width(&tile.text, Style::Tick) <= wide - 4.0 {
                canvas.text_on((corner.0 + wide / 2.0, corner.1 + HIGH / 2.0 + 4.0), dark, &tile.text);
            }
        });
        if tile.is_chosen {
            let (x, y) = (corner.0 + 1.5, corner.1 + 1.5);
            let (w, h) = (wide - 4.5, HIGH - 4.5);
            canvas.path("chosen", &format!("M{x:.1} {y:.1}h{w:.1}v{h:.1}h-{w:.1}z"));
        }
    }
    for (row, label) in map.up.1.iter().enumerate() {
        let y = top + (rows - 1 - row) as f64 * HIGH + HIGH / 2.0 + 4.0;
        canvas.text((left - 6.0, y), Anchor::End, Style::Tick, &fitted(&plain(label), labels, Style::Tick));
    }
    let bottom = top + rows as f64 * HIGH;
    for (column, label) in map.across.1.iter().enumerate() {
        let x = left + (column as f64 + 0.5) * wide;
        canvas.text_if_free(
            (x, bottom + 12.0),
            Anchor::Middle,
            Style::Tick,
            &fitted(&plain(label), wide * 1.5, Style::Tick),
        );
    }
    canvas.lines((left, bottom + 15.0), Style::Note, &map.across.0, canvas.width - MARGIN - left, 2)
}
