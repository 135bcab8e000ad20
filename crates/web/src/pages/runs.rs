//! The list of runs, with search and filters.

use std::sync::Arc;

use axum::{
    extract::{Query, State},
    response::Response,
};
use maud::{Markup, html};
use samples::{RunId, RunState};
use scenario::builtin;
use serde::Deserialize;
use store::{Baseline, RunFilter, RunListing, RunPart, RunPosition};

use super::trend::{self, Trend};
use crate::{
    failure::Failure,
    layout::{self, Entry},
    links,
    shell::short,
    site::Site,
    time,
};

const MOST: usize = 25;

/// Forms send an empty value for each unused field.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct Wanted {
    q: String,
    scenario: String,
    state: String,
    after: Option<i64>,
}

const STATES: [(&str, &str); 3] =
    [("complete", "Complete"), ("unfinished", "Unfinished"), ("imported", "Imported")];

struct Row {
    run: RunListing,
    is_under_way: bool,
}

pub(crate) async fn page(
    State(site): State<Arc<Site>>,
    Query(wanted): Query<Wanted>,
) -> Result<Response, Failure> {
    let (filter, after) = (wanted.filter(), wanted.after.map(RunPosition));
    let read = site.read(move |site, store| {
        let RunPart { runs, next } = store.browse(&filter, after, MOST)?;
        let trends = trend::of(site, store, &runs);
        let row = |run: RunListing| {
            let is_under_way = run.state == RunState::Unfinished && store.is_under_way(&run.id);
            Row { run, is_under_way }
        };
        Ok((runs.into_iter().map(row).collect::<Vec<_>>(), next, store.baselines()?, trends))
    });
    let (rows, next, baselines, trends) = read.await?;
    let content = html! {
        h1 { "Runs" }
        (search(&wanted))
        @if rows.is_empty() { (nothing(&wanted)) } @else { (list(&rows, &baselines, &trends)) }
        (leaf(&wanted, next))
    };
    Ok(layout::page(&site, "Runs", Some(Entry::Runs), &content))
}

fn search(wanted: &Wanted) -> Markup {
    html! {
        form.search method="get" action=(links::RUNS) role="search" {
            div.field.grow {
                label for="q" { "Search" }
                input #q type="search" name="q" value=(wanted.q) placeholder="Name or title" maxlength="200";
            }
            div.field {
                label for="scenario" { "Scenario" }
                input #scenario name="scenario" value=(wanted.scenario) list="scenarios" placeholder="All" maxlength="200";
                datalist #scenarios { @for builtin in builtin::all() { option value=(builtin.name) {} } }
            }
            div.field {
                label for="state" { "State" }
                select #state name="state" {
                    option value="" { "All" }
                    @for (word, title) in STATES { option value=(word) selected[wanted.state == word] { (title) } }
                }
            }
            button type="submit" { "Search" }
            @if wanted.is_filtered() { a.clear href=(links::RUNS) { "Clear" } }
        }
    }
}

fn list(rows: &[Row], baselines: &[Baseline], trends: &[Trend]) -> Markup {
    html! {
        form method="get" action=(links::COMPARE) {
            div.wide tabindex="0" role="group" aria-label="Runs" {
                table.runs {
                    thead { tr {
                        th scope="col" { span.unseen { "Compare" } }
                        th scope="col" { "Run" }
                        th scope="col" { "Scenario" }
                        th scope="col" { "Started (UTC)" }
                        th.number scope="col" { "Trials" }
                        th scope="col" { "State" }
                    } }
                    tbody { @for row in rows { (self::row(row, baselines, trends)) } }
                }
            }
            button.quiet type="submit" { "Compare two selected runs" }
        }
    }
}

fn row(row: &Row, baselines: &[Baseline], trends: &[Trend]) -> Markup {
    let run = &row.run;
    let link = if row.is_under_way { links::live(&run.id) } else { links::run(&run.id) };
    let named = baselines.iter().filter(|baseline| baseline.run == run.id);
    html! {
        tr {
            td.pick { input type="checkbox" name="run" value=(run.id) aria-label={ "Compare " (short(&run.id.0)) }; }
            td.name {
                a href=(link) { bdi { (short(&run.id.0)) } }
                @if !run.title.is_empty() { span.title { bdi { (short(&run.title)) } } }
            }
            td.scenario {
                a href=(links::with_query(links::RUNS, &[("scenario", &run.scenario)])) { bdi { (short(&run.scenario)) } }
                @for trend in trends.iter().filter(|trend| trend.run == run.id) { (trend::link(trend)) }
            }
            td.begun { (time::minute(run.started)) }
            td.number {
                (run.completed)
                @if run.state == RunState::Unfinished { span.faint { "/" (run.planned) } }
            }
            td.state {
                (state(row))
                @for baseline in named { " " span.badge { "baseline " bdi { (short(&baseline.name)) } } }
            }
        }
    }
}

fn state(row: &Row) -> Markup {
    let (class, text) = match row.run.state {
        _ if row.is_under_way => ("badge busy", "running"),
        RunState::Unfinished => ("badge doubtful", "unfinished"),
        RunState::Complete => ("faint", "complete"),
    };
    html! { span class=(class) { (text) } @if row.run.imported { " " span.badge { "imported" } } }
}

fn nothing(wanted: &Wanted) -> Markup {
    html! {
        p.empty {
            @if wanted.is_filtered() { "No matching runs." }
            @else { "There are no runs yet. " code { "plumb run quick" } " creates one in about a minute." }
        }
    }
}

fn leaf(wanted: &Wanted, next: Option<RunPosition>) -> Markup {
    let at = |after: &str| {
        let query = [
            ("q", wanted.q.as_str()),
            ("scenario", &wanted.scenario),
            ("state", &wanted.state),
            ("after", after),
        ];
        links::with_query(links::RUNS, &query)
    };
    html! {
        @if wanted.after.is_some() || next.is_some() {
            div.leaf role="navigation" aria-label="Pages" {
                @if wanted.after.is_some() { a href=(at("")) { "← Newest" } }
                @if let Some(RunPosition(next)) = next { a rel="next" href=(at(&next.to_string())) { "Older →" } }
            }
        }
    }
}

impl Wanted {
    fn is_filtered(&self) -> bool {
        [&self.q, &self.scenario, &self.state].iter().any(|word| !word.trim().is_empty())
    }

    fn filter(&self) -> RunFilter {
        let scenario = self.scenario.trim();
        RunFilter {
            text: self.q.clone(),
            scenario: (!scenario.is_empty()).then(|| scenario.to_owned()),
            state: match self.state.as_str() {
                "complete" => Some(RunState::Complete),
                "unfinished" => Some(RunState::Unfinished),
                _ => None,
            },
            imported: (self.state == "imported").then_some(true),
        }
    }
}

pub(super) fn options(runs: &[RunListing], chosen: Option<&RunId>) -> Markup {
    html! {
        @for run in runs {
            option value=(run.id) selected[chosen == Some(&run.id)] { (short(&run.id.0)) " (" (time::minute(run.started)) ")" }
        }
    }
}
