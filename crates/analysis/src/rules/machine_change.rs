//! `machine-change`: the run was resumed on another machine or kernel, so its trials are not comparable.

use samples::Environment;

use super::prelude::*;

pub(crate) const RULE: Rule = Rule::measurement("machine-change", look);

fn look(context: &Context<'_>) -> Vec<Claim> {
    let run = &context.findings.run;
    if run.machine_changes.is_empty() {
        return Vec::new();
    }
    let first = run.environment.iter().map(|began| evidence("started on", began));
    let later = run.machine_changes.iter().map(|change| {
        evidence(&format!("after {} trials, continued on", change.trials_before), &change.environment)
    });
    let times = match run.machine_changes.len() {
        1 => "once".to_owned(),
        times => format!("{times} times"),
    };
    vec![
        Claim::new(Severity::Warning, "The trials come from different machines")
            .detail(format!("the run was resumed on another machine or kernel {times}"))
            .about(&context.findings.results, |result| result)
            .with_evidence(first.chain(later))
            .with_limits([
                "Differences within a block come from one machine. Medians, and differences from other runs, \
                 may mix both machines.",
            ])
            .with_remedy(Remedy::manual(
                "Repeat the whole run on one machine before quoting its numbers",
                Vec::new(),
            )),
    ]
}

fn evidence(what: &str, machine: &Environment) -> Evidence {
    let model = machine.cpu_model.as_deref().unwrap_or("processor unknown");
    let kernel = &machine.kernel;
    Evidence::new(what).text(format!("kernel {kernel}, {} CPUs, {model}", machine.cpus))
}

#[cfg(test)]
pub(super) mod tests {
    use findings::Severity;

    use crate::rules::tests::{Case, made};

    pub(in crate::rules) const CASE: Case = Case {
        triggers: || made::resumed_on(&["6.1.0-32-cloud-amd64"]),
        spares: || made::resumed_on(&[]),
        severity: Severity::Warning,
        says: &["resumed on another machine or kernel once", "after 7 trials", "6.1.0-32-cloud-amd64"],
        change: None,
    };
}
