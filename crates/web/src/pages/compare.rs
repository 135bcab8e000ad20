//! Compares two runs, or shows a form to select them.

use std::sync::Arc;

use axum::{
    extract::{Query, State},
    response::{IntoResponse, Redirect, Response},
};
use maud::{Markup, html};
use report::Format;
use samples::RunId;
use serde::Deserialize;
use store::{RunFilter, RunListing, Store};

use super::runs;
use crate::{
    document,
    failure::Failure,
    layout::{self, Entry},
    links,
    site::Site,
};

const MOST: usize = 200;

/// `a` is the reference.
#[derive(Debug, Deserialize)]
pub(super) struct Pair {
    pub(super) a: String,
    pub(super) b: String,
}

#[derive(Debug, Default, PartialEq, Eq)]
struct Chosen {
    a: Option<RunId>,
    b: Option<RunId>,
    ticked: Vec<RunId>,
}

pub(crate) async fn page(
    State(site): State<Arc<Site>>,
    Query(query): Query<Vec<(String, String)>>,
) -> Result<Response, Failure> {
    let chosen = Chosen::of(query);
    if let (Some(a), Some(b)) = (chosen.a.clone(), chosen.b.clone()) {
        return compared(&site, a, b).await;
    }
    if let [one, other] = chosen.ticked.as_slice() {
        // Use the older run as the reference. Forms send the runs in the order of the list, newest first.
        return Ok(Redirect::to(&links::comparison(other, one)).into_response());
    }
    let b = chosen.b.clone().or_else(|| chosen.ticked.first().cloned());
    let of = b.clone();
    let runs = site.read(move |_, store| candidates(store, of.as_ref())).await?;
    let content = form(&runs, b.as_ref(), chosen.ticked.len());
    Ok(layout::page(&site, "Compare two runs", Some(Entry::Compare), &content))
}

fn candidates(store: &Store, b: Option<&RunId>) -> Result<Vec<RunListing>, Failure> {
    let listed = |filter: &RunFilter| store.browse(filter, None, MOST).map(|part| part.runs);
    if let Some(b) = b {
        let named = listed(&RunFilter { text: b.0.clone(), ..RunFilter::default() })?;
        if let Some(run) = named.into_iter().find(|run| run.id == *b) {
            let same = listed(&RunFilter { scenario: Some(run.scenario), ..RunFilter::default() })?;
            if same.len() > 1 {
                return Ok(same);
            }
        }
    }
    Ok(listed(&RunFilter::default())?)
}

async fn compared(site: &Arc<Site>, a: RunId, b: RunId) -> Result<Response, Failure> {
    let files = files(&a, &b);
    let page =
        site.read(move |site, store| Ok(site.documents.comparison(store, &a, &b, Format::Html)?)).await?;
    let bar = html! { (layout::bar(site, Some(Entry::Compare), None)) (files) };
    Ok(document::framed(&page, &bar))
}

fn files(a: &RunId, b: &RunId) -> Markup {
    let query = [("a", a.0.as_str()), ("b", b.0.as_str())];
    let link = |format: &str| links::with_query(&format!("/compare/download/{format}"), &query);
    html! {
        div.plumb-line.plumb-run.plumb-below role="navigation" aria-label="This comparison" {
            a href=(links::comparison(b, a)) { "Swap" }
            a href=(links::run(a)) { "Report of A" }
            a href=(links::run(b)) { "Report of B" }
            details.plumb-menu {
                summary { "Download" }
                div.plumb-files {
                    @for (format, title) in [("html", "HTML page"), ("markdown", "Markdown"), ("json", "JSON"), ("csv", "CSV")] {
                        a href=(link(format)) download { (title) }
                    }
                }
            }
        }
    }
}

fn form(runs: &[RunListing], b: Option<&RunId>, ticked: usize) -> Markup {
    let b = b.or(runs.first().map(|run| &run.id));
    let at = runs.iter().position(|run| Some(&run.id) == b);
    let before = at.and_then(|at| runs.get(at + 1)).or(runs.last()).map(|run| &run.id);
    html! {
        h1 { "Compare two runs" }
        @if ticked > 2 { p.error role="alert" { (ticked) " runs were selected; select two." } }
        @if runs.len() < 2 {
            p.empty { "There are fewer than two runs to compare." }
        } @else {
            form.pair method="get" action=(links::COMPARE) {
                div.field {
                    label for="a" { "A (reference)" }
                    select #a name="a" { (runs::options(runs, before)) }
                }
                div.field {
                    label for="b" { "B (compared with A)" }
                    select #b name="b" { (runs::options(runs, b)) }
                }
                button type="submit" { "Compare" }
            }
            p.faint { "The comparison shows its verdict first, then the differences between the environments, and then the \
                results." }
        }
    }
}

impl Chosen {
    fn of(query: Vec<(String, String)>) -> Self {
        let mut chosen = Self::default();
        for (key, run) in query.into_iter().filter(|(_, run)| !run.is_empty()) {
            match key.as_str() {
                "a" => chosen.a = Some(RunId(run)),
                "b" => chosen.b = Some(RunId(run)),
                "run" => chosen.ticked.push(RunId(run)),
                _ => {}
            }
        }
        chosen
    }
}
