//! `generator-limited`: a sending thread was saturated, so a faster path would not improve the result.

use samples::ValidityWarning;

use super::{
    limited::{self, Words},
    prelude::*,
};

pub(crate) const RULE: Rule = Rule::cause("generator-limited", look);

const WORDS: Words = Words {
    doing: "sending",
    limitation: "With virtual devices, the kernel does much of the path's work in the sender's thread, so a busy \
             sender can be the cost of the path.",
};

fn look(context: &Context<'_>) -> Vec<Claim> {
    let found = limited::look(context, &WORDS, |warning| match warning {
        ValidityWarning::GeneratorLimited { end, busy } => Some((end, *busy)),
        _ => None,
    });
    found.map(|found| Claim { remedy: Some(remedy(&found, context)), ..found }).into_iter().collect()
}

fn remedy(finding: &Claim, context: &Context<'_>) -> Remedy {
    Remedy {
        change: limited::relief(finding, context),
        ..Remedy::manual("Use more parallel streams, larger messages or limit mode", Vec::new())
            .explained("If the rate rises, the sender was the bottleneck.")
    }
}

#[cfg(test)]
pub(super) mod tests {
    use findings::Severity;

    use crate::rules::tests::{Case, made};

    pub(in crate::rules) const CASE: Case = Case {
        triggers: || made::warned(3, made::busy_sender),
        spares: || made::warned(2, made::busy_sender),
        severity: Severity::Note,
        says: &["sending thread", "98.0 %", "client"],
        change: Some("limit-mode"),
    };
}
