//! Reports and comparisons for download.

use std::sync::Arc;

use axum::{
    extract::{Path, Query, State},
    http::header,
    response::{IntoResponse, Response},
};
use report::Format;
use samples::RunId;

use super::compare::Pair;
use crate::{config::Rendition, failure::Failure, site::Site};

/// Downloaded pages run in a sandbox.
const POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'; sandbox";

pub(crate) async fn file(
    State(site): State<Arc<Site>>,
    Path((run, name)): Path<(String, String)>,
) -> Result<Response, Failure> {
    let rendition = Rendition::FILES.into_iter().find(|known| known.name() == name);
    let rendition = rendition.ok_or_else(|| Failure::not_found("unknown report format"))?;
    let run = RunId(run);
    let id = run.clone();
    let text = site.read(move |site, store| Ok(site.documents.report(store, &id, rendition)?)).await?;
    let (kind, ending) = match rendition {
        Rendition::Shown | Rendition::Html => ("text/html; charset=utf-8", "html"),
        Rendition::Markdown => ("text/markdown; charset=utf-8", "md"),
        Rendition::Json => ("application/json", "findings.json"),
        Rendition::Csv => ("text/csv; charset=utf-8", "csv"),
        Rendition::CsvTrials => ("text/csv; charset=utf-8", "trials.csv"),
        Rendition::Raw => ("application/json", "run.json"),
    };
    Ok(attached(text, kind, &format!("{}.{ending}", file_name(&run.0))))
}

pub(crate) async fn comparison(
    State(site): State<Arc<Site>>,
    Path(name): Path<String>,
    Query(pair): Query<Pair>,
) -> Result<Response, Failure> {
    let (format, kind, ending) = match name.as_str() {
        "html" => (Format::Html, "text/html; charset=utf-8", "html"),
        "markdown" => (Format::Markdown, "text/markdown; charset=utf-8", "md"),
        "json" => (Format::Json, "application/json", "json"),
        "csv" => (Format::Csv, "text/csv; charset=utf-8", "csv"),
        _ => return Err(Failure::not_found("unknown comparison format")),
    };
    let (a, b) = (RunId(pair.a), RunId(pair.b));
    let name = format!("{}-and-{}.{ending}", file_name(&a.0), file_name(&b.0));
    let text = site.read(move |site, store| Ok(site.documents.comparison(store, &a, &b, format)?)).await?;
    Ok(attached(text, kind, &name))
}

fn attached(text: String, kind: &str, name: &str) -> Response {
    let headers = [
        (header::CONTENT_TYPE, kind),
        (header::CONTENT_DISPOSITION, &format!("attachment; filename=\"{name}\"")),
        (header::CONTENT_SECURITY_POLICY, POLICY),
    ];
    (headers, text).into_response()
}

fn file_name(run: &str) -> String {
    const LONGEST: usize = 80;
    let plain = |sign: char| sign.is_ascii_alphanumeric() || matches!(sign, '-' | '_');
    run.chars().take(LONGEST).map(|sign| if plain(sign) { sign } else { '_' }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn replaces_special_characters_in_file_names() {
        assert_eq!(file_name("quick-20261121-1300"), "quick-20261121-1300");
        assert_eq!(file_name("../a\"b\r\nc\u{202e}é"), "___a_b__c__");
        assert_eq!(file_name(&"x".repeat(10_000)).len(), 80);
    }
}
