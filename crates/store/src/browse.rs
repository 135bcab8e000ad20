//! Pages of the run list, and the progress and new trials of a run.

use samples::{RunId, RunState, Trial};

use crate::{
    database::Database,
    error::StoreError,
    listing::{LISTED, NUMBER, RunListing, listing},
    record,
    store::Store,
    value::{Value, values},
};

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RunFilter {
    /// Part of the run's name, scenario name or title. Ignores the case of ASCII letters.
    pub text: String,
    pub scenario: Option<String>,
    pub state: Option<RunState>,
    pub imported: Option<bool>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RunPosition(pub i64);

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunPart {
    pub runs: Vec<RunListing>,
    pub next: Option<RunPosition>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RunProgress {
    pub completed: u32,
    pub planned: u32,
    pub state: RunState,
    /// A number that changes with every trial, including repeats that replace another trial.
    pub newest: i64,
}

impl Store {
    /// The cost depends on the runs that the filter skips, but not on the total number of runs.
    pub fn browse(
        &self,
        filter: &RunFilter,
        after: Option<RunPosition>,
        most: usize,
    ) -> Result<RunPart, StoreError> {
        let (conditions, mut values) = filter.conditions(&self.database, after);
        values.push(Value::from(i64::try_from(most + 1).unwrap_or(i64::MAX)));
        let mut found = self
            .database
            .query(&browse_sql(&conditions), &values, |row| Ok((row.get::<i64>(NUMBER)?, listing(row)?)))
            .map_err(self.place.explain("list the runs of"))?;
        let has_more = found.len() > most;
        found.truncate(most);
        let next = found.last().filter(|_| has_more).map(|(number, _)| RunPosition(*number));
        Ok(RunPart { runs: found.into_iter().map(|(_, run)| run).collect(), next })
    }

    pub fn progress(&self, run: &RunId) -> Result<RunProgress, StoreError> {
        let sql = "SELECT (SELECT count(*) FROM trial WHERE trial.run = run.number), planned, complete,
                       (SELECT coalesce(max(number), 0) FROM trial WHERE trial.run = run.number)
                   FROM run WHERE id = ?1";
        let found = self.database.query_row(sql, &values![&run.0], |row| {
            let state = if row.get(2)? { RunState::Complete } else { RunState::Unfinished };
            Ok(RunProgress { completed: row.count(0)?, planned: row.count(1)?, state, newest: row.get(3)? })
        });
        found.map_err(self.place.explain("read a run from"))?.ok_or_else(|| StoreError::no_such_run(run))
    }

    /// Returns the trials after `newest` in execution order. If `newest` is 0, returns all trials.
    pub fn trials_after(&self, run: &RunId, newest: i64) -> Result<Vec<Trial>, StoreError> {
        let sql = "SELECT place, record, checksum FROM trial
                   WHERE run = (SELECT number FROM run WHERE id = ?1) AND number > ?2 ORDER BY number";
        let row = |row: &crate::value::Row<'_>| Ok((row.count(0)?, row.get::<String>(1)?, row.count(2)?));
        let texts = self
            .database
            .query(sql, &values![&run.0, newest], row)
            .map_err(self.place.explain("read trials from"))?;
        let read = |(place, text, checksum): &(u32, String, u32)| {
            record::trial_of(text, *checksum).map_err(|reason| StoreError::Unreadable {
                place: self.place.location.clone(),
                run: run.clone(),
                what: format!("trial {place}"),
                reason,
            })
        };
        texts.iter().map(read).collect()
    }
}

impl RunFilter {
    fn conditions(&self, database: &Database, after: Option<RunPosition>) -> (Vec<String>, Vec<Value<'_>>) {
        let text = Some(self.text.trim()).filter(|text| !text.is_empty());
        let names = "id || '\n' || scenario || '\n' || title";
        let conditions = [
            ("number < ?".to_owned(), after.map(|RunPosition(number)| Value::from(number))),
            (database.contains(names, "?"), text.map(Value::from)),
            ("scenario = ?".to_owned(), self.scenario.as_ref().map(Value::from)),
            ("complete = ?".to_owned(), self.state.map(|state| Value::from(state == RunState::Complete))),
            (
                "EXISTS (SELECT 1 FROM imported WHERE imported.run = run.number) = ?".to_owned(),
                self.imported.map(Value::from),
            ),
        ];
        conditions.into_iter().filter_map(|(sql, value)| Some((sql, value?))).unzip()
    }
}

fn browse_sql(conditions: &[String]) -> String {
    let numbered = (1..).zip(conditions).map(|(number, sql)| sql.replace('?', &format!("?{number}")));
    let all = numbered.collect::<Vec<_>>().join(" AND ");
    let all = if conditions.is_empty() { "TRUE" } else { &all };
    format!("{LISTED} WHERE {all} ORDER BY number DESC LIMIT ?{}", conditions.len() + 1)
}

#[cfg(test)]
mod tests {

    use rusqlite::{StatementStatus, params_from_iter};

    use super::*;
    use crate::{claim, value::Row};

    fn store_of(runs: i64) -> (tempfile::TempDir, Store) {
        let folder = tempfile::tempdir().expect("a folder");
        let mut store = Store::open(folder.path().join("runs.db")).expect("a new file");
        let result = store.write("store runs in", |transaction| {
            let sql =
                "INSERT INTO run (id, scenario, title, digest, started, planned, complete, header, checksum)
                       VALUES ('many-' || ?1, ?2, ?3, 'd', ?1, 4, ?1 % 2, ?4, 0)";
            for number in 0..runs {
                let title = if number % 3 == 0 { "Cost of a Bridge: 100 %_" } else { "Other" };
                let scenario = if number % 5 == 0 { "quick" } else { "sweep" };
                transaction.execute(sql, &values![number, scenario, title, &"x".repeat(3_000)])?;
            }
            Ok(())
        });
        result.expect("stores runs");
        (folder, store)
    }

    fn names(part: &RunPart) -> Vec<&str> {
        part.runs.iter().map(|run| run.id.0.as_str()).collect()
    }

    #[test]
    fn pages_have_no_gaps_or_repeats() {
        let (_folder, store) = store_of(7);
        let mut listed = Vec::new();
        let mut after = None;
        loop {
            let part = store.browse(&RunFilter::default(), after, 3).expect("a part");
            listed.extend(part.runs.iter().map(|run| run.id.0.clone()));
            let Some(next) = part.next else { break };
            after = Some(next);
        }
        assert_eq!(listed, (0..7).rev().map(|number| format!("many-{number}")).collect::<Vec<_>>());
    }

    #[test]
    fn filters_by_literal_text_and_all_conditions() {
        let (_folder, store) = store_of(12);
        let check = |filter: RunFilter, expected: &[&str]| {
            assert_eq!(names(&store.browse(&filter, None, 50).expect("a part")), expected, "{filter:?}");
        };
        let text = |text: &str| RunFilter { text: text.to_owned(), ..RunFilter::default() };
        check(text("of a BRIDGE"), &["many-9", "many-6", "many-3", "many-0"]);
        check(text("100 %_"), &["many-9", "many-6", "many-3", "many-0"]);
        check(text("%"), &["many-9", "many-6", "many-3", "many-0"]);
        check(text("'; DROP TABLE run; --"), &[]);
        let quick = RunFilter { scenario: Some("quick".to_owned()), ..text("") };
        check(quick.clone(), &["many-10", "many-5", "many-0"]);
        check(RunFilter { state: Some(RunState::Complete), ..quick.clone() }, &["many-5"]);
        check(RunFilter { imported: Some(true), ..quick }, &[]);
    }

    #[test]
    fn cost_of_a_page_does_not_depend_on_stored_runs() {
        let steps = |runs: i64| {
            let (_folder, store) = store_of(runs);
            let after = Some(RunPosition(runs / 2 + 20));
            let filter = RunFilter::default();
            let (conditions, mut values) = filter.conditions(&store.database, after);
            values.push(Value::from(20_i64));
            let connection = store.database.file().expect("a file");
            let mut statement = connection.prepare(&browse_sql(&conditions)).expect("SQL");
            let mut rows = statement.query(params_from_iter(&values)).expect("rows");
            let mut count = 0;
            while let Some(row) = rows.next().expect("a row") {
                drop(listing(&Row::File(row)).expect("a run"));
                count += 1;
            }
            assert_eq!(count, 20);
            drop(rows);
            statement.get_status(StatementStatus::VmStep)
        };
        let (few, many) = (steps(40), steps(10_000));
        assert!(many <= few * 11 / 10, "{many} SQLite VM steps instead of {few}");
    }

    #[test]
    fn claimed_run_is_in_progress() {
        let (_folder, store) = store_of(1);
        let run = RunId("many-0".to_owned());
        assert!(!store.is_under_way(&run));
        let claim = store.claim(&run).expect("the run is free");
        assert!(store.is_under_way(&run));
        drop(claim);
        assert!(!store.is_under_way(&run));
        let Database::File { path, .. } = &store.database else { panic!("a file") };
        // A killed process leaves its lock file behind.
        drop(sys::output_file::open_lock(&claim::lock_path(path, &run.0)).expect("owned by this user"));
        assert!(!store.is_under_way(&run) && store.claim(&run).is_ok());
    }
}
