//! What is likely to limit a trial on its own, and what to do about it: one hint a file.
//!
//! A hint looks at one trial and its machine; with a baseline to compare with, `rules` say more. The page of each is
//! docs/findings/ID.md, shared with the rule of that name where there is one.

mod busy;
mod congestion;
mod governor;
mod offload_off;
mod retransmits;
mod small_buffers;

pub use offload_off::offloads_off;

use findings::{Evidence, Finding, Remedy, Severity, SingleMeasurement, SingleStream, TcpSummary};

use crate::single_measurement::Single;

pub(crate) struct Hint {
    /// Its name, and that of its page.
    pub(crate) id: &'static str,
    /// What it says of a trial.
    pub(crate) look: fn(&Single<'_>, &SingleMeasurement) -> Option<Advice>,
}

/// What a hint says.
pub(crate) struct Advice {
    pub(crate) severity: Severity,
    pub(crate) claim: String,
    /// What was looked at, and what it said.
    pub(crate) evidence: Vec<(String, String)>,
    pub(crate) caveats: Vec<&'static str>,
    pub(crate) action: String,
    pub(crate) commands: Vec<String>,
}

/// Every hint.
pub(crate) const ALL: &[Hint] = &[
    retransmits::HINT,
    small_buffers::HINT,
    congestion::HINT,
    offload_off::HINT,
    governor::HINT,
    busy::GENERATOR,
    busy::RECEIVER,
];

/// Every hint for a trial, the most severe first, otherwise in the order of [`ALL`].
pub(crate) fn hints(single: &Single<'_>, solo: &SingleMeasurement) -> Vec<Finding> {
    let said = |hint: &Hint| (hint.look)(single, solo).map(|said| named(hint.id, said));
    let mut hints: Vec<Finding> = ALL.iter().filter_map(said).collect();
    hints.sort_by_key(|hint| std::cmp::Reverse(hint.severity));
    hints
}

fn named(id: &str, said: Advice) -> Finding {
    Finding {
        id: id.to_owned(),
        severity: said.severity,
        claim: said.claim,
        cells: Vec::new(),
        evidence: said.evidence.into_iter().map(|(what, value)| Evidence { what, value }).collect(),
        caveats: said.caveats.into_iter().map(str::to_owned).collect(),
        remedy: Some(Remedy {
            action: said.action,
            commands: said.commands,
            change: None,
            brought: Vec::new(),
        }),
    }
}

/// What TCP saw of a stream.
fn tcp(solo: &SingleMeasurement) -> Option<TcpSummary> {
    SingleStream::of(solo)?.tcp
}

#[cfg(test)]
mod tests;
