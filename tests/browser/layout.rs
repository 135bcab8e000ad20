//! Tests that pages fit screens of every width, without sideways scrolling, cut text or overlapping text.

use plumb_tests::{Chrome, Sandbox, WebServer};
use serde_json::json;

use crate::{
    builtins,
    kept::{self, Kept, PLAIN},
    sandbox,
};

const WIDTHS: [u32; 4] = [390, 768, 1280, 1920];
const DATA: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../import/tests/data");
const RECORDS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/cli/records");
const LOGS: [&str; 6] = [
    "flent-rrul.flent.gz",
    "queues-and-channels.md",
    "vhost-net.md",
    "vmm-comparison.md",
    "strace-elapsed.txt",
    "netperf-cpu.txt",
];
const NAMES: [&str; 3] = [
    "a-very-long-name-without-any-space-in-it-that-goes-on-and-on-and-on",
    "WWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWW",
    "<b>\u{202e}שלום\u{1b}[2J네트워크속도테스트게이트웨이네트워크속도테스트게이트웨이",
];

const MISFITS: &str = r#"(() => {
    document.querySelectorAll("details").forEach((it) => { it.open = !it.matches(".plumb-menu"); });
    const misfits = [], page = document.documentElement;
    if (page.scrollWidth > page.clientWidth) misfits.push(`the page is ${page.scrollWidth} wide`);
    for (const it of document.querySelectorAll("main *:not(.unseen, .sort, svg, svg *)")) {
        if (it.scrollWidth > it.clientWidth + 1 && getComputedStyle(it).display !== "inline")
            misfits.push(`${it.tagName}.${it.className} is ${it.scrollWidth} wide, has ${it.clientWidth}: ${it.textContent.trim().slice(0, 60)}`);
    }
    for (const svg of document.querySelectorAll("svg.pc, svg.chart")) {
        const around = svg.getBoundingClientRect();
        const texts = [...svg.querySelectorAll("text")].filter((it) => it.textContent.trim())
            .map((it) => [it.textContent, it.getBoundingClientRect()]).filter(([, it]) => it.width > 0);
        texts.forEach(([text, it], place) => {
            if (it.left < around.left - 1 || it.right > around.right + 1) misfits.push(`cut: ${text}`);
            // Boxes include the space above and below the letters.
            for (const [other, its] of texts.slice(place + 1)) {
                const wide = Math.min(it.right, its.right) - Math.max(it.left, its.left);
                const high = Math.min(it.bottom, its.bottom) - Math.max(it.top, its.top);
                if (wide > 1 && high > it.height * 0.35) misfits.push(`${text} covers ${other}`);
            }
        });
    }
    return misfits.slice(0, 8);
})()"#;

fn check(chrome: &mut Chrome, page: &str, widths: &[u32]) {
    let [phone, screens @ ..] = widths else { unreachable!("there is a width") };
    chrome.sized([*phone, 900], true);
    chrome.open(page);
    for scheme in ["dark", "light"] {
        chrome.shown("screen", scheme);
        assert_eq!(chrome.evaluate(MISFITS), json!([]), "{page} at {phone} px, {scheme}");
    }
    for (place, width) in screens.iter().enumerate() {
        chrome.sized([*width, 900], false);
        // Only leaving the phone layout requires a reload.
        if place == 0 {
            chrome.open(page);
        }
        assert_eq!(chrome.evaluate(MISFITS), json!([]), "{page} at {width} px");
    }
}

pub(crate) fn fill(sandbox: &Sandbox) {
    for log in LOGS {
        let _ = sandbox.succeed(&["import", "--quiet", &format!("{DATA}/{log}")]);
    }
    let recorded = ["kinds", "directions"].map(|record| {
        let file = format!("{RECORDS}/{record}.run.json.gz");
        let _ = sandbox.succeed(&["runs", "import", &file]);
        let text = sandbox.succeed(&["report", &file, "--format", "raw"]).out;
        serde_json::from_str(&text).expect("a run record")
    });
    let _ = builtins::keep(sandbox, &recorded);
    kept::keep_days(sandbox, &[1.0, 1.01, 0.99, 1.02, 1.0, 0.98, 1.01, 0.7, 0.71, 0.69, 0.7, 0.72]);
    for (day, name) in (20..).zip(NAMES) {
        let title = name.repeat(3);
        let kept = Kept { id: &format!("named-{day}"), title: &title, day, ..PLAIN };
        kept::keep_with_paths(sandbox, &kept, name);
    }
}

pub(crate) fn every_width() {
    let sandbox = sandbox();
    fill(&sandbox);
    let (server, mut chrome) = (WebServer::start(&sandbox, &[]), Chrome::start());
    let runs: Vec<String> = runs(&mut chrome, &server.origin);
    // Runs of different days have the same layout.
    let is_shown = |run: &&String| !run.contains("egress-") || run.ends_with("egress-11");
    for run in runs.iter().filter(is_shown) {
        check(&mut chrome, &format!("{}{run}", server.origin), &WIDTHS);
    }
    let compared = ["/compare?a=egress-6&b=egress-7", "/compare?a=named-20&b=named-21"];
    let histories = ["/runs/egress-11/history", "/runs/named-21/history"];
    for page in ["/"].into_iter().chain(compared).chain(histories) {
        check(&mut chrome, &format!("{}{page}", server.origin), &WIDTHS);
    }
    server.end();
}

pub(crate) fn runs(chrome: &mut Chrome, origin: &str) -> Vec<String> {
    let mut runs = Vec::new();
    chrome.open(origin);
    loop {
        let shown =
            chrome.evaluate("[...document.querySelectorAll('.runs .name a')].map((it) => it.pathname)");
        runs.extend(serde_json::from_value::<Vec<String>>(shown).expect("the paths of the runs"));
        if chrome.count("a[rel=next]") == 0 {
            break;
        }
        chrome.follow("a[rel=next]");
    }
    assert_eq!(runs.len(), 23 + scenario::builtin::all().len(), "{runs:?}");
    runs
}

/// Browsers shrink pages that are too wide for the paper.
pub(crate) fn on_paper() {
    let sandbox = sandbox();
    fill(&sandbox);
    let (server, mut chrome) = (WebServer::start(&sandbox, &[]), Chrome::start());
    // The width of an A4 page inside 1 cm margins, in CSS pixels.
    chrome.sized([718, 1000], false);
    chrome.shown("print", "light");
    for run in ["egress-11", "named-20", "named-21"] {
        chrome.open(&format!("{}/runs/{run}", server.origin));
        assert_eq!(chrome.evaluate(MISFITS), json!([]), "{run}");
        let hidden = "['nav', '.plumb-bar', 'figcaption'].every((it) => document.querySelector(it).offsetParent === null)";
        assert_eq!(chrome.evaluate(hidden), json!(true), "{run} prints controls");
    }
    server.end();
}
