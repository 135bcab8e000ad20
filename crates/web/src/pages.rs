//! The routes of the pages.

mod assets;
mod compare;
mod download;
mod history;
mod live;
mod metrics;
mod report;
mod runs;
pub(crate) mod sign_in;
mod trend;

use std::sync::Arc;

use axum::{
    Router,
    extract::DefaultBodyLimit,
    middleware,
    routing::{get, post},
};

use crate::{failure::Failure, guard, links, site::Site};

const LARGEST_FORM: usize = 4096;

pub(crate) fn router(site: &Arc<Site>) -> Router {
    Router::new()
        .route(links::RUNS, get(runs::page))
        .route("/runs/{run}", get(report::page))
        .route("/runs/{run}/download/{rendition}", get(download::file))
        .route("/runs/{run}/history", get(history::page))
        .route("/runs/{run}/live", get(live::page))
        .route("/runs/{run}/events", get(live::events))
        .route(links::COMPARE, get(compare::page))
        .route("/compare/download/{format}", get(download::comparison))
        .route(links::METRICS, get(metrics::page))
        .route(links::SIGN_IN, post(sign_in::sign_in).get(sign_in::page))
        .route(links::SIGN_OUT, post(sign_in::sign_out).get(sign_in::sign_out_page))
        .route("/static/{name}", get(assets::asset))
        .fallback(async || Failure::not_found("page not found"))
        .layer(DefaultBodyLimit::max(LARGEST_FORM))
        .layer(middleware::from_fn_with_state(Arc::clone(site), guard::guard))
        .with_state(Arc::clone(site))
}
