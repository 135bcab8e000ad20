//! `cpu-unexplained`: the owners' CPU time does not add up to the kernel's busy time.

use findings::CpuAttribution;

use super::{
    prelude::*,
    significance::{self, Above},
};
use crate::{commands::Commands, probed};

pub(crate) const RULE: Rule = Rule::measurement("cpu-unexplained", look);

/// Maximum fraction of busy time that wake-ups from idle and rounding can explain.
const MOST: f64 = 0.05;

struct Open<'a> {
    result: &'a ResultSummary,
    cpu: &'a CpuAttribution,
    rest: Above,
}

fn look(context: &Context<'_>) -> Vec<Claim> {
    let found: Vec<Open<'_>> = context
        .results()
        .filter_map(|(result, measured)| {
            let rests: Vec<f64> = probed::unexplained(measured).into_iter().map(f64::abs).collect();
            let cpu = result.probed.as_ref()?.cpu.as_ref()?;
            Some(Open { result, cpu, rest: significance::above(&rests, MOST)? })
        })
        .collect();
    strongest(found, |it| it.rest.estimate, |worst, all| finding(worst, all, &context.commands()))
}

fn finding(worst: &Open<'_>, found: &[Open<'_>], commands: &Commands<'_>) -> Claim {
    let which = if worst.cpu.unexplained < 0.0 { "more than" } else { "less than" };
    let is_sure = found.iter().any(|open| open.rest.sure);
    Claim::new(
        Severity::warning_if(is_sure),
        phrase![
            "CPU attribution of ",
            worst.result,
            " accounts for ",
            percent(worst.rest.estimate),
            format!(" {which} the kernel's busy time, so its shares are no more precise than that"),
        ],
    )
    .about(found, |open| open.result)
    .affected()
    .with_evidence(found.iter().map(evidence))
    .with_limits([
        "Busy time is the non-idle time in /proc/stat, which has a resolution of 10 ms. The exact \
             probe waits for this counter to advance. Without it, a trial of half a second may be off \
             by several percent.",
        "A CPU leaving idle works for a microsecond or two (in a virtual machine) before \
             tracing sees it. With tens of thousands of wake-ups per second, this adds up to a \
             few percent.",
    ])
    .with_remedy(
        Remedy::manual("Run longer trials so that rounding matters less", commands.again("--probe cpu", ""))
            .explained("Check whether a probe lost events, and stop other work on the machine."),
    )
}

fn evidence(open: &Open<'_>) -> Evidence {
    Evidence::new(format!("CPUs busy in {}", open.result.label))
        .rounded(open.cpu.busy, Unit::Cpus)
        .text(" according to the kernel, ")
        .rounded(open.cpu.attributed, Unit::Cpus)
        .text(" attributed; unexplained in the median trial: ")
        .share(open.rest.estimate)
}

#[cfg(test)]
pub(super) mod tests {
    use findings::Severity;

    use crate::rules::tests::{Case, watched};

    pub(in crate::rules) const CASE: Case = Case {
        triggers: || watched::unowned(120),
        spares: || watched::unowned(50),
        severity: Severity::Warning,
        says: &[
            "CPU attribution of plain",
            "less than the kernel's busy time",
            "10.00 %",
            "1.20 according to the kernel",
        ],
        change: None,
    };
}
