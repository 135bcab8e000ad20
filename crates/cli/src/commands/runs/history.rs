//! `plumb runs history`: the results of a scenario over its stored runs.

use std::sync::Arc;

use clap::Args;
use comfy_table::{Table, presets};
use findings::{ResultHistory, RunResults};
use report::{Scale, result_label};
use samples::RunId;
use serde_json::{Value, json};
use store::Store;

use crate::{failure::Misuse, list_format, output};

const MOST: usize = 100;
const HEAD: [&str; 4] = ["RESULT", "NEWEST", "EXPECTED", "COURSE"];

#[derive(Debug, Args)]
pub(crate) struct HistoryArgs {
    /// The scenario's name
    scenario: String,
    /// Print a JSON array instead of a table
    #[arg(long)]
    json: bool,
}

pub(super) fn run(args: &HistoryArgs, store: &Store) -> anyhow::Result<()> {
    let runs = runs_of(store, &args.scenario)?;
    let history = analysis::history(&runs);
    if args.json {
        return list_format::json(history.iter().map(|it| entry(it, &runs)));
    }
    let Some((first, newest)) = runs.first().zip(runs.last()) else { return Ok(()) };
    let since = super::time(first.started);
    let number = if runs.len() == 1 { "1 run".to_owned() } else { format!("{} runs", runs.len()) };
    let head = format!("{number} of {} since {since} (UTC); the newest is {}", args.scenario, newest.run);
    output::line(head)?;
    output::line(table(&history, &runs))?;
    if runs.len() < analysis::FEWEST_RUNS {
        let fewest = analysis::FEWEST_RUNS;
        output::line(format_args!("detecting level shifts and drifts requires at least {fewest} runs"))?;
    }
    Ok(())
}

/// Returns the runs that have the same scenario text as the newest run, oldest first. Skips unreadable runs.
fn runs_of(store: &Store, scenario: &str) -> anyhow::Result<Vec<Arc<RunResults>>> {
    let all = store.runs()?;
    let is_remedies = |run: &RunId| store::remedies_parent(run, all.iter().map(|other| &other.id)).is_some();
    let own = all.iter().filter(|run| run.scenario == scenario && !is_remedies(&run.id));
    let records = own.filter_map(|run| store.load(&run.id).ok());
    let mut digest = None;
    let mut runs: Vec<Arc<RunResults>> = records
        .filter(|record| {
            let own = &record.header.scenario.digest;
            digest.get_or_insert_with(|| own.clone()) == own
        })
        .take(MOST)
        .map(|record| Arc::new(analysis::run_results(&record)))
        .collect();
    if runs.is_empty() {
        let hint = "`plumb runs` lists the stored runs";
        return Err(Misuse::new(format!("no run of scenario `{scenario}` is stored")).hint(hint).into());
    }
    runs.reverse();
    Ok(runs)
}

fn table(history: &[ResultHistory], runs: &[Arc<RunResults>]) -> Table {
    let mut table = Table::new();
    table.load_style(presets::NOTHING);
    table.set_header(HEAD);
    table.add_rows(history.iter().map(|it| {
        let scale = Scale::of(it.newest.metric, it.newest.value.estimate);
        [
            result_label(&it.newest.path, &it.newest.levels, &it.newest.workload),
            scale.quantity(it.newest.value.estimate),
            it.expected.map_or_else(|| "-".to_owned(), |expected| scale.range(&expected)),
            course(it, runs),
        ]
    }));
    table
}

/// Formats e.g. `shift from 9.40 to 8.10 Gbit/s (−13.8 %) since quick-20261121-113015`.
fn course(history: &ResultHistory, runs: &[Arc<RunResults>]) -> String {
    let scale = Scale::of(history.newest.metric, history.newest.value.estimate);
    let shifts = history.levels.windows(2).map(|pair| {
        let (before, after) = (pair[0].value, pair[1].value);
        let change = findings::change(after / before);
        let since = &runs[pair[1].first].run;
        format!("shift from {} to {} ({change}) since {since}", scale.number(before), scale.quantity(after))
    });
    let drift = history.drift.map(|drift| format!("drift of {}", findings::change(drift)));
    let newest = newest(history).map(|(_, phrase)| format!("the newest run is {phrase}"));
    let parts: Vec<String> = shifts.chain(drift).chain(newest).collect();
    if parts.is_empty() { "steady".to_owned() } else { parts.join("; ") }
}

fn newest(history: &ResultHistory) -> Option<(&'static str, &'static str)> {
    if history.newest.disturbed {
        return Some(("disturbed", "disturbed by other work and not compared"));
    }
    let (expected, value) = (history.expected?, history.newest.value.estimate);
    if value < expected.low {
        return Some(("below", "below the expected range"));
    }
    (value > expected.high).then_some(("above", "above the expected range"))
}

fn entry(history: &ResultHistory, runs: &[Arc<RunResults>]) -> Value {
    let points = history.points.iter().map(|(at, value)| json!({ "run": runs[*at].run, "value": value }));
    let level = |it: &findings::RunLevel| json!({ "first": runs[it.first].run, "last": runs[it.last].run, "value": it.value });
    json!({
        "result": history.newest.result,
        "metric": history.newest.metric,
        "points": points.collect::<Vec<_>>(),
        "levels": history.levels.iter().map(level).collect::<Vec<_>>(),
        "drift": history.drift,
        "expected": history.expected,
        "newest": newest(history).map(|(word, _)| word),
    })
}
