//! The report of a run.

use std::sync::Arc;

use axum::{
    extract::{Path, State},
    response::{IntoResponse, Redirect, Response},
};
use samples::RunId;

use crate::{
    config::Rendition,
    document,
    failure::Failure,
    layout::{self, RunEntry},
    links,
    site::Site,
};

pub(crate) async fn page(
    State(site): State<Arc<Site>>,
    Path(run): Path<String>,
) -> Result<Response, Failure> {
    let run = RunId(run);
    let (id, live) = (run.clone(), links::live(&run));
    let report = site.read(move |site, store| {
        let begins = store.progress(&id)?.completed == 0 && store.is_under_way(&id);
        (!begins)
            .then(|| site.documents.report(store, &id, Rendition::Shown))
            .transpose()
            .map_err(Failure::from)
    });
    let Some(report) = report.await? else { return Ok(Redirect::to(&live).into_response()) };
    Ok(document::framed(&report, &layout::bar(&site, None, Some((&run, RunEntry::Report)))))
}
