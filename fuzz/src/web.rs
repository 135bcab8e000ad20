//! Sends arbitrary requests to the web pages and checks invariants.

use std::{
    net::SocketAddr,
    path::{Path, PathBuf},
    sync::Arc,
};

use axum::{
    Router,
    body::{self, Body},
    http::{Request, StatusCode, header},
};
use hyper::service::Service;
use hyper_util::service::TowerToHyperService;
use report::Format;
use samples::RunId;
use store::Store;
use tokio::{
    runtime::{self, Runtime},
    sync::watch,
};

use crate::{
    config::{Config, Documents, Rendition},
    links, pages,
    site::Site,
    token::Token,
};

const TOKEN: &str = "a-token-of-this-test";

/// A public site and a site that requires a token, both with an empty store.
#[expect(missing_debug_implementations, reason = "a router and a runtime")]
pub struct Pages {
    runtime: Runtime,
    open: Router,
    closed: Router,
    _ends: watch::Sender<bool>,
}

pub(crate) struct TrialCounts;

impl Documents for TrialCounts {
    fn report(&self, store: &Store, run: &RunId, _rendition: Rendition) -> anyhow::Result<String> {
        Ok(format!("{} trials", store.load(run)?.trials.len()))
    }

    fn comparison(&self, store: &Store, a: &RunId, b: &RunId, _format: Format) -> anyhow::Result<String> {
        Ok(format!("{} and {} trials", store.load(a)?.trials.len(), store.load(b)?.trials.len()))
    }
}

impl Pages {
    #[must_use]
    pub fn over(store: &Path) -> Self {
        let (ends, ended) = watch::channel(false);
        let site = |token| site(store.to_owned(), token, ended.clone());
        let token = Token::new(TOKEN).expect("it is long enough");
        let runtime = runtime::Builder::new_current_thread().enable_all().build();
        Self {
            runtime: runtime.expect("a runtime without threads"),
            open: pages::router(&site(None)),
            closed: pages::router(&site(Some(token))),
            _ends: ends,
        }
    }

    /// The input has a first line (method and URL), headers, an empty line and a body.
    pub fn ask(&self, bytes: &[u8]) {
        let Some(request) = request(bytes) else { return };
        let (path, host) =
            (request().uri().path().to_owned(), request().headers().get(header::HOST).cloned());
        for router in [&self.open, &self.closed] {
            let request_line = || format!("{} {path} at {host:?}", request().method());
            let (status, headers) = self.answer(router, request());
            assert!(!status.is_server_error(), "{}: {status}", request_line());
            for (name, value) in
                [(header::X_CONTENT_TYPE_OPTIONS, "nosniff"), (header::REFERRER_POLICY, "same-origin")]
            {
                assert_eq!(
                    headers.get(&name).map(|value| value.as_bytes()),
                    Some(value.as_bytes()),
                    "{}",
                    request_line()
                );
            }
            assert!(headers.contains_key(header::CONTENT_SECURITY_POLICY), "{}", request_line());
            // Redirects must not lead to other hosts.
            let place = headers.get(header::LOCATION).map_or(&b"/"[..], |place| place.as_bytes());
            assert!(place.starts_with(b"/") && !place.starts_with(b"//"), "{}: {place:?}", request_line());
            assert!(!headers.contains_key(header::SET_COOKIE), "{}: without the token", request_line());
            let is_open = path == links::SIGN_IN || path.starts_with("/static/");
            let is_behind_the_token = std::ptr::eq(router, &self.closed) && !is_open;
            assert!(
                !(is_behind_the_token && (status.is_success() || status.is_redirection())),
                "{}",
                request_line()
            );
        }
    }

    fn answer(&self, router: &Router, request: Request<Body>) -> (StatusCode, header::HeaderMap) {
        self.runtime.block_on(async {
            let Ok(answer) = TowerToHyperService::new(router.clone()).call(request).await;
            let (head, body) = answer.into_parts();
            body::to_bytes(body, usize::MAX).await.expect("pages are whole");
            (head.status, head.headers)
        })
    }
}

fn site(store: PathBuf, token: Option<Token>, stop: watch::Receiver<bool>) -> Arc<Site> {
    let listen = SocketAddr::from(([127, 0, 0, 1], 7373));
    Arc::new(Site::new(
        Config { listen, store, tls: None, token, names: Vec::new() },
        Box::new(TrialCounts),
        stop,
    ))
}

fn request(bytes: &[u8]) -> Option<impl Fn() -> Request<Body>> {
    let text = std::str::from_utf8(bytes).ok()?;
    let (head, body) = text.split_once("\n\n").unwrap_or((text, ""));
    let mut lines = head.lines();
    let (method, uri) = lines.next()?.split_once(' ')?;
    let headers = lines.map(|line| line.split_once(": ")).collect::<Option<Vec<_>>>()?;
    let make = move || {
        let begun = Request::builder().method(method).uri(uri);
        let request = headers.iter().fold(begun, |request, (name, value)| request.header(*name, *value));
        request.body(Body::from(body.to_owned()))
    };
    make().ok()?;
    Some(move || make().expect("it was one before"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arbitrary_requests_get_safe_responses_and_require_the_token() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let pages = Pages::over(&folder.path().join("runs.db"));
        for sample in [
            &include_bytes!("../corpus/web_request/list")[..],
            include_bytes!("../corpus/web_request/compare"),
            include_bytes!("../corpus/web_request/history"),
            include_bytes!("../corpus/web_request/download"),
            include_bytes!("../corpus/web_request/sign-in"),
            include_bytes!("../corpus/web_request/static"),
        ] {
            assert!(request(sample).is_some(), "{}", String::from_utf8_lossy(sample));
            pages.ask(sample);
            for place in 0..sample.len() {
                for change in [0x01, 0x04, 0x10] {
                    let mut bytes = sample.to_vec();
                    bytes[place] ^= change;
                    pages.ask(&bytes);
                }
            }
        }
    }
}
