//! Recognizes a reader by the access token or a session cookie.

use std::net::IpAddr;

use axum::{
    extract::Request,
    http::{Extensions, HeaderMap, HeaderName, StatusCode, header},
};
use budgets::Source;
use sys::clock::monotonic;

use crate::{site::Site, token::Token};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SignInRefusal {
    NoToken,
    WrongToken,
    TooManyTokens,
}

impl SignInRefusal {
    pub(crate) const fn status(self) -> StatusCode {
        match self {
            Self::NoToken | Self::WrongToken => StatusCode::UNAUTHORIZED,
            Self::TooManyTokens => StatusCode::TOO_MANY_REQUESTS,
        }
    }
}

pub(crate) fn check_reader(site: &Site, token: &Token, request: &Request) -> Result<(), SignInRefusal> {
    let headers = request.headers();
    if cookies(headers, site.config.listen.port()).any(|cookie| site.sign_ins.has(cookie, monotonic())) {
        return Ok(());
    }
    let bearer = text(headers, &header::AUTHORIZATION).and_then(|shown| shown.strip_prefix("Bearer "));
    let shown = bearer.ok_or(SignInRefusal::NoToken)?;
    check_token(site, token, shown, source(request.extensions()))
}

/// Fails if this address has sent too many wrong tokens.
pub(crate) fn check_token(
    site: &Site,
    token: &Token,
    shown: &str,
    source: Source,
) -> Result<(), SignInRefusal> {
    let now = monotonic();
    if !site.sign_ins.may_try(source, now) {
        return Err(SignInRefusal::TooManyTokens);
    }
    if !token.is(shown) {
        site.sign_ins.note_wrong(source, now);
        return Err(SignInRefusal::WrongToken);
    }
    Ok(())
}

pub(crate) fn source(extensions: &Extensions) -> Source {
    extensions.get().copied().unwrap_or_else(|| Source::from(IpAddr::from([0; 4])))
}

pub(crate) fn cookies(headers: &HeaderMap, port: u16) -> impl Iterator<Item = &str> {
    let ours = cookie_name(port);
    let all = headers.get_all(header::COOKIE).into_iter().filter_map(|value| value.to_str().ok());
    let pairs = all.flat_map(|value| value.split(';')).filter_map(|pair| pair.trim().split_once('='));
    pairs.filter(move |(name, _)| *name == ours).map(|(_, value)| value)
}

/// All ports of a host share cookies. Without the port, servers of different stores would overwrite each other's
/// cookies.
pub(crate) fn cookie_name(port: u16) -> String {
    format!("plumb-web-{port}")
}

pub(crate) fn text<'a>(headers: &'a HeaderMap, name: &HeaderName) -> Option<&'a str> {
    headers.get(name)?.to_str().ok()
}
