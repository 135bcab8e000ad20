//! What a request must fulfil before any page sees it, and the headers of every answer. Must not know the pages.

use std::sync::Arc;

use axum::{
    extract::{Request, State},
    http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode, header},
    middleware::Next,
    response::{IntoResponse, Response},
};

use tokio::time::timeout;

use crate::{failure::Failure, host, links, pages::sign_in, serve::PATIENCE, site::Site, token::Token};

/// Pages of ours run our script alone, and nothing is fetched from elsewhere.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; \
                      form-action 'self'; base-uri 'none'; frame-ancestors 'none'";

/// Headers of every answer. `same-origin`: without a referrer a form would not tell its origin either.
const HEADERS: [(HeaderName, &str); 4] = [
    (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
    (header::REFERRER_POLICY, "same-origin"),
    (HeaderName::from_static("cross-origin-opener-policy"), "same-origin"),
    (HeaderName::from_static("cross-origin-resource-policy"), "same-origin"),
];

/// Lets through what may pass.
pub(crate) async fn guard(State(site): State<Arc<Site>>, request: Request, next: Next) -> Response {
    let mut response = match check(&site, &request) {
        // Nothing is read of it but its head.
        Ok(()) if is_question(request.method()) => next.run(request).await,
        Ok(()) => timeout(PATIENCE, next.run(request)).await.unwrap_or_else(|_| {
            Failure::new(StatusCode::REQUEST_TIMEOUT, "the form did not come").into_response()
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
        let message =
            "this page is not reached by that name: use the address, or start plumb web with --name NAME";
        return Err(Failure::new(StatusCode::MISDIRECTED_REQUEST, message).into_response());
    }
    if !is_question(request.method()) && !is_from(headers, host) {
        let message = "only a form of this page may do that";
        return Err(Failure::new(StatusCode::FORBIDDEN, message).into_response());
    }
    let path = request.uri().path();
    let open = path == links::SIGN_IN || path.starts_with("/static/");
    match &site.config.token {
        Some(token) if !open && !is_shown(token, headers, site.config.listen.port()) => {
            let wanted = request.uri().path_and_query().map_or("/", |wanted| wanted.as_str());
            Err((StatusCode::UNAUTHORIZED, sign_in::form(wanted, false)).into_response())
        }
        _ => Ok(()),
    }
}

/// Whether it changes nothing.
fn is_question(method: &Method) -> bool {
    matches!(*method, Method::GET | Method::HEAD)
}

/// Whether a form of a page at this host sent it. Every browser says so of what changes something.
fn is_from(headers: &HeaderMap, host: &str) -> bool {
    let origin = text(headers, &header::ORIGIN).and_then(|origin| origin.split_once("://"));
    origin.is_some_and(|(_, from)| from.eq_ignore_ascii_case(host))
}

fn is_shown(token: &Token, headers: &HeaderMap, port: u16) -> bool {
    let bearer = text(headers, &header::AUTHORIZATION).and_then(|shown| shown.strip_prefix("Bearer "));
    bearer.is_some_and(|shown| token.is(shown)) || cookies(headers, port).any(|shown| token.is_cookie(shown))
}

/// The values of our cookie.
fn cookies(headers: &HeaderMap, port: u16) -> impl Iterator<Item = &str> {
    let ours = cookie_name(port);
    let all = headers.get_all(header::COOKIE).into_iter().filter_map(|value| value.to_str().ok());
    let pairs = all.flat_map(|value| value.split(';')).filter_map(|pair| pair.trim().split_once('='));
    pairs.filter(move |(name, _)| *name == ours).map(|(_, value)| value)
}

/// Cookies do not tell ports apart: pages of several stores would sign each other out.
pub(crate) fn cookie_name(port: u16) -> String {
    format!("plumb-web-{port}")
}

fn text<'a>(headers: &'a HeaderMap, name: &HeaderName) -> Option<&'a str> {
    headers.get(name)?.to_str().ok()
}
