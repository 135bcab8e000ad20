//! Tests the pages of finished runs.

use std::fs;

use plumb_tests::{Chrome, WebServer};
use serde_json::{Value, json};

use crate::{
    kept::{self, Kept, PLAIN},
    layout, sandbox,
};

pub(crate) const AXE: &str =
    concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/browser/node_modules/axe-core/axe.min.js");

/// The last five runs are slower, with a different kernel.
const SHARES: [f64; 12] = [1.0, 1.01, 0.99, 1.02, 1.0, 0.98, 1.01, 0.7, 0.71, 0.69, 0.7, 0.72];

pub(crate) fn list() {
    let sandbox = sandbox();
    for number in 0..30 {
        let title = if number == 4 { "Needle in a haystack" } else { PLAIN.title };
        kept::keep(&sandbox, &Kept { id: &format!("egress-{number:02}"), title, day: number, ..PLAIN });
    }
    let (server, mut chrome) = (WebServer::start(&sandbox, &[]), Chrome::start());
    chrome.open(&server.origin);
    assert_eq!(chrome.count(".runs tbody tr"), 25);
    let first = chrome.text(".runs tbody tr");
    assert!(first.contains("egress-29") && first.contains("60") && first.contains("complete"), "{first}");
    chrome.follow("a[rel=next]");
    assert_eq!(chrome.count(".runs tbody tr"), 5);
    assert!(chrome.text(".runs tbody").contains("egress-04"));
    chrome.evaluate("document.querySelector('#q').value = 'needle'");
    chrome.follow(".search button");
    assert_eq!((chrome.count(".runs tbody tr"), chrome.text(".runs .name a")), (1, "egress-04".to_owned()));
    chrome.open(&format!("{}/?state=unfinished", server.origin));
    assert!(chrome.text("main").contains("No matching runs"), "{}", chrome.text("main"));
    chrome.follow(".clear");
    assert_eq!(chrome.count(".runs tbody tr"), 25);
    chrome.requested_only(&server.origin);
    server.end();
}

pub(crate) fn report() {
    let sandbox = sandbox();
    kept::keep(&sandbox, &PLAIN);
    let (server, mut chrome) = (WebServer::start(&sandbox, &[]), Chrome::start());
    chrome.open(&server.origin);
    chrome.follow(".runs .name a");
    let text = chrome.text("body");
    assert!(text.contains("Cost of each layer") && text.contains("History"), "{text}");
    let bar = chrome.evaluate("document.body.firstElementChild.className");
    assert_eq!(bar, json!("plumb-bar"));
    let files = chrome.evaluate("[...document.querySelectorAll('.plumb-files a')].map((a) => a.pathname)");
    let files: Vec<&str> =
        files.as_array().expect("a list").iter().filter_map(|file| file.as_str()).collect();
    assert_eq!(files.len(), 6);
    for file in files {
        let answer = server.get(file);
        let (head, body) = answer.split_once("\r\n\r\n").expect("a head");
        assert!(
            head.contains("200 OK") && head.contains("attachment; filename=\"egress-1."),
            "{file}: {head}"
        );
        let format = file.rsplit('/').next().expect("a name");
        let written = sandbox.succeed(&["report", "egress-1", "--format", format]).out;
        assert!(body == written, "{file} is another file than plumb report writes");
    }
    chrome.requested_only(&server.origin);
    server.end();
}

pub(crate) fn compare() {
    let sandbox = sandbox();
    kept::keep(&sandbox, &PLAIN);
    kept::keep(&sandbox, &Kept { id: "egress-2", day: 1, share: 0.6, kernel: "6.12.9", ..PLAIN });
    let (server, mut chrome) = (WebServer::start(&sandbox, &[]), Chrome::start());
    chrome.open(&server.origin);
    chrome.evaluate("document.querySelectorAll('.pick input').forEach((box) => box.click())");
    chrome.follow(".quiet");
    let (text, place) = (chrome.text("main"), chrome.evaluate("location.search"));
    assert_eq!(place, json!("?a=egress-1&b=egress-2"), "the older one is the reference");
    let kernel = text.find("6.12.9").expect("the kernels differ");
    let verdict = text.find("Verdict").expect("it has a verdict");
    let results = text.find("All results").expect("its results are compared");
    assert!(verdict < kernel && kernel < results, "{text}");
    chrome.open(&format!("{}/compare?b=egress-2", server.origin));
    assert_eq!(chrome.evaluate("document.querySelector('#a').value"), json!("egress-1"));
    chrome.follow(".pair button");
    assert_eq!(chrome.evaluate("location.search"), place);
    chrome.requested_only(&server.origin);
    server.end();
}

pub(crate) fn history() {
    let sandbox = sandbox();
    kept::keep_days(&sandbox, &SHARES);
    let (server, mut chrome) = (WebServer::start(&sandbox, &[]), Chrome::start());
    chrome.open(&server.origin);
    assert_eq!(chrome.count(".trend"), 1, "only a scenario's newest run has a trend");
    let points = chrome.evaluate("document.querySelector('.trend polyline').points.length");
    assert_eq!(points, json!(12));
    chrome.follow(".trend");
    assert_eq!(chrome.evaluate("location.pathname"), json!("/runs/egress-11/history"));
    chrome.open(&format!("{}/runs/egress-11/history", server.origin));
    let (lead, first) = (chrome.text(".lead"), chrome.text(".result"));
    assert!(lead.contains("12 runs") && lead.contains("6 of 8 results have a level shift"), "{lead}");
    assert!(first.contains("Level shift: 20.") && first.contains("egress-7"), "{first}");
    assert_eq!(
        (
            chrome.count(".result:first-of-type .page .run"),
            chrome.count(".result:first-of-type .page .shift")
        ),
        (12, 1)
    );
    assert_eq!(chrome.count(".result:first-of-type .page .interval"), 12);
    let changed = chrome.evaluate("document.querySelector('.changed').closest('a').textContent");
    assert!(
        changed.as_str().is_some_and(|title| title.contains("egress-7") && title.contains("kernel 6.12.9")),
        "{changed}"
    );
    chrome.follow(".result a[href*=compare]");
    assert_eq!(chrome.evaluate("location.search"), json!("?a=egress-6&b=egress-7"));
    chrome.open(&format!("{}/runs/egress-3/history", server.origin));
    let lead = chrome.text(".lead");
    assert!(lead.contains("4 runs") && lead.contains("detected from 8 runs"), "{lead}");
    chrome.requested_only(&server.origin);
    server.end();
}

pub(crate) fn hostile() {
    let sandbox = sandbox();
    let id = "a/../b\"'><script>document.title='run'</script>]]>";
    let long = "long ".repeat(2_000);
    let titles =
        ["<img src=x onerror=\"document.title='run'\">", "\u{202e}desrever\u{200b} \u{1b}[2J", &long];
    for (day, title) in titles.into_iter().enumerate() {
        let id = if day == 0 { id.to_owned() } else { format!("egress-{day}") };
        kept::keep(&sandbox, &Kept { id: &id, title, day: day as i64, ..PLAIN });
    }
    let (server, mut chrome) = (WebServer::start(&sandbox, &[]), Chrome::start());
    chrome.open(&server.origin);
    assert_eq!(chrome.count(".runs tbody tr"), 3);
    let link =
        "[...document.querySelectorAll('.name a')].find((a) => a.textContent.includes('<script>')).href";
    let run = chrome.evaluate(link).as_str().expect("its name is text").to_owned();
    let pages = ["", "/history", "/live"].map(|page| format!("{run}{page}"));
    let others = [
        "/compare",
        "/?q=%3Cscript%3Edocument.title%3D%27run%27%3C%2Fscript%3E",
        "/runs/%3Cscript%3E",
        "/runs/egress-2",
    ];
    let query = chrome.evaluate("new URLSearchParams({a: document.querySelectorAll('[name=run]')[2].value, b: 'egress-1'}).toString()");
    let compared = format!("{}/compare?{}", server.origin, query.as_str().expect("text"));
    let others = others.map(|page| server.origin.clone() + page);
    for page in pages.iter().chain(&others).chain([&compared]) {
        chrome.open(page);
        let body = chrome.text("body");
        assert!(!body.contains("mistake in plumb"), "{page}: {body}");
        assert_ne!(chrome.evaluate("document.title"), json!("run"), "{page}");
        let scripts = chrome.evaluate(
            "[...document.querySelectorAll('script:not([src]):not([type])')].filter((it) => !it.textContent.startsWith('\\n(() => {')).length",
        );
        assert_eq!(scripts, json!(0), "{page}");
        assert_eq!(chrome.count("img"), 0, "{page}");
    }
    chrome.requested_only(&server.origin);
    server.end();
}

pub(crate) fn without_scripts() {
    let sandbox = sandbox();
    kept::keep_days(&sandbox, &SHARES);
    let (server, mut chrome) = (WebServer::start(&sandbox, &[]), Chrome::start());
    chrome.without_scripts();
    for (page, shows) in [
        ("/", "egress-11"),
        ("/?q=egress-4", "egress-4"),
        ("/runs/egress-11", "Cost of each layer"),
        ("/runs/egress-11/history", "Level shift"),
        ("/runs/egress-11/live", "Read the report"),
        ("/compare?a=egress-6&b=egress-7", "6.12.9"),
    ] {
        chrome.open(&format!("{}{page}", server.origin));
        let text = chrome.text("body");
        assert!(text.contains(shows), "{page}: {text}");
    }
    server.end();
}

pub(crate) fn accessible() {
    let sandbox = sandbox();
    layout::fill(&sandbox);
    let server = WebServer::start(&sandbox, &[]);
    let mut chrome = Chrome::start();
    // Pages of built-in scenarios have the same colours.
    let both = [("light", [390, 844], true), ("dark", [1280, 900], false)];
    let pages = [
        "/",
        "/runs/egress-11",
        "/runs/egress-11/history",
        "/runs/egress-11/live",
        "/runs/named-21",
        "/compare",
        "/compare?a=egress-6&b=egress-7",
        "/sign-in",
        "/nowhere",
    ];
    let builtins = scenario::builtin::all().iter().map(|it| format!("/runs/builtin-{}", it.name));
    let pages = pages.into_iter().map(|page| (page.to_owned(), &both[..]));
    for (page, shown) in pages.chain(builtins.map(|page| (page, &both[..1]))) {
        for &(scheme, size, is_a_phone) in shown {
            chrome.shown("screen", scheme);
            chrome.sized(size, is_a_phone);
            chrome.open(&format!("{}{page}", server.origin));
            assert_eq!(violations(&mut chrome), json!([]), "{page}, {scheme}, as a phone: {is_a_phone}");
        }
    }
    server.end();
}

pub(crate) fn violations(chrome: &mut Chrome) -> Value {
    let axe = fs::read_to_string(AXE).expect("the case needs it");
    chrome.evaluate(&format!("{axe}; true"));
    chrome.evaluate(
        "axe.run(document, {resultTypes: ['violations']}).then((found) => found.violations
            .map((it) => it.id + ': ' + it.nodes.map((node) => node.html.slice(0, 200)).join(' ')))",
    )
}

pub(crate) fn from_disk() {
    let sandbox = sandbox();
    kept::keep(&sandbox, &PLAIN);
    let file = sandbox.file("page.html", &sandbox.succeed(&["report", "egress-1", "--format", "html"]).out);
    let mut chrome = Chrome::start();
    chrome.without_scripts();
    let address = format!("file://{file}");
    chrome.open(&address);
    let text = chrome.text("body");
    assert!(text.contains("Cost of each layer") && text.contains("node-to-node"), "{text}");
    assert!(chrome.count("svg") > 0);
    chrome.requested_only(&address);
}
