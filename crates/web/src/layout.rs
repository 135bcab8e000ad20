//! The navigation bars of the site and of a run.

use axum::response::Response;
use maud::{Markup, html};
use samples::RunId;

use crate::{
    config::Rendition,
    links,
    shell::{brand, shell, short},
    site::Site,
};

/// Inlined into reports, because their content security policy blocks external files. Other pages load `bar.css`.
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
    shell(title, &bar(site, entry, None), content)
}

pub(crate) fn run_page(site: &Site, title: &str, run: &RunId, entry: RunEntry, content: &Markup) -> Response {
    shell(title, &bar(site, None, Some((run, entry))), content)
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
