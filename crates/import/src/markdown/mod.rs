//! Reads numbered lists, and tables as Markdown, boxes, aligned columns and CSV.

mod caption;
mod cell;
pub(crate) mod column;
mod faults;
mod known_settings;
mod levels;
mod list;
mod perf_tests;
mod row;
mod statistics;
mod table;

use self::{
    known_settings::KnownSettings,
    list::List,
    row::{Row, aligned, box_rule, row, rule, separated},
    table::Table,
};
use crate::{
    format::{Claim, Format, Line, Out},
    options::Options,
    unread,
};

/// Maximum length of a row, in bytes, in a table without rules.
const LONGEST: usize = 400;
const SHOWN: usize = 300;

#[derive(Debug, Default)]
pub(crate) struct Markdown {
    options: Options,
    known: KnownSettings,
    before: Option<(u64, Row)>,
    above: (u64, String),
    /// The latest line of text. If it ends with a unit, the unit applies to the next table.
    caption: String,
    framed: Option<Frame>,
    table: Option<Table>,
    layout: Layout,
    under: bool,
    list: List,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum Layout {
    #[default]
    Bars,
    Aligned,
    Separated,
    /// CSV of kubernetes/perf-tests with this many columns.
    PerfTests(usize),
}

impl Layout {
    const WITHOUT_RULES: [Self; 2] = [Self::Aligned, Self::Separated];

    /// Returns an upper bound on the cells in a line. This is cheaper than splitting it.
    fn most_cells(self, line: &str) -> usize {
        match self {
            Self::Aligned => 1 + line.matches("  ").count() + line.matches('\t').count(),
            _ => 1 + line.matches(',').count(),
        }
    }

    fn row(self, line: &str) -> Option<Row> {
        match self {
            Self::Bars => row(line),
            Self::Aligned => aligned(line),
            Self::Separated => separated(line),
            Self::PerfTests(columns) => perf_tests::row(line, columns),
        }
    }
}

#[derive(Debug, Default)]
struct Frame {
    first: u64,
    cells: Vec<String>,
    closed: bool,
    /// Whether a rule follows every row. If so, rows may have several lines.
    is_grid: bool,
    ruled: u64,
}

impl Frame {
    fn add(&mut self, row: Row, line: u64) {
        if self.cells.is_empty() {
            (self.first, self.cells, self.closed) = (line, row.cells, row.closed);
            return;
        }
        for (cell, more) in self.cells.iter_mut().zip(row.cells).filter(|(_, more)| !more.is_empty()) {
            cell.push(' ');
            cell.push_str(&more);
        }
    }

    fn take(&mut self) -> Option<(u64, Row)> {
        let cells = std::mem::take(&mut self.cells);
        (!cells.is_empty()).then_some((self.first, Row { cells, closed: self.closed }))
    }
}

impl Markdown {
    pub(crate) fn new(options: &Options) -> Self {
        Self { options: options.clone(), ..Self::default() }
    }

    fn table_row(&mut self, line: &Line<'_>, out: &mut Out) -> Claim {
        let Some(table) = &mut self.table else { return Claim::Declined };
        let Some(row) = self.layout.row(line.text) else {
            self.end_table(out);
            self.under = true;
            return Claim::Declined;
        };
        match &mut self.framed {
            Some(frame) if frame.is_grid => frame.add(row, line.number),
            _ => table.row(row, line, &self.options, &mut self.known, out),
        }
        Claim::Claimed
    }

    fn frame(&mut self, line: &Line<'_>, out: &mut Out) -> Claim {
        let Some(rule) = box_rule(line.text) else {
            let Some(frame) = self.framed.as_mut().filter(|_| self.table.is_none()) else {
                return Claim::Declined;
            };
            let Some(row) = row(line.text) else {
                self.framed = None;
                return Claim::Declined;
            };
            frame.add(row, line.number);
            return Claim::Claimed;
        };
        // Two adjacent rules separate two tables.
        if self.framed.as_ref().is_some_and(|frame| frame.ruled + 1 == line.number) {
            self.end_table(out);
        }
        let frame = self.framed.get_or_insert_with(Frame::default);
        frame.ruled = line.number;
        match (frame.take(), &mut self.table) {
            (Some((at, row)), Some(table)) => {
                let line = Line { number: at, ..*line };
                table.row(row, &line, &self.options, &mut self.known, out);
            }
            (Some((at, heading)), None) => {
                frame.is_grid = rule.under_heading;
                self.begin(at, heading, Layout::Bars, out);
            }
            (None, _) => {}
        }
        Claim::Claimed
    }

    /// Starts a table without rules if two lines have the same number of cells, and the second has a rate, or a time
    /// below a heading that names one.
    fn begin_without_rules(&mut self, line: &Line<'_>, out: &mut Out) -> Claim {
        let (number, heading) = &mut self.above;
        let above = *number;
        let mut begun = None;
        // Prose and lines of other tools contain few separators.
        if above + 1 == line.number && line.text.len() <= LONGEST {
            let may_be = |layout: &Layout| layout.most_cells(heading).min(layout.most_cells(line.text)) > 1;
            begun = Layout::WITHOUT_RULES.into_iter().filter(may_be).find_map(|layout| {
                let (heading, row) = layout.row(heading).zip(layout.row(line.text))?;
                if let Some(heading) = perf_tests::heading(&heading) {
                    return Some((Layout::PerfTests(heading.cells.len()), heading));
                }
                let fits =
                    heading.cells.len() == row.cells.len() && table::is_measured(&heading.cells, &row.cells);
                fits.then_some((layout, heading))
            });
        }
        let may_head = line.text.len() <= LONGEST
            && Layout::WITHOUT_RULES.iter().any(|layout| layout.most_cells(line.text) > 1);
        if may_head {
            *number = line.number;
            heading.clear();
            heading.push_str(line.text);
        }
        let Some((layout, heading)) = begun else { return Claim::Declined };
        if layout != Layout::Aligned && layout != Layout::Separated {
            out.note_on_table(format!("The table at line {above} {}.", perf_tests::NOTE));
        }
        self.begin(above, heading, layout, out);
        self.table_row(line, out)
    }

    fn begin(&mut self, at: u64, mut heading: Row, layout: Layout, out: &mut Out) {
        self.list.end(&self.known, out);
        let titles = out.title.last().into_iter();
        let unit = [&self.caption].into_iter().chain(titles).find_map(|text| caption::unit_at_end(text));
        if let Some(unit) = unit {
            caption::add_unit(&mut heading.cells, unit);
        }
        self.caption.clear();
        if let Some(tool) = unread::output(&heading.cells.join(" ")) {
            out.unread(tool, at);
            self.framed = None;
            return;
        }
        out.columns.extend(heading.cells.iter().cloned());
        (self.table, self.layout) = (Some(Table::new(heading, at)), layout);
    }

    fn begins(&mut self, line: &Line<'_>, out: &mut Out) -> Claim {
        let before = self.before.take().filter(|(at, _)| at + 1 == line.number);
        let Some(columns) = rule(line.text) else {
            self.before = row(line.text).map(|row| (line.number, row));
            return Claim::Declined;
        };
        let Some((at, heading)) = before else { return Claim::Declined };
        if heading.cells.len() == columns {
            self.begin(at, heading, Layout::Bars, out);
        } else {
            let named = heading.cells.len();
            out.note_on_table(format!(
                "Skipped the table at line {at}: {named} headings for {columns} columns."
            ));
        }
        Claim::Claimed
    }

    fn end_table(&mut self, out: &mut Out) {
        self.framed = None;
        if let Some(table) = self.table.take() {
            table.end(&self.options, &mut self.known, out);
        }
    }

    fn remark(&mut self, line: &Line<'_>, out: &mut Out) -> Claim {
        let text = line.text.trim();
        let marked = text.starts_with(['*', '†', '‡', '※', '¹']) || text.to_lowercase().starts_with("note");
        if !std::mem::take(&mut self.under) || !marked {
            return Claim::Declined;
        }
        let shown: String = text.trim_start_matches(['*', ' ']).chars().take(SHOWN).collect();
        out.note_on_table(format!("Remark on the table above line {}: {shown}", line.number));
        Claim::Claimed
    }
}

impl Format for Markdown {
    fn line(&mut self, line: &Line<'_>, out: &mut Out) -> Claim {
        if self.frame(line, out) == Claim::Claimed
            || self.table_row(line, out) == Claim::Claimed
            || self.remark(line, out) == Claim::Claimed
            || self.begins(line, out) == Claim::Claimed
            || self.begin_without_rules(line, out) == Claim::Claimed
        {
            return Claim::Claimed;
        }
        let text = line.text.trim();
        if !text.is_empty() && !text.contains('|') {
            self.caption.clear();
            self.caption.push_str(if text.len() <= caption::LONGEST { text } else { "" });
        }
        self.list.line(line, &self.known, out)
    }

    fn end(&mut self, out: &mut Out) {
        self.end_table(out);
        self.list.end(&self.known, out);
        self.list.forget();
        (self.before, self.framed) = (None, None);
        self.caption.clear();
        self.above = (0, String::new());
        self.under = false;
    }
}

#[cfg(test)]
mod tests;
