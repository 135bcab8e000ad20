//! `plumb runs`: lists and manages stored runs.

mod health;
mod history;
mod removal;
mod transfer;

use clap::{Args, Subcommand};
use comfy_table::{ColumnConstraint, ContentArrangement, Table, Width, presets};
use jiff::{Timestamp, tz::TimeZone};
use samples::{RunState, UnixMillis};
use serde_json::json;
use store::{Baseline, RunListing, Store, remedies_parent};

use crate::{
    exit::Exit,
    global_flags::GlobalFlags,
    list_format::{self, ListFormat},
    output, store_path, width,
};

#[derive(Debug, Args)]
pub(crate) struct RunsArgs {
    #[command(subcommand)]
    command: Option<RunsCommand>,
    #[command(flatten)]
    format: ListFormat,
}

#[derive(Debug, Subcommand)]
enum RunsCommand {
    /// List stored runs, newest first
    List(ListFormat),
    /// Show the results of a scenario over all its runs: level shifts, drifts and the expected range
    History(history::HistoryArgs),
    /// Remove runs and all their trials
    Remove(removal::RemoveArgs),
    /// Check that all stored trials are readable and intact
    Check(health::CheckArgs),
    /// Recover readable data from a damaged file into a new file, and keep the damaged one
    Repair,
    /// Export a run to one compressed file, for archiving or another machine
    Export(transfer::ExportArgs),
    /// Import exported runs
    Import(transfer::ImportArgs),
}

pub(crate) fn run(args: &RunsArgs, shared: &GlobalFlags) -> anyhow::Result<Exit> {
    let mut store = store_path::open(shared.db.as_deref())?;
    match args.command.as_ref().unwrap_or(&RunsCommand::List(args.format)) {
        RunsCommand::List(ListFormat { json: true }) => list_json(&store)?,
        RunsCommand::List(_) => list(&store)?,
        RunsCommand::History(args) => history::run(args, &store)?,
        RunsCommand::Remove(args) => removal::run(args, &mut store)?,
        RunsCommand::Check(args) => return health::check(args, &store),
        RunsCommand::Repair => return health::repair(store),
        RunsCommand::Export(args) => transfer::export(args, &store)?,
        RunsCommand::Import(args) => transfer::import(args, &mut store)?,
    }
    Ok(Exit::Success)
}

const HEAD: [&str; 6] = ["RUN", "STARTED (UTC)", "TRIALS", "STATE", "BASELINE", "TITLE"];
const TITLE: usize = 5;
/// Columns to drop if space is short, in this order. The run's name is never dropped.
const LEAST_FIRST: [usize; 5] = [TITLE, 1, 2, 4, 3];
const SHORTEST_TITLE: usize = 12;
const PADDING: usize = 2;

fn list(store: &Store) -> anyhow::Result<()> {
    let runs = store.runs()?;
    if runs.is_empty() {
        let place = store.location();
        return Ok(output::prose(&format!("no runs stored in {place}; `plumb run quick` creates one"))?);
    }
    let baselines = store.baselines()?;
    let mut rows = vec![HEAD.map(str::to_owned)];
    rows.extend(runs.iter().map(|run| row(run, &runs, &baselines)));
    Ok(output::line(table(rows, width::of_output()))?)
}

fn table(rows: Vec<[String; 6]>, width: Option<usize>) -> Table {
    let (columns, title) = fitting(&rows, width);
    let mut table = Table::new();
    table.load_style(presets::NOTHING);
    table.add_rows(
        rows.into_iter()
            .map(|row| row.into_iter().zip(columns).filter_map(|(cell, shown)| shown.then_some(cell))),
    );
    let room = width.and_then(|width| u16::try_from(width).ok());
    if let (Some(room), Some(last)) = (room.filter(|_| columns[TITLE]), table.column_count().checked_sub(1)) {
        let boundary = ColumnConstraint::UpperBoundary(Width::Fixed((title + PADDING) as u16));
        table.set_content_arrangement(ContentArrangement::Dynamic).set_width(room);
        table.column_mut(last).expect("the title's").set_constraint(boundary);
    }
    table
}

fn list_json(store: &Store) -> anyhow::Result<()> {
    let (runs, baselines) = (store.runs()?, store.baselines()?);
    let entry = |run: &RunListing| {
        let names = baselines.iter().filter(|named| named.run == run.id).map(|named| &named.name);
        json!({
            "run": run.id,
            "scenario": run.scenario,
            "title": run.title,
            "started": list_format::moment(run.started),
            "state": run.state,
            "trials": run.completed,
            "planned": run.planned,
            "imported": run.imported,
            "baselines": names.collect::<Vec<_>>(),
            "remedies_of": remedies_parent(&run.id, runs.iter().map(|other| &other.id)),
        })
    };
    list_format::json(runs.iter().map(entry))
}

/// Selects the visible columns and the title's width. Without a width, selects all columns, for programs.
fn fitting(rows: &[[String; 6]], width: Option<usize>) -> ([bool; 6], usize) {
    let extent = |column: usize| rows.iter().map(|row| row[column].chars().count()).max().unwrap_or(0);
    let title = extent(TITLE);
    let Some(width) = width else { return ([true; 6], title) };
    let mut shown: [bool; 6] =
        std::array::from_fn(|column| rows.iter().skip(1).any(|row| !row[column].is_empty()));
    let others = |shown: &[bool; 6]| -> usize {
        (0..TITLE).filter(|column| shown[*column]).map(|column| extent(column) + PADDING).sum()
    };
    for column in LEAST_FIRST {
        let least = if shown[TITLE] { SHORTEST_TITLE.min(title) + PADDING } else { 0 };
        if others(&shown) + least <= width {
            break;
        }
        shown[column] = false;
    }
    (shown, title.min(width.saturating_sub(others(&shown) + PADDING)))
}

fn row(run: &RunListing, all: &[RunListing], baselines: &[Baseline]) -> [String; 6] {
    // Show only the completed trials, because a complete run may have fewer trials than planned.
    let (trials, state) = match run.state {
        RunState::Complete => (run.completed.to_string(), "complete"),
        RunState::Unfinished => (format!("{}/{}", run.completed, run.planned), "unfinished"),
    };
    let parent = remedies_parent(&run.id, all.iter().map(|other| &other.id));
    let state = parent.map_or_else(|| state.to_owned(), |of| format!("{state}, remedies of {of}"));
    let state = if run.imported { format!("{state}, imported") } else { state };
    let names: Vec<&str> =
        baselines.iter().filter(|named| named.run == run.id).map(|named| named.name.as_str()).collect();
    [run.id.to_string(), time(run.started), trials, state, names.join(", "), run.title.clone()]
}

pub(super) fn time(millis: UnixMillis) -> String {
    Timestamp::from_millisecond(millis.0)
        .map(|time| time.to_zoned(TimeZone::UTC).strftime("%Y-%m-%d %H:%M").to_string())
        .unwrap_or_else(|_| millis.0.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wraps_title_before_removing_columns() {
        let row = [
            "quick-20261121-1300",
            "2026-11-21 13:00",
            "2/2",
            "complete",
            "nightly",
            "What a bridge costs, and more",
        ];
        let rows = [HEAD, row].map(|row| row.map(str::to_owned));
        let shown = |width| -> Vec<String> {
            table(rows.to_vec(), width).lines().map(|line| line.trim_end().to_owned()).collect()
        };
        assert!(shown(None)[1].ends_with(row[TITLE]), "{:?}", shown(None));
        let wrapped = shown(Some(90));
        assert!(wrapped[1].ends_with("What a bridge costs,"), "{wrapped:?}");
        assert_eq!(wrapped[2].trim_start(), "and more");
        assert!(!shown(Some(72)).concat().contains("bridge"));
        assert_eq!(shown(Some(31))[1].split_whitespace().collect::<Vec<_>>(), [row[0], "complete"]);
        for width in [40, 60, 72, 80, 81, 90, 100] {
            let lines = shown(Some(width));
            assert!(lines.iter().all(|line| line.chars().count() <= width), "{width}: {lines:?}");
        }
    }

    #[test]
    fn hides_empty_columns_on_terminal() {
        let row = ["quick-1", "2026-11-21 13:00", "2/2", "complete", "", "What a bridge costs"];
        let shown = table([HEAD, row].map(|row| row.map(str::to_owned)).to_vec(), Some(70)).to_string();
        assert!(shown.contains(row[TITLE]) && !shown.contains("BASELINE"), "{shown}");
    }

    #[test]
    fn recognises_remedy_tests_by_name() {
        let stored = ["quick-1", "quick-1-remedies", "quick-1-2"].map(|name| samples::RunId(name.into()));
        let parent = |name: &str| {
            remedies_parent(&samples::RunId(name.into()), stored.iter()).map(|run| run.0.clone())
        };
        assert_eq!(parent("quick-1-remedies").as_deref(), Some("quick-1"));
        assert_eq!(parent("quick-1-remedies-2").as_deref(), Some("quick-1"));
        assert_eq!(parent("quick-1-2"), None);
    }
}
