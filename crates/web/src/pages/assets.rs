//! Static files (styles, scripts and icons) embedded in the program.

use axum::{
    extract::Path,
    http::header,
    response::{IntoResponse, Response},
};

use crate::{failure::Failure, layout::BAR_STYLE};

const CSS: &str = "text/css; charset=utf-8";
const FILES: [(&str, &str, &str); 4] = [
    ("bar.css", CSS, BAR_STYLE),
    ("site.css", CSS, include_str!("../../assets/site.css")),
    ("live.js", "text/javascript; charset=utf-8", include_str!("../../assets/live.js")),
    ("icon.svg", "image/svg+xml", include_str!("../../assets/icon.svg")),
];

/// Forbids caching, because another version of plumb may serve different files at the same address.
pub(crate) async fn asset(Path(name): Path<String>) -> Result<Response, Failure> {
    let found = FILES.iter().find(|(known, ..)| *known == name);
    let (_, kind, text) = found.ok_or_else(|| Failure::not_found("file not found"))?;
    Ok(([(header::CONTENT_TYPE, *kind)], *text).into_response())
}
