//! `cpu-per-byte`: a path is slower than the one below because it needs more CPU time per byte, and the CPU limits both
//! paths.

use findings::{CostStep, CpuCost, Difference};
use samples::ValidityWarning;
use workload::{Metric, Work};

use super::{limited, prelude::*};
use crate::words::number;

pub(crate) const RULE: Rule =
    Rule::cause("cpu-per-byte", look).over(&["generator-limited", "receiver-limited"]);

/// Minimum fraction of the loss that the CPU cost per byte must explain, on a logarithmic scale.
const MOST: f64 = 0.75;
/// With fewer idle CPUs, the load cannot be spread.
const IDLE: f64 = 0.5;

struct DearStep<'a> {
    result: &'a ResultSummary,
    below: &'a ResultSummary,
    /// CPU-seconds per GB of the step, and of the path below it.
    seconds: [f64; 2],
    cpu: CpuCost,
    busy: f64,
}

impl DearStep<'_> {
    fn dearer(&self) -> f64 {
        self.seconds[0] / self.seconds[1]
    }
}

/// Makes one finding per workload, about the most expensive step. The other steps are evidence.
fn look(context: &Context<'_>) -> Vec<Claim> {
    let cost_breakdowns = &context.findings.cost_breakdowns;
    let first = |workload: &str| cost_breakdowns.iter().find(|breakdown| breakdown.workload == workload);
    let mut workloads: Vec<&str> =
        cost_breakdowns.iter().map(|breakdown| breakdown.workload.as_str()).collect();
    workloads.dedup();
    let claims = workloads.into_iter().filter_map(|workload| {
        let breakdown = first(workload).filter(|breakdown| breakdown.metric == Metric::Throughput)?;
        let mut steps: Vec<DearStep<'_>> =
            breakdown.steps.iter().filter_map(|step| dear(step, &context.findings.results)).collect();
        sort_descending(&mut steps, |one| one.dearer());
        Some(finding(steps.first()?, &steps, context))
    });
    claims.collect()
}

fn dear<'a>(step: &CostStep, results: &'a [ResultSummary]) -> Option<DearStep<'a>> {
    let lost = step.cost.filter(|cost| cost.verdict == Difference::Lower)?.ratio.recip();
    let result = results.iter().find(|result| result.id == step.result)?;
    let below = results.iter().find(|below| {
        Some(&below.path) == step.below.as_ref()
            && below.workload == result.workload
            && below.levels.iter().all(|(factor, level)| result.levels.get(factor) == Some(level))
    })?;
    let (busy, _) = (full(result)?, full(below)?);
    let seconds = |result: &ResultSummary| {
        result.cpu?.per_work.filter(|cost| cost.work == Work::Bytes).map(|cost| cost.seconds)
    };
    let step =
        DearStep { result, below, seconds: [seconds(result)?, seconds(below)?], cpu: result.cpu?, busy };
    (step.dearer().ln() >= MOST * lost.ln()).then_some(step)
}

fn full(result: &ResultSummary) -> Option<f64> {
    limited::mostly(result, |warning| match warning {
        ValidityWarning::GeneratorLimited { end, busy } | ValidityWarning::ReceiverLimited { end, busy } => {
            Some((end, *busy))
        }
        _ => None,
    })
    .map(|(_, _, busy)| busy)
}

fn finding(dearest: &DearStep<'_>, steps: &[DearStep<'_>], context: &Context<'_>) -> Claim {
    let [over, under] = dearest.seconds;
    Claim {
        // In the other steps, the added layer cannot be distinguished from the layers below.
        results: vec![dearest.result.id.clone()],
        evidence: steps.iter().map(evidence).collect(),
        limitations: vec![
            "CPU time covers the whole machine and both ends, excluding other programs as far as they are \
             known."
                .into(),
        ],
        remedy: Some(remedy(dearest, context)),
        ..Claim::new(
            Severity::Note,
            phrase![
                format!("{} needs ", dearest.result.path),
                number(over, 3, Unit::Count, " CPU-s per GB"),
                format!(", {} ", dearest.below.path),
                number(under, 3, Unit::Count, ""),
            ],
        )
        .detail(phrase![
            "both are CPU-bound, and one thread of ",
            dearest.result,
            " is busy ",
            percent(dearest.busy),
            " of the time",
        ])
        .factual()
    }
}

fn evidence(step: &DearStep<'_>) -> Evidence {
    Evidence::new(format!("{} vs {}", step.result.label, step.below.path))
        .rounded(step.seconds[0], Unit::Count)
        .text(" CPU-s/GB instead of ")
        .rounded(step.seconds[1], Unit::Count)
        .text(", ")
        .rounded(step.dearer(), Unit::Ratio)
        .text(" times; ")
        .rounded(step.cpu.busy, Unit::Cpus)
        .text(format!(" of {} CPUs busy", step.cpu.cpus))
}

fn remedy(step: &DearStep<'_>, context: &Context<'_>) -> Remedy {
    let idle = f64::from(step.cpu.cpus) - step.cpu.busy - step.cpu.others;
    let cheaper =
        "Reduce CPU per byte: enable TSO, GRO and checksum offload on every layer, or raise the MTU";
    let whole = "The whole path has to carry the larger MTU.";
    match limited::more_streams(&step.result.id, context).filter(|_| idle >= IDLE) {
        Some(more) => Remedy {
            change: Some(more),
            ..Remedy::manual("Use the idle CPUs with more parallel streams", Vec::new())
                .explained(format!("A single stream uses one or two CPUs. {cheaper}. {whole}"))
        },
        None => Remedy::manual(cheaper, context.commands().section("environment").into_iter().collect())
            .explained(whole),
    }
}

#[cfg(test)]
pub(super) mod tests {
    use findings::Severity;

    use crate::rules::tests::{Case, made};

    pub(in crate::rules) const CASE: Case = Case {
        triggers: || made::costly(1000),
        spares: || made::costly(500),
        severity: Severity::Note,
        says: &[
            "vxlan-to-vxlan needs 1.28 CPU-s per GB, plain 0.640: both are CPU-bound",
            "2.00 times",
            "more parallel streams",
        ],
        change: Some("streams"),
    };
}
