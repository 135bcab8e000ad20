//! Rules, each of which examines one kind of subject and makes claims about it.

use std::cmp::Reverse;

use findings::Finding;

/// The subject of a rule: a run, a single trial or a virtual machine.
pub(crate) trait Subject {
    type Of<'a>;
}

/// Returns a rule's claims about its subject, the strongest first. Their `id` is still empty.
pub(crate) type Look<S> = for<'a> fn(&<S as Subject>::Of<'a>) -> Vec<Finding>;

pub(crate) struct Rule<S: Subject> {
    pub(crate) id: &'static str,
    pub(crate) look: Look<S>,
}

impl<S: Subject> Rule<S> {
    pub(crate) fn named(&self, mut claims: Vec<Finding>) -> Vec<Finding> {
        claims.iter_mut().for_each(|claim| self.id.clone_into(&mut claim.id));
        claims
    }
}

/// Returns the claims of all rules, the most severe first and otherwise in the order of the rules.
pub(crate) fn claims<S: Subject>(rules: &[Rule<S>], subject: &S::Of<'_>) -> Vec<Finding> {
    let mut claims: Vec<Finding> = rules.iter().flat_map(|rule| rule.named((rule.look)(subject))).collect();
    claims.sort_by_key(|claim| Reverse(claim.severity));
    claims
}
