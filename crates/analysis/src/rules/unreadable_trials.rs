//! `unreadable-trials`: part of a stored run cannot be read, so the numbers come from the remaining trials.

use super::prelude::*;

pub(crate) const RULE: Rule = Rule::measurement("unreadable-trials", look);

const NAMED: usize = 5;

fn look(context: &Context<'_>) -> Vec<Claim> {
    let run = &context.findings.run;
    let lost = &run.unreadable;
    if lost.is_empty() {
        return Vec::new();
    }
    let parts = if lost.len() == 1 { "1 part".to_owned() } else { format!("{} parts", lost.len()) };
    let named = lost.iter().take(NAMED).map(|part| Evidence::new(&part.part).text(&part.reason));
    vec![
        Claim::new(
            Severity::Warning,
            format!("{parts} of the run cannot be read; all numbers come from the rest"),
        )
        .about(&context.findings.results, |result| result)
        .with_evidence(named)
        .with_limits(["The rest is intact; medians of fewer trials have wider intervals."])
        .with_remedy(Remedy::manual(
            "Check the file for other damage, repair it, and run the missing trials again",
            vec![
                "plumb runs check".to_owned(),
                "plumb runs repair".to_owned(),
                format!("plumb run --resume {}", run.id),
            ],
        )),
    ]
}

#[cfg(test)]
pub(super) mod tests {
    use findings::Severity;

    use crate::rules::tests::{Case, made};

    pub(in crate::rules) const CASE: Case = Case {
        triggers: || made::unreadable(&["trial 3"]),
        spares: || made::unreadable(&[]),
        severity: Severity::Warning,
        says: &["1 part of the run cannot be read", "trial 3", "checksum", "plumb runs repair"],
        change: None,
    };
}
