//! A report as a page of sections of blocks. Sections build it, backends print it.

use crate::{chart::Chart, text::Text};

/// A report.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Page {
    pub(crate) title: String,
    pub(crate) sections: Vec<Section>,
}

/// One subject of a report.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Section {
    /// `None` for content directly under the page title.
    pub(crate) title: Option<String>,
    pub(crate) depth: Depth,
    pub(crate) blocks: Vec<Block>,
}

/// In which formats a section appears.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Depth {
    Always,
    /// In every format, folded where that is read from its top.
    Folded,
    /// Where there is room for everything.
    OnlyFull,
}

impl Section {
    /// The same in every format, with nothing folded.
    pub(crate) fn unfolded(self) -> Self {
        Self {
            depth: Depth::Always,
            blocks: self.blocks.into_iter().flat_map(Block::unfolded).collect(),
            ..self
        }
    }
}

impl Block {
    fn unfolded(self) -> Vec<Self> {
        match self {
            Self::Folded { title, blocks } => [Self::Heading(title)]
                .into_iter()
                .chain(blocks.into_iter().flat_map(Self::unfolded))
                .collect(),
            other => vec![other],
        }
    }
}

/// A piece of a section.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Block {
    Heading(Text),
    /// The heading of a finding of the rule `id`.
    Claim {
        id: String,
        text: Text,
    },
    Paragraph(Text),
    Table(Table),
    /// A table with the result of this id in each row.
    Results {
        table: Table,
        ids: Vec<String>,
    },
    /// A picture, for formats that can show one; others draw its bars, if it has any.
    Chart(Box<Chart>),
    /// Lines to type, each a command.
    Commands(Vec<String>),
    /// Shown on request; the brief form leaves it out.
    Folded {
        title: Text,
        blocks: Vec<Block>,
    },
    List(Vec<Text>),
    KeyValues(Vec<(String, Text)>),
}

/// Rows under columns; every row has a result for each column.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Table {
    pub(crate) columns: Vec<Column>,
    pub(crate) rows: Vec<Vec<Text>>,
    pub(crate) caption: Option<Text>,
}

/// The head of a column.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Column {
    pub(crate) title: String,
    pub(crate) align: Align,
}

/// To which side a column's results lean.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Align {
    Left,
    Right,
}

/// A horizontal bar chart from zero.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Bars {
    pub(crate) rows: Vec<Bar>,
}

/// A bar with its error bar and texts.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Bar {
    pub(crate) label: Text,
    pub(crate) value: f64,
    /// Ends of the interval, where there is one.
    pub(crate) range: Option<(f64, f64)>,
    pub(crate) text: Text,
    pub(crate) note: Option<Text>,
}

/// A column of text.
pub(crate) fn left(title: impl Into<String>) -> Column {
    Column { title: title.into(), align: Align::Left }
}

/// A column of numbers.
pub(crate) fn right(title: impl Into<String>) -> Column {
    Column { title: title.into(), align: Align::Right }
}

/// A section that appears in every form.
pub(crate) fn section(title: impl Into<String>, blocks: Vec<Block>) -> Section {
    Section { title: Some(title.into()), depth: Depth::Always, blocks }
}

/// A section that only the full form has.
pub(crate) fn detail(title: impl Into<String>, blocks: Vec<Block>) -> Section {
    Section { depth: Depth::OnlyFull, ..section(title, blocks) }
}
