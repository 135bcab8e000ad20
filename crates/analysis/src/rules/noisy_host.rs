//! `noisy-host`: the baseline varies a lot between repetitions, or the hypervisor took CPU time away.

use findings::{Evidence, Finding, NoiseFloor, Remedy, ResultSummary, Severity};

use super::{Context, Rule};
use crate::words::percent;

pub(crate) const RULE: Rule = Rule { id: "noisy-host", look };

/// Noise floor that hides the cost of a typical layer.
const LARGE_FLOOR: f64 = 0.05;
/// Noise floor that hides almost any cost.
const SERIOUS_FLOOR: f64 = 0.2;
/// Fraction of the machine's CPU time that is too much steal time.
const MUCH_STEAL: f64 = 0.02;

fn look(context: &Context<'_>) -> Vec<Finding> {
    let floors: Vec<&NoiseFloor> =
        context.findings.noise.iter().filter(|noise| noise.floor > LARGE_FLOOR).collect();
    let robbed: Vec<&ResultSummary> =
        context.findings.results.iter().filter(|result| stolen(result) > MUCH_STEAL).collect();
    if floors.is_empty() && robbed.is_empty() { Vec::new() } else { vec![finding(&floors, &robbed)] }
}

fn stolen(result: &ResultSummary) -> f64 {
    result.cpu.map_or(0.0, |cpu| cpu.steal / f64::from(cpu.cpus.max(1)))
}

fn finding(floors: &[&NoiseFloor], robbed: &[&ResultSummary]) -> Finding {
    let serious = floors.iter().any(|noise| noise.floor > SERIOUS_FLOOR);
    Finding {
        id: String::new(),
        severity: if serious { Severity::Serious } else { Severity::Warning },
        claim: claim(floors, robbed),
        results: floors
            .iter()
            .map(|noise| noise.result.clone())
            .chain(robbed.iter().map(|result| result.id.clone()))
            .collect(),
        evidence: floors
            .iter()
            .map(|noise| {
                Evidence::new(format!("{} repeated, {} pairs", noise.result, noise.pairs))
                    .text("differences up to ")
                    .share(noise.floor)
            })
            .chain(
                robbed.iter().map(|result| {
                    Evidence::new(format!("stolen CPU time, {}", result.id)).share(stolen(result))
                }),
            )
            .collect(),
        limitations: vec!["A noise floor from few pairs is wide; more trials narrow it.".into()],
        remedy: Some(Remedy {
            action:
                "Stop other work on the host, fix the placement of the ends, and repeat with more trials."
                    .into(),
            commands: Vec::new(),
            change: None,
            effects: Vec::new(),
        }),
    }
}

fn claim(floors: &[&NoiseFloor], robbed: &[&ResultSummary]) -> String {
    let workloads: Vec<&str> = floors.iter().map(|noise| noise.workload.as_str()).collect();
    let worst = floors.iter().map(|noise| noise.floor).fold(0.0, f64::max);
    let most = robbed.iter().map(|result| stolen(result)).fold(0.0, f64::max);
    let floor = format!(
        "the baseline varies by up to {} between trials, so smaller differences cannot be resolved ({})",
        percent(worst),
        workloads.join(", ")
    );
    let steal = format!("the hypervisor took up to {} of the CPU time (steal)", percent(most));
    match (floors.is_empty(), robbed.is_empty()) {
        (false, false) => format!("Noisy host: {floor}. In addition, {steal}."),
        (false, true) => format!("Noisy host: {floor}."),
        (true, _) => format!("Noisy host: {steal}."),
    }
}
