//! `noisy-host`: the baseline varies a lot between repetitions, or the hypervisor stole CPU time.

use findings::NoiseFloor;

use super::prelude::*;

pub(crate) const RULE: Rule = Rule::limit("noisy-host", look).over(&["too-noisy-to-say"]);

/// Noise floor that hides the cost of a typical layer.
const LARGE_FLOOR: f64 = 0.05;
/// Noise floor that hides almost any cost.
const SERIOUS_FLOOR: f64 = 0.2;
/// Maximum steal time, as a fraction of the machine's CPU time.
const MUCH_STEAL: f64 = 0.02;

fn look(context: &Context<'_>) -> Vec<Claim> {
    let floors: Vec<&NoiseFloor> =
        context.findings.noise.iter().filter(|noise| noise.floor > LARGE_FLOOR).collect();
    let robbed: Vec<&ResultSummary> =
        context.findings.results.iter().filter(|result| stolen(result) > MUCH_STEAL).collect();
    if floors.is_empty() && robbed.is_empty() { Vec::new() } else { vec![finding(&floors, &robbed)] }
}

fn stolen(result: &ResultSummary) -> f64 {
    result.cpu.map_or(0.0, |cpu| cpu.steal / f64::from(cpu.cpus.max(1)))
}

fn finding(floors: &[&NoiseFloor], robbed: &[&ResultSummary]) -> Claim {
    let serious = floors.iter().any(|noise| noise.floor > SERIOUS_FLOOR);
    Claim::new(Severity::serious_if(serious), "Noisy host")
        .detail(if floors.is_empty() { steal(robbed) } else { floor(floors) })
        .further(if floors.is_empty() || robbed.is_empty() {
            Phrase::default()
        } else {
            phrase!["In addition, ", steal(robbed), "."]
        })
        .with_results(
            floors
                .iter()
                .map(|noise| noise.result.clone())
                .chain(robbed.iter().map(|result| result.id.clone())),
        )
        .with_evidence(
            floors
                .iter()
                .map(|noise| {
                    Evidence::new(format!("baseline of {} repeated, {} pairs", noise.workload, noise.pairs))
                        .text("differences up to ")
                        .share(noise.floor)
                })
                .chain(robbed.iter().map(|result| {
                    Evidence::new(format!("stolen CPU time, {}", result.label)).share(stolen(result))
                })),
        )
        .with_limits(["A noise floor from few pairs is wide; more trials narrow it."])
        .with_remedy(Remedy::manual(
            "Stop other work on the host, pin the ends, and repeat with more trials",
            Vec::new(),
        ))
}

fn floor(floors: &[&NoiseFloor]) -> Phrase {
    let workloads: Vec<&str> = floors.iter().map(|noise| noise.workload.as_str()).collect();
    let worst = floors.iter().map(|noise| noise.floor).fold(0.0, f64::max);
    phrase![
        "the baseline varies by up to ",
        percent(worst),
        format!(" between trials, so smaller differences cannot be resolved ({})", workloads.join(", ")),
    ]
}

fn steal(robbed: &[&ResultSummary]) -> Phrase {
    let most = robbed.iter().map(|result| stolen(result)).fold(0.0, f64::max);
    phrase!["the hypervisor took up to ", percent(most), " of the CPU time (steal)"]
}

#[cfg(test)]
pub(super) mod tests {
    use findings::Severity;

    use crate::rules::tests::{Case, made};

    pub(in crate::rules) const CASE: Case = Case {
        triggers: || made::swinging(0.12),
        spares: || made::swinging(0.02),
        severity: Severity::Warning,
        says: &["Noisy host: the baseline", "varies by"],
        change: None,
    };
}
