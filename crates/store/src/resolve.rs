//! Resolves a run by its name, a unique prefix, `latest`, `latest:SCENARIO` or `baseline:NAME`.

use samples::RunId;

use crate::{error::StoreError, listing::RunListing, store::Store};

const NAMED: usize = 5;
/// The minimum Jaro-Winkler similarity, from 0 to 1.
const NEAR: f64 = 0.9;

impl Store {
    pub fn resolve(&self, text: &str) -> Result<RunId, StoreError> {
        match text.strip_prefix("baseline:") {
            Some(name) => self.baseline(name),
            None => choose(text, &self.runs()?).or_else(|error| match error {
                // If no run matches, the text may be the name of a baseline.
                StoreError::Unknown { .. } | StoreError::Ambiguous { .. } => {
                    self.baseline(text).map_err(|_| error)
                }
                other => Err(other),
            }),
        }
    }
}

impl StoreError {
    pub(crate) fn no_such_run(run: &RunId) -> Self {
        Self::Unknown { text: run.0.clone(), hint: "it does not exist or was removed".to_owned() }
    }
}

fn choose(text: &str, runs: &[RunListing]) -> Result<RunId, StoreError> {
    if text == "latest" {
        return newest(text, None, runs);
    }
    if let Some(scenario) = text.strip_prefix("latest:") {
        return newest(text, Some(scenario), runs);
    }
    if let Some(run) = runs.iter().find(|run| run.id.0 == text) {
        return Ok(run.id.clone());
    }
    let begins = |run: &&RunListing| !text.is_empty() && run.id.0.starts_with(text);
    match runs.iter().filter(begins).collect::<Vec<_>>().as_slice() {
        [] => Err(unknown(text, runs)),
        [run] => Ok(run.id.clone()),
        several => Err(StoreError::Ambiguous { text: text.to_owned(), matches: names(several) }),
    }
}

fn newest(text: &str, scenario: Option<&str>, runs: &[RunListing]) -> Result<RunId, StoreError> {
    let mut meant = runs.iter().filter(|run| scenario.is_none_or(|name| run.scenario == name)).peekable();
    // Skip runs that were interrupted before their first trial, if other runs have results.
    let newest = meant.peek().copied();
    meant.find(|run| run.completed > 0).or(newest).map(|run| run.id.clone()).ok_or_else(|| match scenario {
        Some(name) if !runs.is_empty() => no_run_of(text, name, runs),
        _ => unknown(text, runs),
    })
}

fn no_run_of(text: &str, scenario: &str, runs: &[RunListing]) -> StoreError {
    let mut names: Vec<&str> = runs.iter().map(|run| run.scenario.as_str()).collect();
    names.sort_unstable();
    names.dedup();
    let rest = names.split_off(names.len().min(NAMED)).len();
    let more = if rest > 0 { format!(" and {rest} more") } else { String::new() };
    let hint =
        format!("the scenario `{scenario}` has no runs; scenarios with runs: {}{more}", names.join(", "));
    StoreError::Unknown { text: text.to_owned(), hint }
}

fn unknown(text: &str, runs: &[RunListing]) -> StoreError {
    let hint = if runs.is_empty() {
        "no runs are stored yet; create one with `plumb run quick`".to_owned()
    } else {
        let near = nearest(text, runs).map(|near| format!("similar names: {near}; ")).unwrap_or_default();
        format!("{near}`latest` is {}; list all with `plumb runs`", runs[0].id)
    };
    StoreError::Unknown { text: text.to_owned(), hint }
}

fn nearest(text: &str, runs: &[RunListing]) -> Option<String> {
    let near = |run: &RunListing| strsim::jaro_winkler(text, &run.id.0);
    let mut ranked: Vec<&RunListing> = runs.iter().filter(|run| near(run) >= NEAR).collect();
    // The sort is stable, so the newest of equally similar runs comes first.
    ranked.sort_by(|a, b| near(b).total_cmp(&near(a)));
    ranked.truncate(3);
    (!ranked.is_empty()).then(|| names(&ranked))
}

fn names(runs: &[&RunListing]) -> String {
    let mut names: Vec<&str> = runs.iter().take(NAMED).map(|run| run.id.0.as_str()).collect();
    let rest = format!("{} more", runs.len().saturating_sub(NAMED));
    if runs.len() > NAMED {
        names.push(&rest);
    }
    names.join(", ")
}

#[cfg(test)]
mod tests {
    use samples::{RunState, UnixMillis};

    use super::*;

    fn runs(ids: &[&str]) -> Vec<RunListing> {
        let of = |id: &&str| RunListing {
            id: RunId((*id).to_owned()),
            scenario: id.split_once("-2026").expect("dated").0.to_owned(),
            title: String::new(),
            started: UnixMillis(0),
            state: RunState::Complete,
            imported: false,
            completed: 0,
            planned: 0,
        };
        ids.iter().map(of).collect()
    }

    fn check(text: &str, expected: Result<&str, &str>) {
        let stored = runs(&["quick-20261121-1300", "proxmox-vxlan-20261121-1200", "quick-20261120-1100"]);
        match (choose(text, &stored), expected) {
            (Ok(id), Ok(expected)) => assert_eq!(id.0, expected, "{text}"),
            (Err(error), Err(part)) => {
                assert!(error.to_string().contains(part), "{text}: {error}");
            }
            (got, expected) => panic!("{text}: {got:?}, expected {expected:?}"),
        }
    }

    #[test]
    fn resolves_name_prefix_and_latest() {
        check("quick-20261120-1100", Ok("quick-20261120-1100"));
        check("prox", Ok("proxmox-vxlan-20261121-1200"));
        check("latest", Ok("quick-20261121-1300"));
        check("latest:proxmox-vxlan", Ok("proxmox-vxlan-20261121-1200"));
    }

    #[test]
    fn suggests_names_for_unknown_or_ambiguous_text() {
        check("quick-2026", Err("quick-20261121-1300, quick-20261120-1100; use a longer prefix"));
        check("quikc-20261120-1100", Err("similar names: quick-20261120-1100"));
        check(
            "latest:proxmox-vxlna",
            Err("the scenario `proxmox-vxlna` has no runs; scenarios with runs: proxmox-vxlan, quick"),
        );
        check("latestt", Err("`latestt`; `latest` is quick-20261121-1300"));
        check("", Err("no run is called ``"));
    }

    #[test]
    fn empty_store_suggests_first_run() {
        let error = choose("latest", &[]).expect_err("the store is empty").to_string();
        assert!(error.contains("plumb run quick"), "{error}");
    }
}
