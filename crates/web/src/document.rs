//! A page that `report` wrote, shown under our bar. It has its own style and policy, and keeps them.
//! Must not know what it says.

use axum::{
    http::{HeaderValue, header},
    response::{Html, IntoResponse, Response},
};
use maud::Markup;

use crate::layout::BAR_STYLE;

/// What holds where a page names no policy.
const STRICTEST: &str = "default-src 'none'; style-src 'unsafe-inline'";
/// What holds beside a page's own policy.
const BESIDE: &str = "base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/// The page with the bar above its body.
pub(crate) fn framed(page: &str, bar: &Markup) -> Response {
    let policy = format!("{}; {BESIDE}", policy_of(page).unwrap_or_else(|| STRICTEST.to_owned()));
    // One that is no header's value would be none that a browser heeds.
    let policy = HeaderValue::from_str(&policy).unwrap_or(HeaderValue::from_static(STRICTEST));
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

/// The policy that a page's own `meta` names.
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
    fn the_bar_stands_first_in_the_body_and_the_pages_policy_becomes_the_header() {
        let page = "<!doctype html><html><head><meta http-equiv=\"Content-Security-Policy\" \
                    content=\"default-src 'none'; script-src 'sha256-abc='\"><title>&lt;/head&gt;</title></head>\
                    <body class=\"x\"><main>It</main></body></html>";
        let response = framed(page, &html! { header { "Bar" } });
        let policy = response.headers()[header::CONTENT_SECURITY_POLICY].to_str().expect("text");
        assert_eq!(policy, format!("default-src 'none'; script-src 'sha256-abc='; {BESIDE}"));
        let shown = with_bar(page, &html! { header { "Bar" } });
        assert!(shown.contains("<body class=\"x\">\n<header>Bar</header><main>It</main>"), "{shown}");
        assert!(shown.contains(&format!("<style>\n{BAR_STYLE}</style>\n</head>")), "{shown}");
    }

    #[test]
    fn what_is_no_page_gets_the_strictest_policy_and_is_shown_as_it_is() {
        let bar = html! { header {} };
        assert_eq!(with_bar("no page", &bar), "no page");
        let response = framed("no page", &bar);
        let policy = response.headers()[header::CONTENT_SECURITY_POLICY].to_str().expect("text");
        assert!(policy.starts_with(STRICTEST), "{policy}");
    }
}
