//! Turns each test into a trial as early as possible, and builds the run header once all files have been read.

use std::{
    collections::{BTreeMap, BTreeSet, VecDeque},
    ops::RangeInclusive,
};

use samples::{
    Arm, CpuUsage, ImportRecord, ImportedKind, Origin, PathCheck, ResultRecord, RunHeader, RunId, RunState,
    SCHEMA, ScenarioRecord, Trial, UnixMillis,
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

/// Maximum number of table rows to hold back until the rest of the file has been checked for tool logs.
const MOST_ROWS: usize = 20_000;

/// Number of intervals stored at full resolution across all tests: 4.5 hours of both ends at one sample per second. To
/// bound the size of the store and of reports, later tests get coarser series.
const MOST_INTERVALS: usize = 1 << 15;
const MOST_NOTES: usize = 20;
const FEW: usize = 8;

#[derive(Debug, Clone)]
pub struct Meta {
    pub id: RunId,
    pub name: String,
    pub title: Option<String>,
    pub tool: String,
    pub now: UnixMillis,
    pub together: bool,
    pub tables: bool,
}

#[derive(Debug)]
pub struct Assembler {
    meta: Meta,
    file: String,
    cells: Cells,
    pool: Pool,
    latest: Option<ImportedTest>,
    rows: VecDeque<ImportedTest>,
    rows_before: usize,
    has_logs: bool,
    rows_left_out: u64,
    /// Number of tests without a receiver's rate, with the file and lines of the first one.
    in_part: BTreeMap<RateBasis, (u64, String)>,
    left_out_of_cells: u64,
    intervals: usize,
    /// Number of tests with coarser series, with the location of the first one.
    coarser: Option<(u64, String)>,
    record: ImportRecord,
    trials: u32,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Done {
    pub trial: Trial,
    /// The source, e.g. `iperf3 3.12, both ends`.
    pub what: String,
    pub title: Vec<String>,
    pub file: String,
    pub lines: RangeInclusive<u64>,
    pub other_end: Option<(String, RangeInclusive<u64>)>,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Assembly {
    pub rest: Vec<Done>,
    pub header: RunHeader,
    pub bounds: Result<(), TooManyResults>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[error("more than {most} different settings; import fewer files, or remove columns from the factors")]
pub struct TooManyResults {
    pub most: usize,
}

impl Assembler {
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

    pub fn file(&mut self, name: &str) {
        (self.has_logs, self.rows_left_out, self.rows_before) = (false, 0, self.rows.len());
        self.file = name.to_owned();
    }

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

    pub fn read(&mut self, report: FileReport) {
        let name = &report.file.name;
        if let Some(same) = self.record.files.iter().find(|file| file.digest == report.file.digest) {
            self.record
                .notes
                .push(format!("{name}: identical to {}; its tests are counted twice", same.name));
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
                "{name}: skipped {} table rows, which mostly repeat the tool logs in the same file; \
                 use --tables to import them",
                self.rows_left_out
            ));
        }
        self.record.files.push(report.file);
    }

    pub fn left_out(&mut self, why: &str) {
        self.record.notes.push(format!("left out: {why}"));
    }

    pub const fn within_bounds(&self) -> Result<(), TooManyResults> {
        if self.left_out_of_cells > 0 { Err(TooManyResults { most: MOST_CELLS }) } else { Ok(()) }
    }

    #[must_use]
    pub fn header(&self) -> RunHeader {
        let digest: Sha256 =
            self.record.files.iter().fold(Sha256::new(), |digest, file| digest.chain_update(&file.digest));
        let digest = digest.finalize().iter().map(|byte| format!("{byte:02x}")).collect();
        let (paths, results) = self.cells.records();
        RunHeader {
            schema: SCHEMA,
            id: self.meta.id.clone(),
            scenario: ScenarioRecord {
                name: self.meta.name.clone(),
                title: self.title(),
                about: "Measured by other tools and imported from their logs.".to_owned(),
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
            queue_factors: queue_factors(&results),
            paths,
            results,
            ..RunHeader::default()
        }
    }

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
            let more = if more > 0 { format!(", and {more} more") } else { String::new() };
            self.record.notes.push(format!("{first}{more}: {what}"));
        }
        if let Some((tests, first)) = self.coarser.take() {
            self.record.notes.push(format!(
                "{first}: reached the limit of {MOST_INTERVALS} intervals; {tests} tests from here on keep \
                 at most {FEW} intervals per series"
            ));
        }
        let (unexplained, notes): (Vec<String>, Vec<String>) =
            std::mem::take(&mut self.cells.unexplained).into_iter().unzip();
        self.record.notes.extend(notes.into_iter().take(MOST_NOTES));
        self.record.unexplained = unexplained;
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

    /// Adds system call counts to the preceding test under the same headings. If there is none, they become a
    /// result of their own.
    fn calls(&mut self, found: ImportedTest) -> Vec<Done> {
        let test =
            self.pool.under(&found.title).or(self.latest.as_mut().filter(|it| it.title == found.title));
        // A second summary of the same end belongs to another trial.
        let counts_end = |test: &ImportedTest| {
            found.syscalls.iter().any(|call| test.syscalls.iter().any(|other| other.end == call.end))
        };
        let test = test.filter(|test| !counts_end(test));
        match test.filter(|test| !found.title.is_empty() || test.lines.end() < found.lines.start()) {
            Some(test) if found.levels.is_empty() => {
                test.syscalls.extend(found.syscalls);
                Vec::new()
            }
            _ => self.complete(found),
        }
    }

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
        let Some((result, block)) = self.cells.place(&found) else {
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
            result,
            arm: Arm::Measure,
            started: found.started.unwrap_or(UnixMillis(0)),
            measurement: found.measurement,
            cpu: CpuUsage { threads: found.threads, ..CpuUsage::default() },
            devices: Vec::new(),
            path_check: PathCheck::default(),
            syscalls: found.syscalls,
            observed: None,
            counters: None,
            warnings: found.warnings,
            instructions: None,
            simultaneous: 0,
            discarded: Vec::new(),
        };
        let what = format!("{}{ends}", found.settings.tool);
        let ImportedTest { title, file, lines, other_end, .. } = found;
        Some(Done { trial, what, title, file, lines, other_end })
    }
}

fn is_count_of_calls(found: &ImportedTest) -> bool {
    found.settings.kind == ImportedKind::Other && !found.syscalls.is_empty()
}

fn queue_factors(results: &[ResultRecord]) -> Vec<String> {
    let is_named = |factor: &&String| {
        let factor = factor.to_lowercase();
        factor.contains("queue") && !factor.contains("len") && !factor.contains("size")
    };
    let named = results.iter().flat_map(|result| result.levels.keys()).filter(is_named);
    named.cloned().collect::<BTreeSet<String>>().into_iter().collect()
}
