//! Runs a short version of each cookbook page's scenario and checks its finding.

use std::{fs, path::Path};

use crate::sandbox;

const FOLDER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/cookbook");

pub(crate) fn pages_reach_their_verdict() {
    let entries = fs::read_dir(FOLDER).expect("docs/cookbook can be read");
    let pages = entries.map(|entry| entry.expect("docs/cookbook can be read").path());
    let mut pages: Vec<_> = pages.filter(|page| !page.ends_with("README.md")).collect();
    pages.sort();
    assert!(pages.len() >= 8, "{pages:?}");
    pages.iter().for_each(|page| check(page));
}

fn check(page: &Path) {
    let text = fs::read_to_string(page).expect("the page can be read");
    let finding = between(&text, "(../findings/", ".md)").expect("the page links its finding");
    let scenario = between(&text, "```toml ", "```").expect("the page has a scenario");
    let (name, scenario) = scenario.split_once('\n').expect("a block has lines");
    let sandbox = sandbox();
    let file = sandbox.file(name, scenario);
    // Findings from comparisons need five blocks. Findings from a single fact do not.
    let trials = if finding == "offload-off" { "5" } else { "2" };
    let _ = sandbox.succeed(&["run", &file, "--trials", trials]);
    let found = sandbox.as_undisturbed(|_| ()).findings("latest");
    let all = found["findings"].as_array().expect("findings");
    let ids: Vec<&str> = all.iter().filter_map(|found| found["id"].as_str()).collect();
    assert!(ids.contains(&finding), "{}: no {finding} in {ids:?}", page.display());
}

fn between<'a>(text: &'a str, start: &str, end: &str) -> Option<&'a str> {
    let (_, rest) = text.split_once(start)?;
    rest.split_once(end).map(|(found, _)| found)
}
