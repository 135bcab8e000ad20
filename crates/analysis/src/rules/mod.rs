//! The rules that make claims, one in each file. A rule looks at the numbers and measures nothing anew; its page is
//! docs/findings/ID.md. A new rule is a file here, a line in [`ALL`], a page, and a case in tests.rs.

mod bimodal;
pub(crate) mod ethtool;
mod generator_limited;
mod limited;
mod mtu_mismatch;
mod noisy_host;
mod offload_off;
mod receiver_limited;
pub(crate) mod retransmits;
mod vxlan_cost;

use findings::{Finding, Findings};

use crate::measured::Measured;

/// What a rule may look at.
pub(crate) struct Context<'a> {
    /// Cells, noise floors, ladders and effects; no claims yet.
    pub(crate) findings: &'a Findings,
    /// The trials behind the cells, in the same order.
    pub(crate) measured: &'a [Measured<'a>],
}

/// A rule.
pub(crate) struct Rule {
    /// Its name, and that of its page.
    pub(crate) id: &'static str,
    /// What it claims about a run, the strongest first.
    pub(crate) look: fn(&Context<'_>) -> Vec<Finding>,
}

/// Every rule.
pub(crate) const ALL: &[Rule] = &[
    offload_off::RULE,
    mtu_mismatch::RULE,
    bimodal::RULE,
    noisy_host::RULE,
    retransmits::RULE,
    vxlan_cost::RULE,
    generator_limited::RULE,
    receiver_limited::RULE,
];

/// What all rules claim, the most severe first, otherwise in the order of [`ALL`].
pub(crate) fn claims(context: &Context<'_>) -> Vec<Finding> {
    let mut claims: Vec<Finding> = ALL.iter().flat_map(|rule| named(rule, context)).collect();
    claims.sort_by_key(|claim| std::cmp::Reverse(claim.severity));
    claims
}

fn named(rule: &Rule, context: &Context<'_>) -> Vec<Finding> {
    let mut claims = (rule.look)(context);
    claims.iter_mut().for_each(|claim| claim.id = rule.id.into());
    claims
}

#[cfg(test)]
mod tests;
