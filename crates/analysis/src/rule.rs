//! Rules: each looks at one kind of subject and makes claims about it.

use std::cmp::Reverse;

use findings::Finding;

/// What a rule looks at: a run, a trial on its own, a virtual machine.
pub(crate) trait Subject {
    /// The same, borrowed for as long.
    type Of<'a>;
}

/// What a rule says of its subject, the strongest first; the claims' `id` stays empty.
pub(crate) type Look<S> = for<'a> fn(&<S as Subject>::Of<'a>) -> Vec<Finding>;

pub(crate) struct Rule<S: Subject> {
    /// Its name, and that of its page.
    pub(crate) id: &'static str,
    pub(crate) look: Look<S>,
}

impl<S: Subject> Rule<S> {
    /// What it claims, under its name.
    pub(crate) fn named(&self, mut claims: Vec<Finding>) -> Vec<Finding> {
        claims.iter_mut().for_each(|claim| self.id.clone_into(&mut claim.id));
        claims
    }
}

/// What all of these rules claim, the most severe first, otherwise in their order.
pub(crate) fn claims<S: Subject>(rules: &[Rule<S>], subject: &S::Of<'_>) -> Vec<Finding> {
    let mut claims: Vec<Finding> = rules.iter().flat_map(|rule| rule.named((rule.look)(subject))).collect();
    claims.sort_by_key(|claim| Reverse(claim.severity));
    claims
}
