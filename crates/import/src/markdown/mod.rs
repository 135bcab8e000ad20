//! Tables and lists in Markdown.

mod cell;
pub(crate) mod column;
mod faults;
mod known_settings;
mod list;
mod row;
mod statistics;
mod table;

use self::{
    known_settings::KnownSettings,
    list::List,
    row::{Row, row, rule},
    table::Table,
};
use crate::{
    format::{Claim, Format, Line, Out},
    options::Options,
};

/// Characters of a remark shown in a note.
const SHOWN: usize = 300;

/// Parses tables and numbered lists of system calls.
#[derive(Debug, Default)]
pub(crate) struct Markdown {
    options: Options,
    known: KnownSettings,
    /// The previous line, if it may be a table heading.
    before: Option<(u64, Row)>,
    table: Option<Table>,
    /// The previous line ended a table, so this one may be a remark on it.
    under: bool,
    list: List,
}

impl Markdown {
    pub(crate) fn new(options: &Options) -> Self {
        Self { options: options.clone(), ..Self::default() }
    }

    fn table_row(&mut self, line: &Line<'_>, out: &mut Out) -> Claim {
        match (&mut self.table, row(line.text)) {
            (Some(table), Some(row)) => {
                table.row(row, line, &self.options, &mut self.known, out);
                Claim::Claimed
            }
            (Some(_), None) => {
                self.end_table(out);
                self.under = true;
                Claim::Declined
            }
            (None, _) => Claim::Declined,
        }
    }

    /// Whether the line is a delimiter row, which starts a table.
    fn begins(&mut self, line: &Line<'_>, out: &mut Out) -> Claim {
        let before = self.before.take().filter(|(at, _)| at + 1 == line.number);
        let Some(columns) = rule(line.text) else {
            self.before = row(line.text).map(|row| (line.number, row));
            return Claim::Declined;
        };
        let Some((at, heading)) = before else { return Claim::Declined };
        if heading.cells.len() == columns {
            self.list.end(&self.known, out);
            out.columns.extend(heading.cells.iter().cloned());
            self.table = Some(Table::new(heading, at));
        } else {
            let named = heading.cells.len();
            out.note_on_table(format!(
                "Skipped the table at line {at}: {named} headings for {columns} columns."
            ));
        }
        Claim::Claimed
    }

    fn end_table(&mut self, out: &mut Out) {
        if let Some(table) = self.table.take() {
            table.end(&self.options, &mut self.known, out);
        }
    }

    /// A remark directly below a table, e.g. a footnote.
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
        if self.table_row(line, out) == Claim::Claimed
            || self.remark(line, out) == Claim::Claimed
            || self.begins(line, out) == Claim::Claimed
        {
            return Claim::Claimed;
        }
        self.list.line(line, &self.known, out)
    }

    fn end(&mut self, out: &mut Out) {
        self.end_table(out);
        self.list.end(&self.known, out);
        self.list.forget();
        self.before = None;
        self.under = false;
    }
}

#[cfg(test)]
mod tests;
