//! A chart as data: marks, axes, a table and a caption. Sections and `pictures` build charts, and `svg` draws them.

mod axis;
mod data;
mod heat_map;
mod legend;
mod lettering;
mod palette;
mod plot;
mod rows;
mod scale;
mod svg;

pub(crate) use self::{
    axis::{Axis, Ticks},
    data::{Data, Field},
    heat_map::{HeatMap, Tile},
    legend::Key,
    lettering::{Weight, ems},
    palette::{COLOURS, Paint},
    plot::{Line, LineKind, Mark, Plot, Spot, Stretch},
    rows::{Piece, Row, Rows},
    scale::Scale,
    svg::{NARROW, PAGE, file, inline, style},
};

pub use self::palette::Theme;
use crate::page::Bars;

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Chart {
    pub(crate) kind: &'static str,
    pub(crate) title: String,
    pub(crate) about: String,
    pub(crate) drawing: Drawing,
    pub(crate) data: Data,
    /// The chart in text formats. `None` if a table shows the same data.
    pub(crate) plain: Option<Bars>,
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Drawing {
    Rows(Rows),
    Plots(Vec<Plot>),
    HeatMap(HeatMap),
}

#[cfg(test)]
pub(crate) fn sample(words: &str) -> Chart {
    let text = || crate::text::Text::from(words);
    let axis = || Axis { title: words.into(), scale: Scale::from_zero([2.0]), ticks: Ticks::In(1.0) };
    let row = Row {
        label: words.into(),
        pieces: vec![Piece { from: 0.0, to: 1.0, paint: Paint::Value, is_unclear: true }],
        interval: Some((0.5, 1.5)),
        middle: Some(1.0),
        points: vec![0.7, 1.2, f64::NAN],
        band: Some((0.9, 1.1)),
        text: text(),
        note: Some(text()),
    };
    let keys = vec![Key::Surface(Paint::Of(9), words.into()), Key::Line(8, words.into())];
    let mut data = Data::new(["name", "value"]);
    data.push([Some(words.to_owned()), Some("1".to_owned())]);
    Chart {
        kind: "sample",
        title: words.into(),
        about: words.into(),
        drawing: Drawing::Rows(Rows { axis: axis(), rows: vec![row], keys, reference: Some(1.0) }),
        data,
        plain: None,
    }
}

impl Chart {
    pub(crate) fn csv(&self) -> String {
        self.data.csv()
    }
}
