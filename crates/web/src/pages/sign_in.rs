//! Showing the token: a form, and the cookie that stands for it afterwards.

use std::sync::Arc;

use axum::{
    Form,
    extract::State,
    http::{StatusCode, header},
    response::{IntoResponse, Redirect, Response},
};
use maud::html;
use serde::Deserialize;

use crate::{guard, layout, links, site::Site};

/// What the form sends.
#[derive(Deserialize)]
pub(crate) struct SignIn {
    token: String,
    /// Where its sender wanted to go.
    #[serde(default)]
    wanted: String,
}

pub(crate) async fn page() -> Response {
    form(links::RUNS, false)
}

/// The form, which leads to `wanted`.
pub(crate) fn form(wanted: &str, is_wrong: bool) -> Response {
    let content = html! {
        form.sign-in method="post" action=(links::SIGN_IN) {
            h1 { "Sign in" }
            p { "This page is reached from other machines, so it asks for the token that " code { "plumb web" }
                " was started with, or printed when it began." }
            input type="hidden" name="wanted" value=(wanted);
            label for="token" { "Token" }
            input #token type="password" name="token" required autofocus autocomplete="current-password"
                aria-describedby=[is_wrong.then_some("wrong")];
            @if is_wrong { p.error #wrong role="alert" { "That is not the token." } }
            button type="submit" { "Sign in" }
        }
    };
    layout::bare("Sign in", &content)
}

/// Sets the cookie where the token is right.
pub(crate) async fn sign_in(State(site): State<Arc<Site>>, Form(shown): Form<SignIn>) -> Response {
    let wanted = if is_here(&shown.wanted) { shown.wanted.as_str() } else { links::RUNS };
    match &site.config.token {
        None => Redirect::to(wanted).into_response(),
        Some(token) if token.is(&shown.token) => {
            let name = guard::cookie_name(site.config.listen.port());
            let secure = if site.config.tls.is_some() { "; Secure" } else { "" };
            let cookie = format!("{name}={}; Path=/; HttpOnly; SameSite=Strict{secure}", token.cookie());
            ([(header::SET_COOKIE, cookie)], Redirect::to(wanted)).into_response()
        }
        Some(_) => (StatusCode::UNAUTHORIZED, form(wanted, true)).into_response(),
    }
}

/// Whether it is an address of this page: a browser takes what begins with two slashes for another host.
fn is_here(wanted: &str) -> bool {
    let plain = |sign: char| sign.is_ascii_graphic() && sign != '\\';
    wanted.starts_with('/') && !wanted.starts_with("//") && wanted.chars().all(plain)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nobody_is_led_elsewhere_after_signing_in() {
        assert!(is_here("/") && is_here("/runs/a%2Fb?x=1"));
        for elsewhere in
            ["", "runs", "//evil.example.org", "/\\evil.example.org", "https://evil.example.org", "/\t/x"]
        {
            assert!(!is_here(elsewhere), "{elsewhere}");
        }
    }
}
