//! Adds the navigation bar to a report page and preserves its content security policy.

use axum::{
    http::{HeaderValue, header},
    response::{Html, IntoResponse, Response},
};
use maud::Markup;

use crate::layout::BAR_STYLE;

const DEFAULT_POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'";
const COMMON_POLICY: &str = "base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

pub(crate) fn framed(page: &str, bar: &Markup) -> Response {
    let policy = format!("{}; {COMMON_POLICY}", policy_of(page).unwrap_or_else(|| DEFAULT_POLICY.to_owned()));
    // Browsers ignore a policy that is not a valid header value.
    let policy = HeaderValue::from_str(&policy).unwrap_or(HeaderValue::from_static(DEFAULT_POLICY));
    ([(header::CONTENT_SECURITY_POLICY, policy)], Html(with_bar(page, bar))).into_response()
}

fn with_bar(page: &str, bar: &Markup) -> String {
    let parts = page.split_once("</head>").and_then(|(head, rest)| {
        let body = rest.find("<body")?;
        let begins = body + rest[body..].find('>')? + 1;
        Some((head, &rest[..begins], &rest[begins..]))
    });
    let Some((head, body, rest)) = parts else { return page.to_owned() };
    format!("{head}<style>\n{BAR_STYLE}</style>\n</head>{body}\n{}{rest}", bar.0)
}

fn policy_of(page: &str) -> Option<String> {
    let (head, _) = page.split_once("</head>")?;
    let (_, after) = head.split_once("http-equiv=\"Content-Security-Policy\"")?;
    let (_, after) = after.split_once("content=\"")?;
    let (policy, _) = after.split_once('"')?;
    Some(policy.replace("&#39;", "'").replace("&quot;", "\"").replace("&amp;", "&"))
}

#[cfg(test)]
mod tests {
    use maud::html;

    use super::*;

    #[test]
    fn puts_bar_first_and_policy_into_header() {
        let page = "<!doctype html><html><head><meta http-equiv=\"Content-Security-Policy\" \
                    content=\"default-src 'none'; script-src 'sha256-abc='\"><title>&lt;/head&gt;</title></head>\
                    <body class=\"x\"><main>It</main></body></html>";
        let response = framed(page, &html! { header { "Bar" } });
        let policy = response.headers()[header::CONTENT_SECURITY_POLICY].to_str().expect("text");
        assert_eq!(policy, format!("default-src 'none'; script-src 'sha256-abc='; {COMMON_POLICY}"));
        let shown = with_bar(page, &html! { header { "Bar" } });
        assert!(shown.contains("<body class=\"x\">\n<header>Bar</header><main>It</main>"), "{shown}");
        assert!(shown.contains(&format!("<style>\n{BAR_STYLE}</style>\n</head>")), "{shown}");
    }

    #[test]
    fn leaves_other_text_unchanged_under_default_policy() {
        let bar = html! { header {} };
        assert_eq!(with_bar("no page", &bar), "no page");
        let response = framed("no page", &bar);
        let policy = response.headers()[header::CONTENT_SECURITY_POLICY].to_str().expect("text");
        assert!(policy.starts_with(DEFAULT_POLICY), "{policy}");
    }
}
