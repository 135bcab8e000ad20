//! `too-noisy-to-say`: intervals are too wide to answer the run's question.

use findings::{Comparison, Difference, Interval};
use samples::EndReason;
use stats::verdict::is_sure;

use super::prelude::*;

pub(crate) const RULE: Rule = Rule::limit("too-noisy-to-say", look);

/// Narrower intervals show that there is hardly a difference.
const NARROW: f64 = 1.1;
const WANTED: f64 = 0.05;
const MOST_TRIALS: f64 = 200.0;
const MOST_LISTED: usize = 6;

struct NoisyComparison<'a> {
    what: String,
    result: &'a str,
    change: &'a Comparison,
}

impl NoisyComparison<'_> {
    /// Returns the ratio of the interval's ends, or `None` if the interval is conclusive or noise is not the problem.
    fn width(&self) -> Option<f64> {
        let Interval { low, high, confidence } = self.change.ratio_interval?;
        let open = self.change.verdict == Difference::Unclear;
        // Low confidence means that there are too few trials, even without noise. A limitation reports this.
        (open && low > 0.0 && high / low > NARROW && is_sure(confidence)).then(|| high / low)
    }
}

fn look(context: &Context<'_>) -> Vec<Claim> {
    let asked = asked(context);
    let mut wide: Vec<(f64, &NoisyComparison<'_>)> =
        asked.iter().filter_map(|asked| Some((asked.width()?, asked))).collect();
    sort_descending(&mut wide, |one| one.0);
    let cut: Vec<(&ResultSummary, f64)> =
        context.findings.results.iter().filter_map(|result| cut_off(result, context)).collect();
    if wide.is_empty() && cut.is_empty() {
        Vec::new()
    } else {
        vec![finding(&wide, asked.len(), &cut, context)]
    }
}

/// Returns the effects of factors and the costs of layers. If there are none, returns the comparisons with the
/// baseline.
fn asked<'a>(context: &Context<'a>) -> Vec<NoisyComparison<'a>> {
    let findings = context.findings;
    let label = |id: &str| context.measured_of(id).map(|result| result.label.as_str()).unwrap_or_default();
    let effects = findings.effects.iter().map(|effect| NoisyComparison {
        what: format!("{} vs {}", label(&effect.result), label(&effect.reference_result)),
        result: &effect.result,
        change: &effect.change,
    });
    let steps = findings.cost_breakdowns.iter().flat_map(|breakdown| &breakdown.steps).filter_map(|step| {
        let below = step.below.as_deref().unwrap_or("the path below");
        Some(NoisyComparison {
            what: format!("{} vs {below}", label(&step.result)),
            result: &step.result,
            change: step.cost.as_ref()?,
        })
    });
    let mut asked: Vec<NoisyComparison<'_>> = effects.chain(steps).collect();
    if asked.is_empty() {
        let against = findings.results.iter().filter_map(|result| {
            let change = result.against_baseline.as_ref()?;
            Some(NoisyComparison {
                what: format!("{} vs the baseline", result.label),
                result: &result.id,
                change,
            })
        });
        asked.extend(against);
    }
    asked
}

fn cut_off<'a>(result: &'a ResultSummary, context: &Context<'_>) -> Option<(&'a ResultSummary, f64)> {
    let precision = context.findings.run.design.precision?;
    match result.ended.as_ref()?.reason {
        EndReason::Budget { reach: Some(reach) } if reach > precision => Some((result, reach)),
        _ => None,
    }
}

fn finding(
    wide: &[(f64, &NoisyComparison<'_>)],
    asked: usize,
    cut: &[(&ResultSummary, f64)],
    context: &Context<'_>,
) -> Claim {
    let mostly = !wide.is_empty() && 2 * wide.len() >= asked;
    let mut results: Vec<String> = wide.iter().map(|(_, asked)| asked.result.to_owned()).collect();
    results.extend(cut.iter().map(|(result, _)| result.id.clone()));
    results.sort_unstable();
    results.dedup();
    let comparisons =
        wide.iter().take(MOST_LISTED).map(|(_, asked)| Evidence::new(&asked.what).ratio(asked.change));
    let budgets = cut.iter().take(MOST_LISTED).map(|(result, reach)| {
        Evidence::new(format!("{} when the time budget was used up", result.label))
            .text("interval of ±")
            .share(*reach)
    });
    let severity = Severity::warning_if(mostly);
    claim(severity, wide, cut, context)
        .with_results(results)
        .with_evidence(comparisons.chain(budgets))
        .with_limits([
            "Finding no difference does not prove that there is none: the true difference may be anywhere in the \
             interval.",
            "Bimodal results have wide intervals regardless of the number of trials (`bimodal`).",
        ])
        .with_remedy(remedy(wide, context))
}

fn claim(
    severity: Severity,
    wide: &[(f64, &NoisyComparison<'_>)],
    cut: &[(&ResultSummary, f64)],
    context: &Context<'_>,
) -> Claim {
    let precision = context.findings.run.design.precision.map(percent).unwrap_or_default();
    let budget = || {
        let one = cut.len() == 1;
        let (results, their) = (count(cut.len(), "result"), if one { "its" } else { "their" });
        format!("the time budget was used up before {results} had {their} interval within {precision}")
    };
    let Some((_, widest)) = wide.first() else {
        return Claim::new(severity, "Too noisy for the requested precision").detail(budget());
    };
    Claim::new(severity, phrase!["Too noisy to decide for ", count(wide.len(), "comparison")])
        .detail(format!(
            "{} too wide{}",
            if wide.len() == 1 { "its interval is" } else { "their intervals are" },
            if cut.is_empty() { String::new() } else { format!("; {}", budget()) }
        ))
        .further(phrase![format!("The widest is {}: ", widest.what), widest.change, "."])
}

fn remedy(wide: &[(f64, &NoisyComparison<'_>)], context: &Context<'_>) -> Remedy {
    let trials = wide.first().and_then(|(width, asked)| {
        let result = context.findings.result(asked.result)?;
        let times = (width.ln() / 2.0 / WANTED.ln_1p()).powi(2);
        Some((f64::from(result.value.trials) * times).ceil())
    });
    let quieter = "Reduce noise on the host and pin the ends (`noisy-host`)";
    match trials {
        Some(trials) if trials <= MOST_TRIALS => {
            Remedy::manual(quieter, context.commands().again("--precision 2%", "--repeat 20")).explained(format!(
                "Intervals narrow with the square root of the number of trials: about {trials} of each would bring \
                 the widest to within ±{}.",
                percent(WANTED)
            ))
        }
        _ => Remedy::manual(quieter, Vec::new()).explained("More trials will hardly help."),
    }
}

#[cfg(test)]
pub(super) mod tests {
    use findings::Severity;

    use crate::rules::tests::{Case, made};

    pub(in crate::rules) const CASE: Case = Case {
        triggers: || made::swaying(0.3),
        spares: || made::swaying(0.01),
        severity: Severity::Warning,
        says: &[
            "Too noisy to decide for 1 comparison: its interval is too wide",
            "vxlan-to-vxlan vs plain",
            "Reduce noise on the host",
        ],
        change: None,
    };
}
