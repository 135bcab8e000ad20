//! `receiver-limited`: a receiving thread was saturated, so a faster path would not improve the result.

use samples::ValidityWarning;

use super::{
    limited::{self, Words},
    prelude::*,
};

pub(crate) const RULE: Rule = Rule::cause("receiver-limited", look);

const WORDS: Words = Words {
    doing: "receiving",
    limitation: "Softirqs can run in the receiver's thread, so a busy receiver may be processing packets.",
};

fn look(context: &Context<'_>) -> Vec<Claim> {
    let found = limited::look(context, &WORDS, |warning| match warning {
        ValidityWarning::ReceiverLimited { end, busy } => Some((end, *busy)),
        _ => None,
    });
    found.map(|found| Claim { remedy: Some(remedy(&found, context)), ..found }).into_iter().collect()
}

fn remedy(finding: &Claim, context: &Context<'_>) -> Remedy {
    Remedy {
        change: limited::relief(finding, context),
        ..Remedy::manual(
            "Use more parallel streams or limit mode, and enable GRO on the receiver's \
             device",
            Vec::new(),
        )
        .explained("If the rate rises, the receiver was the bottleneck.")
    }
}

#[cfg(test)]
pub(super) mod tests {
    use findings::Severity;

    use crate::rules::tests::{Case, made};

    pub(in crate::rules) const CASE: Case = Case {
        triggers: || made::warned(3, made::busy_receiver),
        spares: || made::warned(3, made::busy_sender),
        severity: Severity::Note,
        says: &["receiving thread", "98.0 %", "server"],
        change: Some("limit-mode"),
    };
}
