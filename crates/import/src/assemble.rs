//! Tests to trials, and at the end what they share: the header of a run. Trials come out as soon as nothing can be
//! added to them. Must not know formats, files, or where trials go.

use std::{
    collections::{BTreeMap, VecDeque},
    ops::RangeInclusive,
};

use samples::{
    Arm, CpuUsage, Design, ImportRecord, ImportedKind, Origin, PathCheck, RunHeader, RunId, RunState, SCHEMA,
    ScenarioRecord, Trial, UnixMillis,
};
use sha2::{Digest, Sha256};
use thiserror::Error;

use crate::{
    cells::{Cells, MOST_CELLS},
    end_pair::{Pool, series},
    imported_test::{End, ImportedTest},
    rate_basis::RateBasis,
    read::FileReport,
    series::Series,
};

/// Rows of tables that are kept back until it is known whether the files hold the tools' own logs as well.
const MOST_ROWS: usize = 20_000;

/// Intervals of all tests together that are kept as they are: four hours and a half of both ends, a sample a second. Of
/// tests that come after, the series are made coarser, so that neither the store nor a report of thousands of them grows with
/// their length.
const MOST_INTERVALS: usize = 1 << 15;
/// To so many intervals: what thousands of tests say is in how they differ from each other.
const FEW: usize = 8;

/// What the run is called and how its tests are taken together.
#[derive(Debug, Clone)]
pub struct Meta {
    /// The run's identity.
    pub id: RunId,
    /// What it is called, as a scenario is.
    pub name: String,
    /// Its title; also the outermost heading of every test. `None` takes the files' names.
    pub title: Option<String>,
    /// The version of plumb.
    pub tool: String,
    pub now: UnixMillis,
    /// Whether tests of several files with equal settings are trials of one cell.
    pub together: bool,
    /// Whether tables count beside the tools' own logs.
    pub tables: bool,
}

/// Makes trials of tests, and of all of them a run.
#[derive(Debug)]
pub struct Assembler {
    meta: Meta,
    file: String,
    cells: Cells,
    pool: Pool,
    /// The latest test that is complete, for counts of system calls that follow it.
    latest: Option<ImportedTest>,
    rows: VecDeque<ImportedTest>,
    /// How many of them are of files before this one, whose rows count.
    rows_before: usize,
    /// Whether a tool's own log was found in this file.
    has_logs: bool,
    /// Of this file.
    rows_left_out: u64,
    /// Tests of which not all is known that arrived: how many, and the first one's file and lines.
    in_part: BTreeMap<RateBasis, (u64, String)>,
    left_out_of_cells: u64,
    /// Intervals of the trials so far.
    intervals: usize,
    /// Tests whose series were made coarser, and the first one's place.
    coarser: Option<(u64, String)>,
    record: ImportRecord,
    trials: u32,
}

/// A trial, and where it came from.
#[derive(Debug, Clone, PartialEq)]
pub struct Done {
    pub trial: Trial,
    /// What it was made of, in words: `iperf3 3.12, both ends`.
    pub what: String,
    /// The headings above it, outermost first.
    pub title: Vec<String>,
    /// The file it was read from; of both ends in two files, that of the client's log.
    pub file: String,
    pub lines: RangeInclusive<u64>,
    /// The file and the lines of the server's log, where that is another file.
    pub other_end: Option<(String, RangeInclusive<u64>)>,
}

/// What was assembled.
#[derive(Debug, Clone, PartialEq)]
pub struct Assembly {
    /// The last trials.
    pub rest: Vec<Done>,
    /// The header of the run, complete.
    pub header: RunHeader,
    /// Whether it is all that was taken.
    pub bounds: Result<(), TooManyCells>,
}

/// More tests of different settings than anybody could compare.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[error(
    "there are more than {most} different settings; import fewer files, or take columns out of the factors"
)]
pub struct TooManyCells {
    /// How many there may be.
    pub most: usize,
}

impl Assembler {
    /// A run without trials.
    #[must_use]
    pub fn new(meta: Meta) -> Self {
        Self {
            cells: Cells::new(meta.together),
            meta,
            file: String::new(),
            pool: Pool::default(),
            latest: None,
            rows: VecDeque::new(),
            rows_before: 0,
            has_logs: false,
            rows_left_out: 0,
            in_part: BTreeMap::new(),
            left_out_of_cells: 0,
            intervals: 0,
            coarser: None,
            record: ImportRecord::default(),
            trials: 0,
        }
    }

    /// The tests that follow are of this file; its name without folder and ending tells them from those of others.
    pub fn file(&mut self, name: &str) {
        (self.has_logs, self.rows_left_out, self.rows_before) = (false, 0, self.rows.len());
        self.file = name.to_owned();
    }

    /// Takes a test; the trials that are complete with it come back.
    pub fn take(&mut self, mut found: ImportedTest) -> Vec<Done> {
        if let Some(title) = &self.meta.title {
            found.title.insert(0, title.clone());
        }
        found.file.clone_from(&self.file);
        if found.format == crate::format::TABLE && !self.meta.tables {
            return self.row(found);
        }
        if is_count_of_calls(&found) {
            return self.calls(found);
        }
        self.has_logs = true;
        self.bound(&mut found);
        let complete = self.pool.offer(found);
        complete.into_iter().flat_map(|found| self.complete(found)).collect()
    }

    /// Notes what was read of a file, which ends with it. Its tables count unless it holds the tools' own logs too.
    pub fn read(&mut self, report: FileReport) {
        let name = &report.file.name;
        if let Some(same) = self.record.files.iter().find(|file| file.digest == report.file.digest) {
            self.record.notes.push(format!(
                "{name}: this is {} once more, byte for byte: its tests count twice",
                same.name
            ));
        }
        self.record.notes.extend(report.notes);
        if !self.has_logs || self.meta.tables {
            self.record.notes.extend(report.table_notes);
        } else {
            self.rows_left_out += (self.rows.len() - self.rows_before) as u64;
            self.rows.truncate(self.rows_before);
        }
        if self.rows_left_out > 0 {
            self.record.notes.push(format!(
                "{name}: {} rows of tables beside the tools' own logs were left out, as they mostly repeat them; \
                 --tables takes them too",
                self.rows_left_out
            ));
        }
        self.record.files.push(report.file);
    }

    /// Notes a file that was left out, and why.
    pub fn left_out(&mut self, why: &str) {
        self.record.notes.push(format!("left out: {why}"));
    }

    /// Whether all that was taken has a cell.
    ///
    /// # Errors
    /// When there are too many: then what came back is not all, and nothing should be kept.
    pub const fn within_bounds(&self) -> Result<(), TooManyCells> {
        if self.left_out_of_cells > 0 { Err(TooManyCells { most: MOST_CELLS }) } else { Ok(()) }
    }

    /// The header as it is by now.
    #[must_use]
    pub fn header(&self) -> RunHeader {
        let digest: Sha256 =
            self.record.files.iter().fold(Sha256::new(), |digest, file| digest.chain_update(&file.digest));
        let digest = digest.finalize().iter().map(|byte| format!("{byte:02x}")).collect();
        let (paths, cells) = self.cells.records();
        RunHeader {
            schema: SCHEMA,
            id: self.meta.id.clone(),
            scenario: ScenarioRecord {
                name: self.meta.name.clone(),
                title: self.title(),
                about: "Measured by other tools, and read from their logs.".to_owned(),
                digest,
                text: String::new(),
            },
            seed: 0,
            blocks: self.cells.most_trials(),
            planned: self.trials,
            started: self.meta.now,
            state: RunState::Unfinished,
            tool: self.meta.tool.clone(),
            origin: Origin::Imported(self.record.clone()),
            tries: None,
            probes: Vec::new(),
            missing_probes: Vec::new(),
            machines: Vec::new(),
            design: Design::default(),
            environment: None,
            paths,
            cells,
        }
    }

    /// The end of the last file.
    #[must_use]
    pub fn finish(mut self) -> Assembly {
        let mut trials: Vec<Done> = Vec::new();
        for found in self.pool.drain() {
            trials.extend(self.complete(found));
        }
        for found in std::mem::take(&mut self.rows) {
            trials.extend(self.complete(found));
        }
        trials.extend(self.latest.take().and_then(|found| self.trial(found)));
        for (counted, (tests, first)) in &self.in_part {
            let (Some(what), more) = (counted.note(), tests - 1) else { continue };
            let more = if more > 0 { format!(", and {more} more like it") } else { String::new() };
            self.record.notes.push(format!("{first}{more}: {what}"));
        }
        if let Some((tests, first)) = self.coarser.take() {
            self.record.notes.push(format!(
                "{first}: from here on intervals were added up to at most {FEW} each, in {tests} tests, as there are more \
                 than {MOST_INTERVALS}"
            ));
        }
        let header = RunHeader { state: RunState::Complete, ..self.header() };
        let bounds = self.within_bounds();
        Assembly { rest: trials, header, bounds }
    }

    fn title(&self) -> String {
        self.meta.title.clone().unwrap_or_else(|| {
            let names: Vec<&str> = self.record.files.iter().map(|file| file.name.as_str()).collect();
            match names[..] {
                [] => "Imported".to_owned(),
                [one] => format!("Imported from {one}"),
                [first, _] => format!("Imported from {first} and 1 more file"),
                [first, ..] => format!("Imported from {first} and {} more files", names.len() - 1),
            }
        })
    }

    fn row(&mut self, found: ImportedTest) -> Vec<Done> {
        self.rows.push_back(found);
        if self.rows.len() <= MOST_ROWS {
            return Vec::new();
        }
        let oldest = self.rows.pop_front();
        if self.rows_before > 0 {
            self.rows_before -= 1;
        } else if self.has_logs {
            self.rows_left_out += 1;
            return Vec::new();
        }
        oldest.into_iter().flat_map(|found| self.complete(found)).collect()
    }

    /// Counts of system calls belong to the test under the same headings before them, or are a cell of their own.
    fn calls(&mut self, found: ImportedTest) -> Vec<Done> {
        let test =
            self.pool.under(&found.title).or(self.latest.as_mut().filter(|it| it.title == found.title));
        match test.filter(|test| !found.title.is_empty() || test.lines.end() < found.lines.start()) {
            Some(test) if found.levels.is_empty() => {
                test.syscalls.extend(found.syscalls);
                Vec::new()
            }
            _ => self.complete(found),
        }
    }

    /// Makes its series coarser where those of others are many already.
    fn bound(&mut self, found: &mut ImportedTest) {
        let count: usize = series(found).map(|intervals| intervals.len()).sum();
        self.intervals += count;
        if self.intervals <= MOST_INTERVALS {
            return;
        }
        let mut any = false;
        for intervals in series(found).filter(|intervals| intervals.len() > FEW) {
            *intervals = Series::of(std::mem::take(intervals)).into_at_most(FEW);
            any = true;
        }
        if any {
            let place = format!("{}: {}", found.file, crate::places::lines(&found.lines));
            self.coarser.get_or_insert((0, place)).0 += 1;
        }
    }

    fn complete(&mut self, found: ImportedTest) -> Vec<Done> {
        self.latest.replace(found).and_then(|before| self.trial(before)).into_iter().collect()
    }

    fn trial(&mut self, found: ImportedTest) -> Option<Done> {
        let Some((cell, block)) = self.cells.place(&found) else {
            self.left_out_of_cells += 1;
            return None;
        };
        if let Some(counted) = RateBasis::of(&found.measurement).filter(|counted| counted.note().is_some()) {
            let place = || format!("{}: {}", found.file, crate::places::lines(&found.lines));
            self.in_part.entry(counted).or_insert_with(|| (0, place())).0 += 1;
        }
        let index = self.trials;
        self.trials += 1;
        let ends = match found.end {
            None => "",
            Some(End::Both) => ", both ends",
            Some(End::Client) => ", the client's log",
            Some(End::Server) => ", the server's log",
        };
        let trial = Trial {
            index,
            block,
            cell,
            arm: Arm::Measure,
            started: found.started.unwrap_or(UnixMillis(0)),
            measurement: found.measurement,
            cpu: CpuUsage { threads: found.threads, ..CpuUsage::default() },
            devices: Vec::new(),
            path_check: PathCheck::default(),
            syscalls: found.syscalls,
            observed: None,
            counters: None,
            doubts: found.doubts,
            beside: 0,
            discarded: Vec::new(),
        };
        let what = format!("{}{ends}", found.told.tool);
        let ImportedTest { title, file, lines, other_end, .. } = found;
        Some(Done { trial, what, title, file, lines, other_end })
    }
}

fn is_count_of_calls(found: &ImportedTest) -> bool {
    found.told.kind == ImportedKind::Other && !found.syscalls.is_empty()
}
