//! The output of `plumb import`: the number of tests and, with `--sources`, the location of each test.

use std::{io, ops::RangeInclusive};

use ::import::Done;
use samples::RunHeader;

use crate::output;

/// The maximum number of notes printed without `--sources`.
const NOTES: usize = 2;

const TABLE: &str = "a table";

#[derive(Default)]
pub(super) struct Summary {
    quiet: bool,
    sources: bool,
    tests: usize,
    table: Option<Table>,
}

struct Table {
    file: String,
    lines: RangeInclusive<u64>,
    heading: Option<String>,
    rows: usize,
    result: String,
}

impl Summary {
    pub(super) fn new(quiet: bool, sources: bool) -> Self {
        Self { quiet, sources, ..Self::default() }
    }

    pub(super) fn test(&mut self, done: &Done) -> io::Result<()> {
        self.tests += 1;
        if !self.sources {
            return Ok(());
        }
        let heading = done.title.last();
        let (first, last) = (*done.lines.start(), *done.lines.end());
        if done.what != TABLE {
            self.end_table()?;
            let mut places = vec![place(&done.file, &done.lines)];
            places.extend(done.other_end.as_ref().map(|(file, lines)| place(file, lines)));
            return line(&places.join(", "), &done.what, heading, &done.trial.result);
        }
        if let Some(table) = &mut self.table
            && table.file == done.file
            && table.heading.as_ref() == heading
            && (first == table.lines.end() + 1 || table.lines == done.lines)
        {
            table.lines = *table.lines.start()..=last;
            table.rows += 1;
            return Ok(());
        }
        self.end_table()?;
        self.table = Some(Table {
            file: done.file.clone(),
            lines: done.lines.clone(),
            heading: heading.cloned(),
            rows: 1,
            result: done.trial.result.clone(),
        });
        Ok(())
    }

    pub(super) fn end(&mut self, header: &RunHeader) -> io::Result<()> {
        if self.quiet {
            return output::line(&header.id);
        }
        self.end_table()?;
        let (id, results) = (&header.id, counted(header.results.len(), "result"));
        let notes = header.origin.imported().map(|record| record.notes.as_slice()).unwrap_or_default();
        if self.sources || notes.len() <= NOTES {
            notes.iter().for_each(|note| output::aside(format_args!("note: {note}")));
        } else {
            let count = notes.len();
            output::aside(format_args!("{count} notes: `plumb report {id} --section import`"));
        }
        let trials = counted(self.tests, "trial");
        output::prose(&format!("imported {trials} in {results}; `plumb report {id}` shows them"))
    }

    fn end_table(&mut self) -> io::Result<()> {
        let Some(table) = self.table.take() else { return Ok(()) };
        let (what, result) = if table.rows == 1 {
            (TABLE.to_owned(), table.result)
        } else {
            (format!("{TABLE}, {} rows", table.rows), format!("{} etc.", table.result))
        };
        let place = place(&table.file, &table.lines);
        line(&place, &what, table.heading.as_ref(), &result)
    }
}

fn line(place: &str, what: &str, heading: Option<&String>, result: &str) -> io::Result<()> {
    let heading = heading.map(|heading| format!("  \"{heading}\"")).unwrap_or_default();
    output::prose(&format!("{place}  {what}{heading}  as {result}"))
}

fn place(file: &str, lines: &RangeInclusive<u64>) -> String {
    let (first, last) = (lines.start(), lines.end());
    if first == last { format!("{file}:{first}") } else { format!("{file}:{first}-{last}") }
}

fn counted(count: usize, what: &str) -> String {
    if count == 1 { format!("1 {what}") } else { format!("{count} {what}s") }
}
