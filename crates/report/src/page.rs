//! A report as a page of sections. A section consists of blocks.

pub(crate) use itertools::Itertools as _;

use crate::chart::Chart;
pub(crate) use crate::text::{Text, Tone, glued, softened};

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Page {
    pub(crate) title: String,
    pub(crate) sections: Vec<Section>,
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Section {
    pub(crate) title: Option<String>,
    pub(crate) depth: Depth,
    pub(crate) blocks: Vec<Block>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Summary {
    /// The summary comes first, for pages that are read from the top.
    #[default]
    First,
    /// The summary comes last, for terminals, which show the end of the output.
    Last,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Depth {
    Always,
    /// The section is folded in formats that are read from the top.
    Folded,
    OnlyFull,
}

impl Section {
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

#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Block {
    Heading(Text),
    Claim {
        id: String,
        text: Text,
    },
    Paragraph(Text),
    Table(Table),
    Results {
        table: Table,
        ids: Vec<String>,
        findings: Vec<Vec<String>>,
    },
    /// Formats that cannot show charts draw the chart's bars instead, if any.
    Chart(Box<Chart>),
    Commands(Vec<String>),
    /// The blocks are folded. The brief form omits them.
    Folded {
        title: Text,
        blocks: Vec<Block>,
    },
    List(Vec<Text>),
    KeyValues(Vec<(String, Text)>),
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Table {
    pub(crate) columns: Vec<Column>,
    pub(crate) rows: Vec<Vec<Text>>,
    pub(crate) caption: Option<Text>,
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Column {
    pub(crate) title: String,
    pub(crate) align: Align,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Align {
    Left,
    Right,
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Bars {
    pub(crate) rows: Vec<Bar>,
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Bar {
    pub(crate) label: Text,
    pub(crate) value: f64,
    pub(crate) range: Option<(f64, f64)>,
    pub(crate) text: Text,
    pub(crate) note: Option<Text>,
}

pub(crate) fn left(title: impl Into<String>) -> Column {
    Column { title: title.into(), align: Align::Left }
}

pub(crate) fn right(title: impl Into<String>) -> Column {
    Column { title: title.into(), align: Align::Right }
}

pub(crate) fn section(title: impl Into<String>, blocks: Vec<Block>) -> Section {
    Section { title: Some(title.into()), depth: Depth::Always, blocks }
}

pub(crate) fn section_of(title: impl Into<String>, blocks: Vec<Block>) -> Option<Section> {
    (!blocks.is_empty()).then(|| section(title, blocks))
}

pub(crate) fn detail(title: impl Into<String>, blocks: Vec<Block>) -> Section {
    Section { depth: Depth::OnlyFull, ..section(title, blocks) }
}
