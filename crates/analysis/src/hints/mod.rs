//! What is likely to limit a trial on its own, and what to do about it: one rule a file.
//!
//! With a baseline to compare with, `rules` say more. The page of each is docs/findings/ID.md, shared with the rule of that
//! name where there is one.

mod busy;
mod congestion;
mod governor;
mod offload_off;
mod retransmits;
mod small_buffers;

pub use offload_off::offloads_off;

use findings::{SingleMeasurement, SingleStream, TcpSummary};

use crate::{
    rule::{self, Subject},
    single_measurement::Single,
};

/// A trial, its machine and the warnings so far.
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

/// Every hint.
pub(crate) const ALL: &[Rule] = &[
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
