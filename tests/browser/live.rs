//! Follows a run in the browser.

use std::time::Duration;

use plumb_tests::{Chrome, WebServer, wait_until, wire};
use serde_json::json;

use crate::sandbox;

const PATIENCE: Duration = Duration::from_secs(600);

pub(crate) fn followed() {
    let sandbox = sandbox();
    let scenario = sandbox.file("wire.toml", &wire(12, "1s"));
    let (server, mut chrome) = (WebServer::start(&sandbox, &[]), Chrome::start());
    let mut run = sandbox.start(&["run", &scenario, "--quiet"]);
    let listed = || server.get("/").contains(">running<");
    assert!(wait_until(PATIENCE, listed), "{:?}", run.try_wait());
    chrome.open(&server.origin);
    chrome.follow(".runs .name a");
    assert_eq!(chrome.evaluate("location.pathname.endsWith('/live')"), json!(true));
    chrome.evaluate(
        "window.stayed = true; window.first = document.querySelector('.progress-line').textContent; true",
    );
    chrome.wait_for("document.querySelector('.progress-line').textContent !== window.first");
    // The run has 12 trials of 1 s, so this page was served during the run.
    chrome.wait_for("document.querySelectorAll('.results tbody tr').length > 0");
    let (midway, state) = (chrome.text(".results tbody"), chrome.text(".progress-line"));
    assert!(midway.contains("bit/s") && state.contains("running"), "{midway} {state}");
    assert!(chrome.text("main").contains("Results so far"), "{state}");
    chrome.wait_for("document.querySelector('#live').textContent.includes('Read the report')");
    assert_eq!(chrome.evaluate("window.stayed"), json!(true));
    let (results, trials) =
        (chrome.text(".results tbody"), chrome.count("#live table:last-of-type tbody tr"));
    assert!(results.contains("bit/s") && results.contains(" to "), "{results}");
    assert!(trials > 1, "{trials}");
    assert!(run.wait().expect("a child of this test").success());
    chrome.follow(".progress-line a");
    assert!(chrome.text("main").contains("Summary"));
    chrome.requested_only(&server.origin);
    server.end();
}
