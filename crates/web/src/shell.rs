//! The outer HTML of all pages.

use axum::response::{Html, IntoResponse, Response};
use maud::{DOCTYPE, Markup, PreEscaped, html};

use crate::links;

pub(crate) fn bare(title: &str, content: &Markup) -> Response {
    let brand = html! { header.plumb-bar { div.plumb-line { (brand()) } } };
    shell(title, &brand, content)
}

pub(crate) fn brand() -> Markup {
    html! { a.plumb-brand href=(links::RUNS) { (PreEscaped(include_str!("../assets/icon.svg"))) "Plumbline" } }
}

pub(crate) fn short(text: &str) -> String {
    const LONGEST: usize = 160;
    match text.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

pub(crate) fn shell(title: &str, bar: &Markup, content: &Markup) -> Response {
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
