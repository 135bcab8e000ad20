//! `receiver-limited`: a receiving thread was saturated, so a faster path would not show.

use findings::{Finding, Remedy};
use samples::ValidityWarning;

use super::{
    Context, Rule,
    limited::{self, Words},
};

pub(crate) const RULE: Rule = Rule { id: "receiver-limited", look };

const WORDS: Words = Words {
    doing: "receiving",
    limitation: "Softirqs can run on the receiver's time, so a busy receiver may be packet processing.",
};

fn look(context: &Context<'_>) -> Vec<Finding> {
    let found = limited::look(context, &WORDS, |warning| match warning {
        ValidityWarning::ReceiverLimited { end, busy } => Some((end, *busy)),
        _ => None,
    });
    found.map(|finding| Finding { remedy: Some(remedy(&finding, context)), ..finding }).into_iter().collect()
}

fn remedy(finding: &Finding, context: &Context<'_>) -> Remedy {
    Remedy {
        change: limited::relief(finding, context),
        ..Remedy::manual(
            "Use more parallel streams or limit mode, and enable GRO on the receiver's device. If the rate rises, \
             the receiver was the limit."
                .into(),
            Vec::new(),
        )
    }
}
