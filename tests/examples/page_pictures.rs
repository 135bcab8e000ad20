//! Implements `make docs`: Chromium takes screenshots of `plumb web` pages with real runs.
#![expect(clippy::disallowed_macros, reason = "prints its progress")]
#![expect(clippy::disallowed_methods, reason = "it writes files")]

use std::{fs, path::Path, process::ExitCode};

use plumb_tests::{
    Chrome, Need, OtherWork, PATIENCE, Sandbox, WebServer, signal, wait_until, wire_with_latency,
};

const NEEDS: [Need; 2] = [Need::Root, Need::Program("chromium", "chromium")];
const WINDOW: [u32; 2] = [1200, 900];
const REPORT: [u32; 2] = [1200, 1500];
const PHONE: [u32; 2] = [390, 1700];
const SHEET: [u32; 2] = [794, 1123];
/// Detecting a level shift takes ten runs, five of them at the new level.
const ALONE: u32 = 8;
const RUNS: u32 = 8;
const UNDER_WAY: &str =
    "Number(document.querySelector('.progress-line').textContent.match(/([0-9]+) of/)?.[1]) >= 40";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [plumb, folder] = arguments.as_slice() else {
        eprintln!("usage: page_pictures PLUMB FOLDER");
        return ExitCode::from(2);
    };
    if let Some(unmet) = NEEDS.into_iter().find_map(Need::unmet) {
        eprintln!("page_pictures {unmet}");
        return ExitCode::from(3);
    }
    fs::create_dir_all(folder).expect("the folder can be made");
    let sandbox = Sandbox::new(plumb);
    let first = measured(&sandbox, &["run", "quick", "--quiet", "--probe", "all"]);
    let second = measured(&sandbox, &["run", "quick", "--quiet"]);
    let last = history(&sandbox);
    let (server, mut chrome) = (WebServer::start(&sandbox, &[]), Chrome::start());
    chrome.without_scrollbars();
    let origin = server.origin.clone();
    let mut take = |name: &str, page: &str, (size, medium, scheme): ([u32; 2], &str, &str)| {
        chrome.sized(size, size == PHONE);
        chrome.shown(medium, scheme);
        chrome.open(&format!("{origin}{page}"));
        keep(folder, name, &chrome.picture());
    };
    let report = format!("/runs/{first}");
    take("report-light", &report, (REPORT, "screen", "light"));
    take("report-dark", &report, (REPORT, "screen", "dark"));
    take("report-phone", &report, (PHONE, "screen", "light"));
    take("report-print", &report, (SHEET, "print", "light"));
    take("list", "/", (WINDOW, "screen", "light"));
    take("comparison", &format!("/compare?a={first}&b={second}"), (WINDOW, "screen", "light"));
    take("history", &format!("/runs/{last}/history"), (WINDOW, "screen", "light"));

    let mut run = sandbox.start(&["run", "quick", "--quiet"]);
    assert!(wait_until(PATIENCE, || server.get("/").contains("under way")), "the run does not start");
    chrome.open(&server.origin);
    chrome.follow(".runs .name a");
    chrome.wait_for(UNDER_WAY);
    keep(folder, "live", &chrome.picture());
    signal(run.id(), "INT");
    let _ = run.wait();
    server.end();
    ExitCode::SUCCESS
}

fn measured(sandbox: &Sandbox, command: &[&str]) -> String {
    let _ = sandbox.succeed(command);
    sandbox.record()["header"]["id"].as_str().expect("a name").to_owned()
}

fn history(sandbox: &Sandbox) -> String {
    let file = sandbox.file("two-hosts.toml", &wire_with_latency(5, "300ms"));
    let run = || measured(sandbox, &["run", &file, "--quiet"]);
    for _ in 0..ALONE {
        let _ = run();
    }
    let _work = OtherWork::on_cpus(2, sandbox.home());
    let runs: Vec<String> = (0..RUNS).map(|_| run()).collect();
    runs.last().expect("there are some").clone()
}

fn keep(folder: &str, name: &str, picture: &[u8]) {
    let file = Path::new(folder).join(format!("{name}.png"));
    fs::write(&file, picture).expect("the file can be written");
    eprintln!("wrote {}", file.display());
}
