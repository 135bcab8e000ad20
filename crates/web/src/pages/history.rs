//! The history of results, with level shifts, across all runs of a scenario.

mod chart;

use std::sync::Arc;

use axum::{
    extract::{Path, Query, State},
    response::Response,
};
use findings::{ResultHistory, RunResults};
use maud::{Markup, html};
use report::Scale;
use samples::RunId;
use serde::Deserialize;

use crate::{
    failure::Failure,
    layout::{self, RunEntry},
    links,
    shell::short,
    site::Site,
    time,
};

const MOST_RUNS: usize = 100;
const MOST_RESULTS: usize = 40;

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct Wanted {
    result: String,
}

pub(crate) async fn page(
    State(site): State<Arc<Site>>,
    Path(run): Path<String>,
    Query(wanted): Query<Wanted>,
) -> Result<Response, Failure> {
    let run = RunId(run);
    let id = run.clone();
    let runs = site.read(move |site, store| runs_of(site, store, &id)).await?;
    let all = analysis::history(&runs);
    let content = content(&run, &runs, &all, &wanted.result);
    Ok(layout::run_page(&site, &format!("History of {run}"), &run, RunEntry::History, &content))
}

fn runs_of(site: &Site, store: &store::Store, run: &RunId) -> Result<Vec<Arc<RunResults>>, Failure> {
    let record = store.load(run)?;
    let digest = &record.header.scenario.digest;
    let imported = record.header.origin.imported().is_some();
    let listed = if imported || digest.is_empty() { Vec::new() } else { store.runs_of(digest)? };
    let others = listed.iter().filter(|other| other.id != *run && other.started <= record.header.started);
    let mut runs = vec![Arc::new(analysis::run_results(&record))];
    // Skip unreadable runs, e.g. with an unknown schema version.
    runs.extend(others.take(MOST_RUNS - 1).filter_map(|other| site.results.of(other, store).ok()));
    runs.reverse();
    Ok(runs)
}

fn content(run: &RunId, runs: &[Arc<RunResults>], all: &[ResultHistory], wanted: &str) -> Markup {
    let shown: Vec<&ResultHistory> = match wanted {
        "" => all.iter().take(MOST_RESULTS).collect(),
        result => all.iter().filter(|it| it.newest.result == result).collect(),
    };
    html! {
        h1 { "History" }
        p.lead { (lead(runs, all)) }
        @if all.len() > 1 { (choice(run, all, wanted)) }
        @if shown.is_empty() { p.empty { "This run does not have this result." } }
        @for (number, history) in shown.iter().enumerate() { (result(number, history, runs)) }
        @if wanted.is_empty() && all.len() > MOST_RESULTS {
            p.faint { "The first " (MOST_RESULTS) " of " (all.len()) " results. Select others above." }
        }
    }
}

fn lead(runs: &[Arc<RunResults>], all: &[ResultHistory]) -> Markup {
    let shifted = all.iter().filter(|it| it.levels.len() > 1).count();
    html! {
        @if runs.len() == 1 { "There is no earlier run of the same scenario to compare with." }
        @else {
            (runs.len()) " runs of the same scenario. "
            @if runs.len() < analysis::FEWEST_RUNS {
                "Level shifts are detected from " (analysis::FEWEST_RUNS) " runs."
            } @else if shifted == 0 { "No result has a level shift." }
            @else { strong { (shifted) " of " (all.len()) " results have a level shift." } }
        }
    }
}

fn choice(run: &RunId, all: &[ResultHistory], wanted: &str) -> Markup {
    html! {
        form.search method="get" action=(links::history(run)) {
            div.field.grow {
                label for="result" { "Result" }
                select #result name="result" {
                    option value="" { "All results" }
                    @for it in all { option value=(it.newest.result) selected[it.newest.result == wanted] { (label(it)) } }
                }
            }
            button type="submit" { "Show" }
        }
    }
}

fn label(history: &ResultHistory) -> String {
    let newest = &history.newest;
    short(&report::result_label(&newest.path, &newest.levels, &newest.workload))
}

fn result(number: usize, history: &ResultHistory, runs: &[Arc<RunResults>]) -> Markup {
    let newest = &history.newest;
    let scale = Scale::of(newest.metric, newest.value.estimate);
    html! {
        section.result aria-labelledby={ "result-" (number) } {
            h2 id={ "result-" (number) } { bdi { (label(history)) } }
            p.statement {
                (newest.metric.title()) " " strong { (scale.quantity(newest.value.estimate)) } " in this run"
                @if let Some(expected) = &history.expected {
                    "; expected from earlier runs: " (scale.range(expected))
                }
                @for shift in shifts(history, runs, scale) { (shift) }
                @if let Some(drift) = history.drift { br; "Drift: " strong { (findings::change(drift)) } " over these runs" }
            }
            (chart::drawn(history, runs, scale))
            details { summary { "Values" } (table(history, runs, scale)) }
        }
    }
}

fn shifts(history: &ResultHistory, runs: &[Arc<RunResults>], scale: Scale) -> Vec<Markup> {
    let shift = |pair: &[findings::RunLevel]| {
        let (before, after) = (pair[0], pair[1]);
        let run = &runs[after.first];
        let gain = history.newest.metric.more_is_better().map(|more| more == (after.value > before.value));
        let class = match gain {
            Some(true) => "good",
            Some(false) => "bad",
            None => "",
        };
        html! {
            br; "Level shift: " strong class=(class) {
                (scale.number(before.value)) " to " (scale.quantity(after.value)) " ("
                (findings::change(after.value / before.value)) ")"
            }
            " since " (time::day(run.started)) ", " a href=(links::run(&run.run)) { bdi { (short(&run.run.0)) } }
            @if let Some(before) = runs[..after.first].last() {
                " (" a href=(links::comparison(&before.run, &run.run)) { "compare with the previous run" } ")"
            }
        }
    };
    history.levels.windows(2).map(shift).collect()
}

fn table(history: &ResultHistory, runs: &[Arc<RunResults>], scale: Scale) -> Markup {
    html! {
        div.wide {
            table.values {
                thead { tr {
                    th scope="col" { "Run" } th scope="col" { "Started (UTC)" }
                    th.number scope="col" { "Value, " (scale.unit) } th.number scope="col" { "Interval" }
                    th.number scope="col" { "Trials" } th scope="col" { "Changes" }
                } }
                tbody {
                    @for (at, value) in history.points.iter().rev() {
                        tr {
                            td { a href=(links::run(&runs[*at].run)) { bdi { (short(&runs[*at].run.0)) } } }
                            td { (time::minute(runs[*at].started)) }
                            td.number { (scale.number(value.estimate)) }
                            td.number { @if let Some(interval) = &value.interval { (scale.range(interval)) } }
                            td.number { (value.trials) }
                            td { bdi { (changes(runs, *at).join(", ")) } }
                        }
                    }
                }
            }
        }
    }
}

fn changes(runs: &[Arc<RunResults>], at: usize) -> Vec<String> {
    let Some(before) = at.checked_sub(1).map(|before| &runs[before]) else { return Vec::new() };
    let run = &runs[at];
    let kernel =
        run.kernel.as_ref().filter(|_| run.kernel != before.kernel).map(|kernel| format!("kernel {kernel}"));
    let tool = (run.tool != before.tool).then(|| format!("plumb {}", run.tool));
    kernel.into_iter().chain(tool).map(|change| short(&change)).collect()
}
