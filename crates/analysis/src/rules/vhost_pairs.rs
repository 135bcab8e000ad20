//! Pairs of results that differ only in vhost, and which result of each pair is better.

use findings::Comparison;
use workload::Quantity;

use super::{
    prelude::*,
    significance::{self, Side, WeighedDifference},
};
use crate::{matched_pairs, words::change};

pub(super) const MUCH: f64 = 0.5;

pub(super) struct VhostPair<'a> {
    is_guessed: bool,
    pub(super) off: &'a ResultSummary,
    pub(super) on: &'a ResultSummary,
    pub(super) change: Comparison,
    pub(super) weighed: Option<WeighedDifference>,
    /// Performance with vhost, divided by performance without it. Higher is better.
    pub(super) gain: f64,
}

pub(super) fn all<'a>(context: &Context<'a>) -> Vec<VhostPair<'a>> {
    matched_pairs::pairs(context.header, context.measured)
        .iter()
        .filter_map(|found| pair(found, context))
        .collect()
}

fn pair<'a>(found: &matched_pairs::Pair<'a>, context: &Context<'a>) -> Option<VhostPair<'a>> {
    let summary = |result: &Observations<'_>| context.findings.result(&result.record.id);
    let (off, on) = (summary(found.without)?, summary(found.with)?);
    let more_is_better = on.metric.more_is_better()?;
    let change = context.compare(found.without, found.with)?;
    let weighed = significance::weigh(&change);
    let side = if change.ratio < 1.0 { Side::Lower } else { Side::Higher };
    let worse = (side == Side::Lower) == more_is_better;
    let apart = change.ratio.max(change.ratio.recip());
    let gain = if worse { apart } else { apart.recip() };
    let is_guessed = context.header.origin.imported().is_some();
    change.ratio.is_normal().then_some(VhostPair { is_guessed, off, on, change, weighed, gain })
}

impl VhostPair<'_> {
    pub(super) fn gains(&self) -> bool {
        self.weighed.is_some() && self.gain > 1.0
    }

    pub(super) fn loses(&self) -> bool {
        self.weighed.is_some() && self.gain < 1.0
    }

    pub(super) fn is_sure(&self) -> bool {
        self.weighed.is_some_and(|weighed| weighed.sure)
    }

    pub(super) fn change(&self, of_on: bool) -> Phrase {
        change(if of_on { self.change.ratio.recip() } else { self.change.ratio })
    }

    pub(super) fn evidence(&self) -> Evidence {
        let what = match self.off.metric.quantity() {
            Quantity::Time => "time, off vs on",
            _ => "off vs on",
        };
        Evidence::new(format!("{what}: {} vs {}", self.off.label, self.on.label)).ratio(&self.change)
    }

    pub(super) fn limitations(&self, pairs: usize) -> Vec<String> {
        let named = "Whether vhost was on is inferred from the names of paths, workloads and levels, not \
                     read from the machine.";
        let named = self.is_guessed.then(|| named.to_owned());
        let own = self.weighed.and_then(|weighed| weighed.limitation).map(str::to_owned);
        named.into_iter().chain(own).chain(significance::of_many(pairs)).collect()
    }
}

pub(super) fn shown(result: &ResultSummary) -> Phrase {
    value(result.metric, result.value.estimate)
}
