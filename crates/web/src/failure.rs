//! Error pages with advice on how to fix the problem.

use axum::{
    http::StatusCode,
    response::{IntoResponse, Response},
};
use maud::html;
use store::StoreError;

use crate::{links, shell};

#[derive(Debug)]
pub(crate) struct Failure {
    status: StatusCode,
    message: String,
}

impl Failure {
    pub(crate) fn new(status: StatusCode, message: impl Into<String>) -> Self {
        Self { status, message: message.into() }
    }

    pub(crate) fn not_found(message: impl Into<String>) -> Self {
        Self::new(StatusCode::NOT_FOUND, message)
    }
}

impl From<StoreError> for Failure {
    fn from(error: StoreError) -> Self {
        let status = match error {
            StoreError::Unknown { .. } => StatusCode::NOT_FOUND,
            StoreError::Locked { .. } | StoreError::Away { .. } => StatusCode::SERVICE_UNAVAILABLE,
            _ => StatusCode::INTERNAL_SERVER_ERROR,
        };
        Self::new(status, error.to_string())
    }
}

impl From<anyhow::Error> for Failure {
    fn from(error: anyhow::Error) -> Self {
        let text = format!("{error:#}");
        match error.downcast::<StoreError>() {
            Ok(error) => Self { message: text, ..Self::from(error) },
            Err(_) => Self::new(StatusCode::INTERNAL_SERVER_ERROR, text),
        }
    }
}

impl IntoResponse for Failure {
    fn into_response(self) -> Response {
        let title = self.status.canonical_reason().unwrap_or("Error");
        let body = html! {
            h1 { (title) }
            p { bdi { (self.message) } }
            p { a href=(links::RUNS) { "All runs" } }
        };
        (self.status, shell::bare(title, &body)).into_response()
    }
}
