//! Signing in with the token (sets a cookie), and signing out.

use std::sync::Arc;

use axum::{
    Form,
    extract::State,
    http::{Extensions, HeaderMap, StatusCode, header},
    response::{IntoResponse, Redirect, Response},
};
use maud::html;
use serde::Deserialize;
use sys::clock::monotonic;

use crate::{
    failure::Failure,
    layout, links,
    reader::{self, SignInRefusal},
    shell,
    site::Site,
};

#[derive(Deserialize)]
pub(crate) struct SignIn {
    token: String,
    #[serde(default)]
    wanted: String,
}

pub(crate) async fn page() -> Response {
    form(links::RUNS, None)
}

pub(crate) fn form(wanted: &str, refusal: Option<SignInRefusal>) -> Response {
    let problem = refusal.and_then(|refusal| match refusal {
        SignInRefusal::NoToken => None,
        SignInRefusal::WrongToken => Some("Wrong token."),
        SignInRefusal::TooManyTokens => Some("Too many wrong tokens; try again in 10 seconds."),
    });
    let content = html! {
        form.sign-in method="post" action=(links::SIGN_IN) {
            h1 { "Sign in" }
            p { "Enter the token that " code { "plumb web" }
                " was started with, or the one that it printed at startup." }
            input type="hidden" name="wanted" value=(wanted);
            label for="token" { "Token" }
            input #token type="password" name="token" required autofocus autocomplete="current-password"
                aria-describedby=[problem.map(|_| "wrong")];
            @if let Some(problem) = problem { p.error #wrong role="alert" { (problem) } }
            button type="submit" { "Sign in" }
        }
    };
    shell::bare("Sign in", &content)
}

pub(crate) async fn sign_in(
    State(site): State<Arc<Site>>,
    extensions: Extensions,
    Form(shown): Form<SignIn>,
) -> Result<Response, Failure> {
    let wanted = if is_here(&shown.wanted) { shown.wanted.as_str() } else { links::RUNS };
    let Some(token) = &site.config.token else { return Ok(Redirect::to(wanted).into_response()) };
    if let Err(refusal) = reader::check_token(&site, token, &shown.token, reader::source(&extensions)) {
        return Ok((refusal.status(), form(wanted, Some(refusal))).into_response());
    }
    let cookie = site.sign_ins.begin(monotonic());
    let cookie =
        cookie.map_err(|error| Failure::new(StatusCode::INTERNAL_SERVER_ERROR, error.to_string()))?;
    Ok(with_cookie(&site, &format!("{cookie}; "), wanted))
}

pub(crate) async fn sign_out_page(State(site): State<Arc<Site>>) -> Response {
    let content = html! {
        h1 { "Sign out" }
        form.sign-in method="post" action=(links::SIGN_OUT) {
            p { "You will need the token to sign in again." }
            button type="submit" { "Sign out" }
        }
    };
    layout::page(&site, "Sign out", None, &content)
}

pub(crate) async fn sign_out(State(site): State<Arc<Site>>, headers: HeaderMap) -> Response {
    if site.config.token.is_none() {
        return Redirect::to(links::RUNS).into_response();
    }
    reader::cookies(&headers, site.config.listen.port()).for_each(|cookie| site.sign_ins.end(cookie));
    with_cookie(&site, "; Max-Age=0; ", links::SIGN_IN)
}

fn with_cookie(site: &Site, value: &str, next: &str) -> Response {
    let name = reader::cookie_name(site.config.listen.port());
    let secure = if site.config.tls.is_some() { "; Secure" } else { "" };
    let cookie = format!("{name}={value}Path=/; HttpOnly; SameSite=Strict{secure}");
    ([(header::SET_COOKIE, cookie)], Redirect::to(next)).into_response()
}

/// Returns whether the path is on this site. Two leading slashes would refer to another host.
fn is_here(wanted: &str) -> bool {
    let plain = |sign: char| sign.is_ascii_graphic() && sign != '\\';
    wanted.starts_with('/') && !wanted.starts_with("//") && wanted.chars().all(plain)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn redirects_only_within_the_site() {
        assert!(is_here("/") && is_here("/runs/a%2Fb?x=1"));
        for elsewhere in
            ["", "runs", "//evil.example.org", "/\\evil.example.org", "https://evil.example.org", "/\t/x"]
        {
            assert!(!is_here(elsewhere), "{elsewhere}");
        }
    }
}
