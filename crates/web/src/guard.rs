//! Checks every request before it reaches a page, and adds security headers to every response.

use std::{sync::Arc, time::Duration};

use axum::{
    extract::{Request, State},
    http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode, header},
    middleware::Next,
    response::{IntoResponse, Response},
};
use tokio::time::timeout;

use crate::{
    failure::Failure,
    host, links,
    pages::sign_in,
    reader::{check_reader, text},
    site::Site,
};

/// Timeout for idle connections, incomplete headers or forms, and unread responses.
pub(crate) const PATIENCE: Duration = Duration::from_secs(20);
/// Allows only scripts, styles and images from this server.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; \
                      form-action 'self'; base-uri 'none'; frame-ancestors 'none'";

/// With a policy stricter than `same-origin`, browsers would send forms without an origin.
const HEADERS: [(HeaderName, &str); 4] = [
    (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
    (header::REFERRER_POLICY, "same-origin"),
    (HeaderName::from_static("cross-origin-opener-policy"), "same-origin"),
    (HeaderName::from_static("cross-origin-resource-policy"), "same-origin"),
];

pub(crate) async fn guard(State(site): State<Arc<Site>>, request: Request, next: Next) -> Response {
    let mut response = match check(&site, &request) {
        Ok(()) if is_question(request.method()) => next.run(request).await,
        Ok(()) => timeout(PATIENCE, next.run(request)).await.unwrap_or_else(|_| {
            Failure::new(StatusCode::REQUEST_TIMEOUT, "the form did not arrive in time").into_response()
        }),
        Err(refusal) => refusal,
    };
    let headers = response.headers_mut();
    headers.entry(header::CONTENT_SECURITY_POLICY).or_insert(HeaderValue::from_static(POLICY));
    headers.entry(header::CACHE_CONTROL).or_insert(HeaderValue::from_static("no-store"));
    for (name, value) in HEADERS {
        headers.insert(name, HeaderValue::from_static(value));
    }
    response
}

fn check(site: &Site, request: &Request) -> Result<(), Response> {
    let headers = request.headers();
    let host = text(headers, &header::HOST).unwrap_or_default();
    if !host::is_ours(host, &site.config.names) {
        let message = "unknown host name; use the IP address, or start plumb web with --name NAME";
        return Err(Failure::new(StatusCode::MISDIRECTED_REQUEST, message).into_response());
    }
    if !is_question(request.method()) && !is_from(headers, host) {
        let message = "only forms of this site may send this request";
        return Err(Failure::new(StatusCode::FORBIDDEN, message).into_response());
    }
    let path = request.uri().path();
    let open = path == links::SIGN_IN || path.starts_with("/static/");
    let wanted = || request.uri().path_and_query().map_or("/", |wanted| wanted.as_str());
    match &site.config.token {
        Some(token) if !open => check_reader(site, token, request)
            .map_err(|refusal| (refusal.status(), sign_in::form(wanted(), Some(refusal))).into_response()),
        _ => Ok(()),
    }
}

fn is_question(method: &Method) -> bool {
    matches!(*method, Method::GET | Method::HEAD)
}

fn is_from(headers: &HeaderMap, host: &str) -> bool {
    let origin = text(headers, &header::ORIGIN).and_then(|origin| origin.split_once("://"));
    origin.is_some_and(|(_, from)| from.eq_ignore_ascii_case(host))
}
