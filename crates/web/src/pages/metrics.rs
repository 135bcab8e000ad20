//! Store metrics for Prometheus.

use std::{collections::BTreeMap, sync::Arc};

use axum::{
    extract::State,
    http::header,
    response::{IntoResponse, Response},
};
use samples::RunState;
use store::RunListing;

use crate::{
    exposition::{Exposition, labels},
    failure::Failure,
    metrics::FORMAT,
    site::Site,
};

pub(crate) async fn page(State(site): State<Arc<Site>>) -> Result<Response, Failure> {
    let runs = site.read(|_, store| Ok(store.runs()?)).await?;
    Ok(([(header::CONTENT_TYPE, FORMAT)], text(&runs)).into_response())
}

fn text(runs: &[RunListing]) -> String {
    let (mut counts, mut newest) = (BTreeMap::new(), BTreeMap::new());
    for run in runs.iter().filter(|run| !run.imported) {
        let is_complete = run.state == RunState::Complete;
        *counts
            .entry((&run.scenario, if is_complete { "complete" } else { "unfinished" }))
            .or_insert(0_u64) += 1;
        if is_complete {
            newest.entry(&run.scenario).or_insert(run.started);
        }
    }
    let mut text = Exposition::default();
    let counts = counts.into_iter().map(|((scenario, state), count)| {
        (labels(&[("scenario", scenario), ("state", state)]), count as f64)
    });
    text.gauge("plumb_store_runs", "Stored runs, without imported ones.", counts);
    let newest =
        newest.into_iter().map(|(scenario, began)| (labels(&[("scenario", scenario)]), began.0 as f64 / 1e3));
    let help = "Start time of the latest complete run.";
    text.gauge("plumb_store_last_run_timestamp_seconds", help, newest);
    text.into_text()
}
