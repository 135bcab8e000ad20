//! Which run is meant: a whole identity, its beginning, `latest`, `latest:SCENARIO`, or `baseline:NAME`.
//! Must not know what a run holds.

use samples::RunId;

use crate::{error::StoreError, listing::RunListing, store::Store};

/// So many runs are named in a hint.
const NAMED: usize = 5;

impl Store {
    /// The run that `text` means: its identity, the beginning of only one, `latest`, `latest:SCENARIO`, or
    /// `baseline:NAME`.
    ///
    /// # Errors
    /// When none or several are meant, naming the nearest; when the file cannot be read.
    pub fn resolve(&self, text: &str) -> Result<RunId, StoreError> {
        match text.strip_prefix("baseline:") {
            Some(name) => self.baseline(name),
            None => choose(text, &self.runs()?),
        }
    }
}

impl StoreError {
    /// A run that is gone, or never was.
    pub(crate) fn no_such_run(run: &RunId) -> Self {
        Self::Unknown { text: run.0.clone(), hint: "it was never kept, or it was removed".to_owned() }
    }
}

/// `runs` are newest first.
fn choose(text: &str, runs: &[RunListing]) -> Result<RunId, StoreError> {
    if let Some(scenario) = latest(text) {
        return newest(text, scenario, runs);
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

/// `Some` for `latest` (of any scenario) and `latest:SCENARIO`.
fn latest(text: &str) -> Option<Option<&str>> {
    let rest = text.strip_prefix("latest")?;
    if rest.is_empty() { Some(None) } else { rest.strip_prefix(':').map(Some) }
}

fn newest(text: &str, scenario: Option<&str>, runs: &[RunListing]) -> Result<RunId, StoreError> {
    let mut meant = runs.iter().filter(|run| scenario.is_none_or(|name| run.scenario == name)).peekable();
    // One that was interrupted before its first trial hides no run that has something to show.
    let newest = meant.peek().copied();
    meant.find(|run| run.made > 0).or(newest).map(|run| run.id.clone()).ok_or_else(|| unknown(text, runs))
}

fn unknown(text: &str, runs: &[RunListing]) -> StoreError {
    let hint = if runs.is_empty() {
        "no runs are kept yet: `plumb run quick` makes one".to_owned()
    } else {
        format!("the nearest are {}, and `latest` is {}", nearest(text, runs), runs[0].id)
    };
    StoreError::Unknown { text: text.to_owned(), hint }
}

fn nearest(text: &str, runs: &[RunListing]) -> String {
    let wanted = text.strip_prefix("latest:").unwrap_or(text);
    let mut ranked: Vec<&RunListing> = runs.iter().collect();
    // A stable sort: among equals the newest stays first.
    ranked.sort_by(|a, b| {
        let near = |run: &RunListing| strsim::jaro_winkler(wanted, &run.id.0);
        near(b).total_cmp(&near(a))
    });
    ranked.truncate(3);
    names(&ranked)
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
            made: 0,
            planned: 0,
        };
        ids.iter().map(of).collect()
    }

    fn check(text: &str, expected: Result<&str, &str>) {
        let kept = runs(&["quick-20261121-1300", "proxmox-vxlan-20261121-1200", "quick-20261120-1100"]);
        match (choose(text, &kept), expected) {
            (Ok(id), Ok(expected)) => assert_eq!(id.0, expected, "{text}"),
            (Err(error), Err(part)) => {
                assert!(error.to_string().contains(part), "{text}: {error}");
            }
            (got, expected) => panic!("{text}: {got:?}, expected {expected:?}"),
        }
    }

    #[test]
    fn a_run_is_found_by_its_identity_its_beginning_or_as_the_latest() {
        check("quick-20261120-1100", Ok("quick-20261120-1100"));
        check("prox", Ok("proxmox-vxlan-20261121-1200"));
        check("latest", Ok("quick-20261121-1300"));
        check("latest:proxmox-vxlan", Ok("proxmox-vxlan-20261121-1200"));
    }

    #[test]
    fn an_unclear_name_is_answered_with_what_could_be_meant() {
        check("quick-2026", Err("quick-20261121-1300, quick-20261120-1100; write more of it"));
        check("quikc-20261120-1100", Err("the nearest are quick-20261120-1100"));
        check("latest:proxmox-vxlna", Err("the nearest are proxmox-vxlan-20261121-1200"));
        check("latestt", Err("`latest` is quick-20261121-1300"));
        check("", Err("no run is called ``"));
    }

    #[test]
    fn an_empty_store_says_how_to_fill_it() {
        let error = choose("latest", &[]).expect_err("nothing is kept").to_string();
        assert!(error.contains("plumb run quick"), "{error}");
    }
}
