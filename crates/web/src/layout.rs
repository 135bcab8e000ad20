//! The frame of all pages: head, navigation bar, and the bar of a run.

use axum::response::{Html, IntoResponse, Response};
use maud::{DOCTYPE, Markup, PreEscaped, html};
use samples::RunId;

use crate::{config::Rendition, links, site::Site};

/// Inlined into reports, because their policy allows no files.
pub(crate) const BAR_STYLE: &str = include_str!("../assets/bar.css");

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Entry {
    Runs,
    Compare,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RunEntry {
    Report,
    Live,
    History,
}

pub(crate) fn page(site: &Site, title: &str, entry: Option<Entry>, content: &Markup) -> Response {
    document(title, &bar(site, entry, None), content)
}

pub(crate) fn run_page(site: &Site, title: &str, run: &RunId, entry: RunEntry, content: &Markup) -> Response {
    document(title, &bar(site, None, Some((run, entry))), content)
}

/// Used for signing in and for errors, which have no navigation.
pub(crate) fn bare(title: &str, content: &Markup) -> Response {
    let brand = html! { header.plumb-bar { div.plumb-line { (brand()) } } };
    document(title, &brand, content)
}

pub(crate) fn bar(site: &Site, current: Option<Entry>, run: Option<(&RunId, RunEntry)>) -> Markup {
    let entry = |entry: Entry, link: &str, text: &str| {
        let here = (current == Some(entry)).then_some("page");
        html! { a href=(link) aria-current=[here] { (text) } }
    };
    html! {
        header.plumb-bar {
            div.plumb-line {
                (brand())
                div.plumb-links role="navigation" aria-label="Plumbline" {
                    (entry(Entry::Runs, links::RUNS, "Runs"))
                    (entry(Entry::Compare, links::COMPARE, "Compare"))
                    @if site.config.token.is_some() { a href=(links::SIGN_OUT) { "Sign out" } }
                }
            }
            @if let Some((run, current)) = run { (run_bar(run, current)) }
        }
    }
}

fn brand() -> Markup {
    html! { a.plumb-brand href=(links::RUNS) { (PreEscaped(include_str!("../assets/icon.svg"))) "Plumbline" } }
}

fn run_bar(run: &RunId, current: RunEntry) -> Markup {
    let entry = |entry: RunEntry, link: &str, text: &str| {
        let here = (current == entry).then_some("page");
        html! { a href=(link) aria-current=[here] { (text) } }
    };
    html! {
        div.plumb-line.plumb-run {
            bdi.plumb-name { (short(&run.0)) }
            div.plumb-links role="navigation" aria-label="This run" {
                (entry(RunEntry::Report, &links::run(run), "Report"))
                @if current == RunEntry::Live { (entry(RunEntry::Live, &links::live(run), "Live")) }
                (entry(RunEntry::History, &links::history(run), "History"))
                a href=(links::with_query(links::COMPARE, &[("b", &run.0)])) { "Compare with …" }
            }
            details.plumb-menu {
                summary { "Download" }
                div.plumb-files {
                    @for rendition in Rendition::FILES {
                        a href=(links::download(run, rendition)) download { (file_title(rendition)) }
                    }
                }
            }
        }
    }
}

const fn file_title(rendition: Rendition) -> &'static str {
    match rendition {
        Rendition::Shown | Rendition::Html => "HTML page",
        Rendition::Markdown => "Markdown",
        Rendition::Json => "Findings (JSON)",
        Rendition::Csv => "Results (CSV)",
        Rendition::CsvTrials => "Trials (CSV)",
        Rendition::Raw => "Run record (JSON)",
    }
}

pub(crate) fn short(text: &str) -> String {
    const LONGEST: usize = 160;
    match text.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

fn document(title: &str, bar: &Markup, content: &Markup) -> Response {
    let page = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                title { (short(title)) " – Plumbline" }
                link rel="icon" href="/static/icon.svg" type="image/svg+xml";
                link rel="stylesheet" href="/static/bar.css";
                link rel="stylesheet" href="/static/site.css";
            }
            body { (bar) main { (content) } }
        }
    };
    Html(page.into_string()).into_response()
}
