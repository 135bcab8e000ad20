//! Salvages the readable data of a file into a new file.

use std::{
    collections::{BTreeMap, BTreeSet},
    ffi::OsString,
    fs,
    path::{Path, PathBuf},
};

use samples::{RunHeader, RunId, RunRecord, RunState, Trial, UnreadablePart};
use sys::output_file;

use crate::{
    database::Database,
    error::StoreError,
    listing::{self, HeaderRow},
    record,
    store::Store,
    value::{Row, values},
};

const REPORTED: usize = 10;
/// If the highest row number is unknown, try this many numbers after the last row that could be read in order.
const FURTHER: i64 = 10_000;

#[derive(Debug)]
pub struct Repair {
    pub kept: Vec<RepairedRun>,
    pub lost: Vec<UnreadablePart>,
    pub old: PathBuf,
}

#[derive(Debug)]
pub struct RepairedRun {
    pub id: RunId,
    pub trials: u32,
    pub lost: Vec<UnreadablePart>,
}

impl Store {
    /// Returns messages about damage, but none for a server, which checks its own files.
    pub fn integrity(&self) -> Result<Vec<String>, StoreError> {
        match self.complaints() {
            Err(StoreError::Corrupt { reason, .. }) => Ok(vec![reason]),
            complaints => complaints,
        }
    }

    fn complaints(&self) -> Result<Vec<String>, StoreError> {
        if self.database.file().is_none() {
            return Ok(Vec::new());
        }
        let sql = format!("PRAGMA integrity_check({REPORTED})");
        let messages: Vec<String> =
            self.database.query(&sql, &[], |row| row.get(0)).map_err(self.place.explain("check"))?;
        Ok(messages
            .iter()
            .flat_map(|text| text.lines())
            .filter(|line| *line != "ok")
            .map(str::to_owned)
            .collect())
    }

    /// Copies the readable data to a new file and renames the old one. Runs that lost trials become unfinished. Fails
    /// without changes if a run is in progress, nothing is readable, or the store is a server.
    pub fn repair(self) -> Result<Repair, StoreError> {
        let Database::File { path, .. } = &self.database else {
            return Err(StoreError::NotAFile { place: self.place.location });
        };
        let path = path.clone();
        self.refuse_under_way()?;
        let new_path = sibling(&path, "repaired");
        // An interrupted repair may have left this file behind.
        let _ = fs::remove_file(&new_path);
        // SQLite would follow a symlink from another user, so create the file safely.
        let failed = |error: sys::Error| StoreError::Folder { folder: path.clone(), source: error.into() };
        output_file::write_new(&new_path, b"", 0o666).map_err(failed)?;
        let mut new = Self::open_with_patience(&new_path, self.place.patience)?;
        let (kept, lost) = self.salvage(&mut new)?;
        drop((self, new));
        let old = free_name(&path);
        let moved = output_file::rename(&path, &old).and_then(|()| output_file::rename(&new_path, &path));
        moved.map_err(failed)?;
        Ok(Repair { kept, lost, old })
    }

    fn refuse_under_way(&self) -> Result<(), StoreError> {
        for run in self.runs().unwrap_or_default() {
            if run.state == RunState::Unfinished {
                drop(self.claim(&run.id)?);
            }
        }
        Ok(())
    }

    fn salvage(&self, new: &mut Self) -> Result<(Vec<RepairedRun>, Vec<UnreadablePart>), StoreError> {
        let (mut kept, mut lost) = (Vec::new(), Vec::new());
        let (mut headers, mut trials) =
            (BTreeMap::new(), BTreeMap::<i64, (Vec<Trial>, Vec<UnreadablePart>)>::new());
        for number in self.numbers("run") {
            match self.salvaged_header(number) {
                Ok(Some(header)) => drop(headers.insert(number, header)),
                Ok(None) => {}
                Err(reason) => lost.push(UnreadablePart { part: format!("run number {number}"), reason }),
            }
        }
        for number in self.numbers("trial") {
            match self.salvaged_trial(number, &headers) {
                Ok(Some((run, Ok(trial)))) => trials.entry(run).or_default().0.push(trial),
                Ok(Some((run, Err(part)))) => trials.entry(run).or_default().1.push(part),
                Ok(None) => {}
                Err(reason) => lost.push(UnreadablePart { part: format!("trial number {number}"), reason }),
            }
        }
        let lost_some = lost.iter().any(|part| part.part.starts_with("trial"));
        for (number, header) in headers {
            let (trials, lost) = trials.remove(&number).unwrap_or_default();
            let mut record = RunRecord::new(header, trials);
            self.salvage_other_parts(number, &mut record);
            let last = record.trials.iter().map(|trial| trial.index + 1).max().unwrap_or(0);
            let is_short = record.trials.len() < record.header.planned.max(last) as usize;
            if record.header.origin.imported().is_none() && (!lost.is_empty() || lost_some && is_short) {
                record.header.state = RunState::Unfinished;
            }
            let id = new.keep(&record)?;
            kept.push(RepairedRun { id, trials: record.trials.len() as u32, lost });
        }
        let known: BTreeSet<RunId> = kept.iter().map(|run| run.id.clone()).collect();
        for baseline in self.baselines().unwrap_or_default() {
            if known.contains(&baseline.run) {
                new.set_baseline(&baseline.name, &baseline.run)?;
            }
        }
        Ok((kept, lost))
    }

    fn numbers(&self, table: &str) -> Vec<i64> {
        let mut numbers: Vec<i64> = Vec::new();
        let sql = format!("SELECT number FROM {table} NOT INDEXED ORDER BY number");
        let listed = self.database.ask(&sql, &[], &mut |row| row.get(0).map(|number| numbers.push(number)));
        if listed.is_err() {
            let last = numbers.last().copied().unwrap_or(0);
            let highest = format!("SELECT number FROM {table} NOT INDEXED ORDER BY number DESC LIMIT 1");
            let highest = self.database.query_row(&highest, &[], |row| row.get(0));
            numbers.extend(last + 1..=highest.ok().flatten().unwrap_or(last + FURTHER));
        }
        numbers
    }

    fn salvaged_header(&self, number: i64) -> Result<Option<RunHeader>, String> {
        let sql = "SELECT id, number, complete, header, checksum FROM run WHERE number = ?1";
        let row = |row: &Row<'_>| Ok((RunId(row.get(0)?), HeaderRow::of(row, 1)?));
        let found = self.database.query_row(sql, &values![number], row).map_err(|error| error.to_string())?;
        let Some((id, row)) = found else { return Ok(None) };
        self.header(&id, &row).map(Some).map_err(|error| error.to_string())
    }

    #[expect(
        clippy::type_complexity,
        reason = "a row that may be missing, with a record that may be unreadable"
    )]
    fn salvaged_trial(
        &self,
        number: i64,
        headers: &BTreeMap<i64, RunHeader>,
    ) -> Result<Option<(i64, Result<Trial, UnreadablePart>)>, String> {
        let sql = "SELECT run, place, record, checksum FROM trial WHERE number = ?1";
        let row =
            |row: &Row<'_>| Ok((row.get::<i64>(0)?, row.count(1)?, row.get::<String>(2)?, row.count(3)?));
        let found = self.database.query_row(sql, &values![number], row).map_err(|error| error.to_string())?;
        let Some((run, place, text, checksum)) = found else { return Ok(None) };
        if !headers.contains_key(&run) {
            return Ok(None);
        }
        let trial = record::trial_of(&text, checksum);
        Ok(Some((run, trial.map_err(|reason| UnreadablePart { part: format!("trial {place}"), reason }))))
    }

    fn salvage_other_parts(&self, number: i64, record: &mut RunRecord) {
        let database = &self.database;
        let mut unreadable = Vec::new();
        record.skipped = listing::skipped(database, number).unwrap_or_default();
        record.ends = listing::ends(database, number, &mut unreadable).unwrap_or_default();
        record.machine_changes = listing::changes(database, number, &mut unreadable).unwrap_or_default();
    }
}

fn sibling(path: &Path, ending: &str) -> PathBuf {
    let mut name: OsString = path.to_owned().into();
    name.push(format!(".{ending}"));
    name.into()
}

fn free_name(path: &Path) -> PathBuf {
    let numbered = (2..).map(|number| sibling(path, &format!("before-repair-{number}")));
    let mut names = [sibling(path, "before-repair")].into_iter().chain(numbered);
    names.find(|name| !name.exists()).expect("some number is free")
}
