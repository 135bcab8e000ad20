//! `emulated`: the processor is emulated, so counts are valid but times and rates cannot be compared with real
//! hardware.

use samples::{Environment, ValidityWarning};

use super::prelude::*;

pub(crate) const RULE: Rule = Rule::measurement("emulated", look);

/// QEMU's generic CPU models, which are rare with hardware virtualization.
const MODELS: [&str; 3] = ["tcg", "qemu virtual cpu", "bochs"];
const WORDS: [&str; 3] = ["tcg", "emulated", "emulation"];
/// A system call takes a few hundred nanoseconds on hardware, even in a virtual machine, and thousands under
/// emulation.
const SLOW_CALL_NANOS: f64 = 2000.0;

struct Sign {
    evidence: Evidence,
    sure: bool,
    /// The affected results. An empty list means all results.
    results: Vec<String>,
}

fn look(context: &Context<'_>) -> Vec<Claim> {
    let environment = context.findings.run.environment.as_ref();
    let mut signs: Vec<Sign> =
        environment.into_iter().flat_map(|it| [model(it), slow(it)]).flatten().collect();
    let named = context.header.origin.imported().and_then(|_| named(context));
    signs.extend([warned(context), named].into_iter().flatten());
    let (sure, unsure): (Vec<Sign>, Vec<Sign>) = signs.into_iter().partition(|sign| sign.sure);
    let known = results(&sure, context);
    let mut rest = results(&unsure, context);
    rest.retain(|result| !known.contains(result));
    let claims = [(sure, known), (unsure, rest)];
    claims
        .into_iter()
        .filter(|(_, results)| !results.is_empty())
        .map(|(signs, results)| finding(&signs, results))
        .collect()
}

fn model(environment: &Environment) -> Option<Sign> {
    let model = environment.cpu_model.as_ref()?;
    let known = MODELS.iter().any(|word| model.to_lowercase().contains(word));
    known.then(|| Sign {
        evidence: Evidence::new("processor").text(model),
        sure: environment.virtual_machine,
        results: Vec::new(),
    })
}

fn slow(environment: &Environment) -> Option<Sign> {
    let nanos = environment.engine?.syscall_ns;
    (environment.virtual_machine && nanos > SLOW_CALL_NANOS).then(|| Sign {
        evidence: Evidence::new("fastest system call on this virtual machine")
            .rounded(nanos, Unit::Nanoseconds)
            .text(" ns"),
        sure: false,
        results: Vec::new(),
    })
}

fn warned(context: &Context<'_>) -> Option<Sign> {
    let says = |result: &&ResultSummary| {
        result.warnings.iter().any(|(warning, _)| *warning == ValidityWarning::Emulated)
    };
    of_results("an emulated machine at one end", context.findings.results.iter().filter(says))
}

fn named(context: &Context<'_>) -> Option<Sign> {
    let says = |text: &String| {
        let text = text.to_lowercase();
        text.split(|letter: char| !letter.is_alphanumeric()).any(|word| WORDS.contains(&word))
    };
    let named = context.findings.results.iter().filter(|result| {
        says(&result.path) || result.layers.iter().any(says) || result.levels.values().any(says)
    });
    of_results("named as emulated", named)
}

fn of_results<'a>(what: &str, results: impl Iterator<Item = &'a ResultSummary>) -> Option<Sign> {
    let (results, labels): (Vec<String>, Vec<&str>) =
        results.map(|result| (result.id.clone(), result.label.as_str())).unzip();
    let evidence = Evidence::new(what).text(list(&labels));
    (!results.is_empty()).then_some(Sign { evidence, sure: true, results })
}

fn results(signs: &[Sign], context: &Context<'_>) -> Vec<String> {
    let concerned =
        |result: &String| signs.iter().any(|sign| sign.results.is_empty() || sign.results.contains(result));
    context.findings.results.iter().map(|result| result.id.clone()).filter(concerned).collect()
}

fn finding(signs: &[Sign], results: Vec<String>) -> Claim {
    let sure = signs.iter().any(|sign| sign.sure);
    let affected = count(results.len(), "result");
    Claim::new(
        Severity::warning_if(sure),
        phrase!["The processor ", if sure { "was" } else { "may have been" }, " emulated in ", affected],
    )
    .detail("times and rates are not comparable with hardware")
    .further("Counts and their ratios are valid.")
    .with_results(results)
    .with_evidence(signs.iter().map(|sign| sign.evidence.clone()))
    .with_limits([
        "Emulation slows down some work more than other work, so ratios of times differ on hardware too.",
        "A machine can hide that it is emulated; the absence of this finding proves nothing.",
    ])
    .with_remedy(Remedy::manual(
        "Repeat the run with hardware virtualization (KVM) before quoting any time \
             or rate",
        vec!["plumb doctor".into(), "systemd-detect-virt".into()],
    ))
}

#[cfg(test)]
pub(super) mod tests {
    use findings::Severity;

    use crate::rules::tests::{Case, made};

    pub(in crate::rules) const CASE: Case = Case {
        triggers: || made::processor("QEMU Virtual CPU version 2.5+"),
        spares: || made::processor("AMD EPYC 7T83 64-Core Processor"),
        severity: Severity::Warning,
        says: &["QEMU Virtual CPU", "not comparable with hardware"],
        change: None,
    };
}
