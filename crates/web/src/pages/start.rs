//! Starting a built-in scenario from the page, where that is allowed, and what became of it.

use std::sync::Arc;

use axum::{
    Form,
    extract::{Path, State},
    http::StatusCode,
    response::{IntoResponse, Redirect, Response},
};
use maud::html;
use samples::RunId;
use scenario::{Scenario, builtin};
use serde::Deserialize;
use store::{RunFilter, Store};

use crate::{
    failure::Failure,
    layout::{self, Entry},
    links,
    site::Site,
    starts::{Refusal, StartState, Started},
};

/// A run that was just started is among so many of its scenario.
const NEWEST: usize = 3;

/// What the form sends.
#[derive(Deserialize)]
pub(crate) struct Choice {
    scenario: String,
}

pub(crate) async fn page(State(site): State<Arc<Site>>) -> Result<Response, Failure> {
    allowed(&site)?;
    let content = html! {
        h1 { "Start a run" }
        p.lead { "Scenarios that are built in. A run measures on the machine that serves this page, which should do nothing else meanwhile; "
            "one at a time." }
        ul.scenarios {
            @for builtin in builtin::all() {
                li {
                    form method="post" action=(links::START) {
                        input type="hidden" name="scenario" value=(builtin.name);
                        button type="submit" aria-label={ "Start " (builtin.name) } { "Start" }
                    }
                    div {
                        strong { (builtin.name) }
                        @if let Ok(scenario) = Scenario::parse(builtin.name, builtin.text) { p { (scenario.title) } }
                    }
                }
            }
        }
    };
    Ok(layout::page(&site, "Start a run", Some(Entry::Start), &content))
}

pub(crate) async fn start(
    State(site): State<Arc<Site>>,
    Form(choice): Form<Choice>,
) -> Result<Response, Failure> {
    let program = allowed(&site)?;
    let scenario = builtin::find(&choice.scenario)
        .ok_or_else(|| Failure::new(StatusCode::BAD_REQUEST, "there is no such built-in scenario"))?;
    match site.starts.start(program, scenario) {
        Ok(number) => Ok(Redirect::to(&format!("/started/{number}")).into_response()),
        Err(Refusal::Busy(busy)) => {
            let message = format!("a run of {busy} is under way; two at once would disturb each other");
            Err(Failure::new(StatusCode::CONFLICT, message))
        }
        Err(Refusal::Failed(reason)) => {
            Err(Failure::new(StatusCode::INTERNAL_SERVER_ERROR, format!("cannot start plumb: {reason}")))
        }
    }
}

/// Leads to the run as soon as it is in the store; until then, and where it came to none, what it said.
pub(crate) async fn started(
    State(site): State<Arc<Site>>,
    Path(number): Path<usize>,
) -> Result<Response, Failure> {
    allowed(&site)?;
    let started = site.starts.get(number).ok_or_else(|| Failure::not_found("nothing was started so"))?;
    let sought = Arc::clone(&started);
    if let Some(run) = site.read(move |_, store| run_of(store, &sought)).await? {
        return Ok(Redirect::to(&links::live(&run)).into_response());
    }
    let state = started.state();
    let content = html! {
        h1 { "Run of " (started.scenario) }
        @match &state {
            StartState::UnderWay => p.progress-line role="status" {
                span.badge.busy { "starting" } " The lab is being created; this page leads to the run when its first trials can begin."
            },
            StartState::Ended { well: true, .. } => p { "It has ended." },
            StartState::Ended { how, .. } => p.error role="alert" { "It has ended without a run (" (how) "); what it said:" },
        }
        @let said = started.said();
        @if !said.is_empty() { pre { bdi { (said.join("\n")) } } }
    };
    let page = layout::page(&site, "Starting a run", Some(Entry::Start), &content);
    let again = if state == StartState::UnderWay { Some([("refresh", "1")]) } else { None };
    Ok((again.map(axum::response::AppendHeaders), page).into_response())
}

/// The run that it makes, once that is kept.
fn run_of(store: &Store, started: &Started) -> Result<Option<RunId>, Failure> {
    let filter = RunFilter { scenario: Some(started.scenario.to_owned()), ..RunFilter::default() };
    let newest = store.browse(&filter, None, NEWEST)?.runs;
    Ok(newest.into_iter().rev().find(|run| run.started >= started.at).map(|run| run.id))
}

fn allowed(site: &Site) -> Result<&std::path::Path, Failure> {
    let program = site.config.program.as_deref();
    program.ok_or_else(|| {
        let message = "nothing can be started from this page: plumb web was started without --allow-run";
        Failure::new(StatusCode::FORBIDDEN, message)
    })
}
