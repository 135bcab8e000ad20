//! Finds likely bottlenecks of a single trial and suggests remedies, with one rule per file.
//!
//! Comparisons with a baseline are in `rules`. docs/findings/ID.md documents each hint, together with the rule of
//! the same name.

mod busy;
mod congestion;
mod counted;
mod governor;
mod offload_off;
mod retransmits;
mod small_buffers;
mod stalled;
mod throttled;

pub use offload_off::offloads_off;

use findings::{SingleMeasurement, SingleStream, TcpSummary};

use crate::{
    rule::{self, Claim, Subject},
    single_measurement::Single,
};

pub(crate) struct SingleTrial<'a> {
    pub(crate) single: &'a Single<'a>,
    pub(crate) summary: &'a SingleMeasurement,
}

impl SingleTrial<'_> {
    fn tcp(&self) -> Option<TcpSummary> {
        SingleStream::of(self.summary)?.tcp
    }
}

impl Subject for SingleTrial<'_> {
    type Of<'a> = SingleTrial<'a>;
}

type Rule = rule::Rule<SingleTrial<'static>>;

pub(crate) const ALL: &[Rule] = &[
    throttled::RULE,
    counted::CHECKSUM,
    counted::POLICER,
    counted::DROPS,
    counted::SHAPER,
    stalled::RULE,
    retransmits::RULE,
    small_buffers::RULE,
    congestion::RULE,
    offload_off::RULE,
    governor::RULE,
    busy::GENERATOR,
    busy::RECEIVER,
];

#[cfg(test)]
mod tests;
