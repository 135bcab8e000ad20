//! Reads one file: offers every line to the formats, and passes each test on immediately.

use std::{
    borrow::Cow,
    collections::{BTreeMap, BTreeSet},
    io::BufRead,
    mem,
    ops::RangeInclusive,
};

use samples::ImportedFile;

use crate::{
    document::{self, Collector, Document},
    error::ImportError,
    format::{self, Claim, Format, Line, Out},
    gzip,
    imported_test::{Evidence, ImportedTest, Part},
    lines::{LONGEST, LineError, Lines},
    options::Options,
    outline::{Outline, Turn},
    parts::Parts,
    places::{self, Places},
    prefix, shell, unread,
};

const LONGEST_ROW: usize = 64 << 10;

/// Maximum number of notes per file. Further notes are only counted.
const MOST_NOTES: usize = 100;

const MOST_COLUMNS: usize = 1000;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileReport {
    pub file: ImportedFile,
    /// Notes about missing or skipped input, with file and line.
    pub notes: Vec<String>,
    pub table_notes: Vec<String>,
    pub columns: BTreeSet<String>,
}

/// Passes every test to `each` once it is complete, so that memory use is bounded for any file size.
pub fn read<E>(
    name: &str,
    input: &mut dyn BufRead,
    options: &Options,
    each: &mut dyn FnMut(ImportedTest) -> Result<(), E>,
) -> Result<FileReport, ImportError<E>> {
    if gzip::begins(input).map_err(|source| ImportError::Read { name: name.to_owned(), source })? {
        return read_text(name, &mut gzip::unpack(input), options, each);
    }
    read_text(name, input, options, each)
}

fn read_text<E>(
    name: &str,
    input: &mut dyn BufRead,
    options: &Options,
    each: &mut dyn FnMut(ImportedTest) -> Result<(), E>,
) -> Result<FileReport, ImportError<E>> {
    refuse_other_kinds(name, input)?;
    let mut lines = Lines::new(input);
    let mut reader = Reader::new(options, each);
    loop {
        let number = lines.number + 1;
        match lines.next() {
            Ok(Some((text, whole))) => {
                let text = if number == 1 { text.trim_start_matches('\u{feff}') } else { &text };
                reader.line(&Line { number, text, whole }).map_err(ImportError::Keep)?;
            }
            Ok(None) => break,
            Err(LineError::Read(source)) => return Err(ImportError::Read { name: name.to_owned(), source }),
            Err(LineError::TooLong) => {
                return Err(ImportError::LongLine { name: name.to_owned(), line: number, most: LONGEST });
            }
        }
    }
    reader.end(lines.number).map_err(ImportError::Keep)?;
    reader.report(name, lines)
}

struct Reader<'a, E> {
    formats: Vec<Box<dyn Format>>,
    documents: Vec<Box<dyn Document>>,
    outline: Outline,
    parts: Parts,
    collector: Collector,
    out: Out,
    latest: usize,
    found: Vec<String>,
    notes: Vec<String>,
    table_notes: Vec<String>,
    more_notes: usize,
    columns: BTreeSet<String>,
    long: Places,
    unread: BTreeMap<&'static str, Places>,
    each: &'a mut dyn FnMut(ImportedTest) -> Result<(), E>,
}

impl<'a, E> Reader<'a, E> {
    fn new(options: &Options, each: &'a mut dyn FnMut(ImportedTest) -> Result<(), E>) -> Self {
        Self {
            formats: format::of_lines(options),
            documents: format::of_documents(),
            outline: Outline::default(),
            parts: Parts::default(),
            collector: Collector::default(),
            out: Out::default(),
            latest: 0,
            found: Vec::new(),
            notes: Vec::new(),
            table_notes: Vec::new(),
            more_notes: 0,
            columns: BTreeSet::new(),
            long: Places::NONE,
            unread: BTreeMap::new(),
            each,
        }
    }

    fn line(&mut self, line: &Line<'_>) -> Result<(), E> {
        let line = &Line { text: prefix::unquoted(line.text), ..*line };
        let collected = self.collector.line(line.text, line.number);
        for (text, lines) in collected.documents {
            self.document(&text, &lines);
        }
        if let Some(lines) = collected.broken.filter(|lines| lines.end() > lines.start()) {
            let (first, last) = (lines.start(), lines.end());
            self.out.note(format!("lines {first} to {last}: truncated JSON document"));
        }
        if collected.claim == Claim::Claimed {
            self.parts.log();
            return self.hand_on();
        }
        if line.text.len() > LONGEST_ROW {
            self.long.add(line.number);
            return Ok(());
        }
        if self.outline.line(line) == Turn::Turns {
            self.turn()?;
            self.out.title = self.outline.title();
            let is_heading = !line.text.trim_start().starts_with(['`', '~']);
            if let Some(heading) = self.out.title.last().filter(|_| is_heading) {
                self.parts.heading(heading, line.number);
            }
        } else {
            self.plain_line(line);
        }
        self.hand_on()
    }

    fn plain_line(&mut self, line: &Line<'_>) {
        if line.text.trim_start().starts_with('|') {
            self.formats.iter_mut().for_each(|format| format.table_row(line, &mut self.out));
        }
        let text = without_emphasis(line.text);
        let claim = self.offer(&Line { text: &text, ..*line });
        let is_command = !text.trim_start().starts_with('[') && shell::command(&text).is_some();
        if claim == Claim::Claimed && !is_command {
            self.parts.log();
        } else {
            self.parts.line(&text, line.number);
        }
    }

    /// Offers a document, then its nested documents, to every format. Some tools embed logs of other tools.
    fn document(&mut self, text: &str, lines: &RangeInclusive<u64>) {
        let (documents, out) = (&mut self.documents, &mut self.out);
        let mut read = |text: &str| {
            documents.iter_mut().any(|document| document.read(text, lines.clone(), out) == Claim::Claimed)
        };
        let outcome = document::read_with_parts(text, &mut read);
        if let Some(why) = outcome.complaint() {
            self.out.note(format!("{}: {why}", places::lines(lines)));
        }
    }

    /// Offers a line to the formats both with and without its prefix, because a table row may start with a date. A
    /// line that no format claims ends the current test.
    fn offer(&mut self, line: &Line<'_>) -> Claim {
        let bare = prefix::stripped(line.text).map(|text| Line { text, ..*line });
        let in_table = self.latest + 1 == self.formats.len();
        let (first, second) = if in_table { (Some(*line), bare) } else { (bare, Some(*line)) };
        for line in [first, second].into_iter().flatten() {
            if self.offer_to_all(&line) == Claim::Claimed {
                return Claim::Claimed;
            }
        }
        if let Some(output) = unread::output(line.text) {
            self.out.unread(output, line.number);
        }
        Claim::Declined
    }

    fn offer_to_all(&mut self, line: &Line<'_>) -> Claim {
        let order = [self.latest].into_iter().chain((0..self.formats.len()).filter(|at| *at != self.latest));
        for at in order {
            if self.formats[at].line(line, &mut self.out) == Claim::Claimed {
                self.latest = at;
                return Claim::Claimed;
            }
        }
        Claim::Declined
    }

    fn turn(&mut self) -> Result<(), E> {
        self.formats.iter_mut().for_each(|format| format.end(&mut self.out));
        self.documents.iter_mut().for_each(|document| document.end(&mut self.out));
        self.hand_on()
    }

    fn hand_on(&mut self) -> Result<(), E> {
        let of_both =
            [(&mut self.out.notes, &mut self.notes), (&mut self.out.table_notes, &mut self.table_notes)];
        for (new, kept) in of_both {
            for note in new.drain(..) {
                if kept.len() < MOST_NOTES { kept.push(note) } else { self.more_notes += 1 }
            }
        }
        for (output, line) in self.out.unread.drain(..) {
            self.unread.entry(output).or_default().add(line);
        }
        for column in self.out.columns.drain(..) {
            if self.columns.len() < MOST_COLUMNS {
                self.columns.insert(column);
            }
        }
        for mut found in mem::take(&mut self.out.founds) {
            if found.title.is_empty() {
                found.title.clone_from(&self.out.title);
            }
            let part = self.parts.of(*found.lines.end());
            let evidence = match found.part.evidence {
                Evidence::Adjacent => part.evidence,
                own => own,
            };
            found.part = Part { evidence, ..part };
            if !self.found.iter().any(|format| format == found.format) {
                self.found.push(found.format.to_owned());
            }
            (self.each)(found)?;
        }
        Ok(())
    }

    fn end(&mut self, last: u64) -> Result<(), E> {
        if !self.long.is_empty() {
            self.out.note(format!("{}: skipped: lines over 64 KiB are not log rows", self.long));
        }
        if let Some(lines) = self.collector.end(last) {
            let place = places::lines(&lines);
            self.out.note(format!("{place}: JSON document truncated by the end of the file"));
        }
        self.turn()?;
        self.formats.iter_mut().for_each(|format| format.finish(&mut self.out));
        self.hand_on()?;
        for (output, places) in &self.unread {
            self.notes.push(format!("{places}: skipped {output}"));
        }
        Ok(())
    }

    fn report(mut self, name: &str, lines: Lines<'_>) -> Result<FileReport, ImportError<E>> {
        if lines.number == 0 {
            return Err(ImportError::Empty { name: name.to_owned() });
        }
        if self.more_notes > 0 {
            self.notes.push(format!("{} more notes are not shown", self.more_notes));
        }
        let (name, number) = (name.to_owned(), lines.number);
        if self.found.is_empty() {
            self.notes.append(&mut self.table_notes);
            self.notes.truncate(3);
            let is_known = !self.notes.is_empty() && self.unread.is_empty();
            return Err(ImportError::Nothing { name, lines: number, notes: self.notes, is_known });
        }
        let named = |notes: &[String]| notes.iter().map(|note| format!("{name}: {note}")).collect();
        let (notes, table_notes) = (named(&self.notes), named(&self.table_notes));
        let file = ImportedFile { name, digest: lines.digest(), lines: number, formats: self.found };
        Ok(FileReport { file, notes, table_notes, columns: self.columns })
    }
}

/// Removes emphasis and inline code from a log row. Tables and lists handle their own cells.
fn without_emphasis(text: &str) -> Cow<'_, str> {
    if !(text.as_bytes().contains(&b'*') || text.as_bytes().contains(&b'`')) {
        return text.into();
    }
    let plain = text.replace(['*', '`'], "");
    let is_row = plain.trim_start().starts_with('[') || plain.contains("sockperf: ");
    if is_row { plain.into() } else { text.into() }
}

fn refuse_other_kinds<E>(name: &str, input: &mut dyn BufRead) -> Result<(), ImportError<E>> {
    let head = input.fill_buf().map_err(|source| ImportError::Read { name: name.to_owned(), source })?;
    if head.is_empty() {
        return Err(ImportError::Empty { name: name.to_owned() });
    }
    let what = match head {
        [0x1f, 0x8b, ..] => "it is compressed twice; decompress it first (gunzip)",
        [b'(', 0xb5, 0x2f, 0xfd, ..] => "it is compressed; decompress it first (zstd -d)",
        [0xff, 0xfe, ..] | [0xfe, 0xff, ..] => {
            "it is UTF-16; convert it to UTF-8 first (iconv -f UTF-16 -t UTF-8)"
        }
        [0x89, b'P', b'N', b'G', ..] => "it is a PNG image",
        [0x7f, b'E', b'L', b'F', ..] => "it is an ELF executable or core file",
        [b'%', b'P', b'D', b'F', ..] => "it is a PDF document",
        [b'P', b'K', 3, 4, ..] => "it is a ZIP archive; extract it first",
        head if head.starts_with(b"SQLite format 3") => {
            "it is a database; pass stored runs to plumb by name instead of importing them"
        }
        head if head[..head.len().min(4096)].contains(&0) => "it contains NUL bytes",
        _ => return Ok(()),
    };
    Err(ImportError::NotText { name: name.to_owned(), what })
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;

    use super::*;

    fn error_of(bytes: &[u8]) -> String {
        let mut input = bytes;
        let read = read::<Infallible>("a.log", &mut input, &Options::default(), &mut |_| Ok(()));
        read.expect_err("nothing to import").to_string()
    }

    #[test]
    fn notes_overlong_lines_and_truncated_documents() {
        for (text, words) in [
            (format!("{}\n", "x".repeat(70_000)), "a.log: line 1: skipped: lines over 64 KiB"),
            ("{\"start\": {\"a\": 1,".to_owned(), "a.log: line 1: JSON document truncated"),
        ] {
            let error = error_of(text.as_bytes());
            assert!(error.contains(words), "{error}");
        }
    }

    #[test]
    fn rejects_other_files_and_lists_supported_formats() {
        for (bytes, words) in [
            (&b""[..], "a.log is empty"),
            (b"\x89PNG\r\n\x1a\n", "a PNG image"),
            (b"\x7fELF\x02\x01", "core file"),
            (b"\xff\xfei\0p\0", "UTF-16"),
            (b"a\0b", "NUL bytes"),
            (b"only words\nof prose\n", "nothing to import in a.log: none of its 2 lines"),
            (b"\xfe prose \x80\n", "nothing to import"),
        ] {
            let error = error_of(bytes);
            assert!(error.contains(words), "{error}");
        }
    }
}
