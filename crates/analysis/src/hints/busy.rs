//! `generator-limited` and `receiver-limited`: one of plumb's threads used all of its CPU.

use findings::{Evidence, Remedy, Severity, phrase};
use samples::ValidityWarning;

use super::{Claim, Rule, SingleTrial};
use crate::words::percent;

pub(super) const GENERATOR: Rule = Rule::cause("generator-limited", sending);
pub(super) const RECEIVER: Rule = Rule::cause("receiver-limited", receiving);

fn sending(trial: &SingleTrial<'_>) -> Vec<Claim> {
    let limited = trial.single.warnings.iter().find_map(|warning| match warning {
        ValidityWarning::GeneratorLimited { end, busy } => Some(finding("sending", end, *busy)),
        _ => None,
    });
    limited.into_iter().collect()
}

fn receiving(trial: &SingleTrial<'_>) -> Vec<Claim> {
    let limited = trial.single.warnings.iter().find_map(|warning| match warning {
        ValidityWarning::ReceiverLimited { end, busy } => Some(finding("receiving", end, *busy)),
        _ => None,
    });
    limited.into_iter().collect()
}

fn finding(doing: &str, end: &str, busy: f64) -> Claim {
    Claim::new(
        Severity::Note,
        phrase![
            format!("The {end}'s {doing} thread was busy "),
            percent(busy),
            " of the time and may be the bottleneck",
        ],
    )
    .with_evidence([Evidence::new(format!("busiest {doing} thread")).share(busy).text(" of one CPU")])
    .with_limits(["With virtual devices, the kernel does much of the path's work in this thread."])
    .with_remedy(Remedy::manual(
        "Try more parallel streams (-P 2), or limit mode (--mode limit) to see what \
             the path could carry without copies",
        vec![],
    ))
}
