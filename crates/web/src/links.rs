//! The URLs of pages. Run names may contain any characters.

use std::fmt::Write as _;

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use samples::RunId;

use crate::config::Rendition;

const UNRESERVED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');

pub(crate) const RUNS: &str = "/";
pub(crate) const COMPARE: &str = "/compare";
pub(crate) const METRICS: &str = "/metrics";
pub(crate) const SIGN_IN: &str = "/sign-in";
pub(crate) const SIGN_OUT: &str = "/sign-out";

pub(crate) fn run(run: &RunId) -> String {
    format!("/runs/{}", encoded(&run.0))
}

pub(crate) fn live(run: &RunId) -> String {
    self::run(run) + "/live"
}

pub(crate) fn events(run: &RunId) -> String {
    self::run(run) + "/events"
}

pub(crate) fn history(run: &RunId) -> String {
    self::run(run) + "/history"
}

pub(crate) fn download(run: &RunId, rendition: Rendition) -> String {
    format!("{}/download/{}", self::run(run), rendition.name())
}

pub(crate) fn comparison(a: &RunId, b: &RunId) -> String {
    with_query(COMPARE, &[("a", &a.0), ("b", &b.0)])
}

pub(crate) fn with_query(page: &str, query: &[(&str, &str)]) -> String {
    let mut text = page.to_owned();
    for (key, value) in query.iter().filter(|(_, value)| !value.is_empty()) {
        let mark = if text.len() == page.len() { '?' } else { '&' };
        let _ = write!(text, "{mark}{key}={}", encoded(value));
    }
    text
}

fn encoded(text: &str) -> String {
    utf8_percent_encode(text, UNRESERVED).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escapes_run_names_in_urls() {
        let link = |name: &str| run(&RunId(name.to_owned()));
        assert_eq!(link("quick-20261121-1300"), "/runs/quick-20261121-1300");
        assert_eq!(link("../a?b#c\"<"), "/runs/..%2Fa%3Fb%23c%22%3C");
        assert_eq!(
            with_query(RUNS, &[("q", "a&b=c"), ("state", ""), ("after", "7")]),
            "/?q=a%26b%3Dc&after=7"
        );
        assert_eq!(with_query(RUNS, &[("q", "")]), "/");
    }
}
