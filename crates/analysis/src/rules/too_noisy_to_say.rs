//! `too-noisy-to-say`: intervals are too wide to answer the question of the run.

use findings::{CellSummary, Comparison, Difference, Evidence, Finding, Interval, Remedy, Severity};
use samples::EndReason;
use stats::verdict::is_sure;

use super::{Context, Rule};
use crate::words::{count, percent};

pub(crate) const RULE: Rule = Rule { id: "too-noisy-to-say", look };

/// Narrower intervals show that there is hardly any difference.
const NARROW: f64 = 1.1;
/// Target half-width for the suggested number of trials.
const WANTED: f64 = 0.05;
/// Repeating more often than this is not a useful suggestion.
const MOST_TRIALS: f64 = 200.0;
/// Maximum number of comparisons listed, widest first.
const MOST_TOLD: usize = 6;

/// A requested comparison.
struct NoisyComparison<'a> {
    /// Both sides.
    what: String,
    cell: &'a str,
    change: &'a Comparison,
}

impl NoisyComparison<'_> {
    /// Ratio of the interval's ends; `None` if the interval decides or noise is not the problem.
    fn width(&self) -> Option<f64> {
        let Interval { low, high, confidence } = self.change.ratio_interval?;
        let open = self.change.verdict == Difference::Unclear;
        // With low confidence there are too few trials, whatever the noise; a limitation says so.
        (open && low > 0.0 && high / low > NARROW && is_sure(confidence)).then(|| high / low)
    }
}

/// One claim for the run.
fn look(context: &Context<'_>) -> Vec<Finding> {
    let asked = asked(context);
    let mut wide: Vec<(f64, &NoisyComparison<'_>)> =
        asked.iter().filter_map(|asked| Some((asked.width()?, asked))).collect();
    wide.sort_by(|one, other| other.0.total_cmp(&one.0));
    let cut: Vec<(&CellSummary, f64)> =
        context.findings.cells.iter().filter_map(|cell| cut_off(cell, context)).collect();
    if wide.is_empty() && cut.is_empty() {
        Vec::new()
    } else {
        vec![finding(&wide, asked.len(), &cut, context)]
    }
}

/// Effects of factors and costs of layers; where there are neither, every cell against the baseline.
fn asked<'a>(context: &Context<'a>) -> Vec<NoisyComparison<'a>> {
    let findings = context.findings;
    let effects = findings.effects.iter().map(|effect| NoisyComparison {
        what: format!("{} vs {}", effect.cell, effect.reference_cell),
        cell: &effect.cell,
        change: &effect.change,
    });
    let rungs = findings.ladders.iter().flat_map(|ladder| &ladder.rungs).filter_map(|rung| {
        let below = rung.below.as_deref().unwrap_or("the path below");
        Some(NoisyComparison {
            what: format!("{} vs {below}", rung.cell),
            cell: &rung.cell,
            change: rung.cost.as_ref()?,
        })
    });
    let mut asked: Vec<NoisyComparison<'_>> = effects.chain(rungs).collect();
    if asked.is_empty() {
        let against = findings.cells.iter().filter_map(|cell| {
            let change = cell.against_baseline.as_ref()?;
            Some(NoisyComparison { what: format!("{} vs the baseline", cell.id), cell: &cell.id, change })
        });
        asked.extend(against);
    }
    asked
}

/// A result that ran out of time before the requested precision, and the half-width it reached.
fn cut_off<'a>(cell: &'a CellSummary, context: &Context<'_>) -> Option<(&'a CellSummary, f64)> {
    let precision = context.findings.run.design.precision?;
    match cell.ended.as_ref()?.why {
        EndReason::Budget { reach: Some(reach) } if reach > precision => Some((cell, reach)),
        _ => None,
    }
}

fn finding(
    wide: &[(f64, &NoisyComparison<'_>)],
    asked: usize,
    cut: &[(&CellSummary, f64)],
    context: &Context<'_>,
) -> Finding {
    let mostly = !wide.is_empty() && 2 * wide.len() >= asked;
    let mut cells: Vec<String> = wide.iter().map(|(_, asked)| asked.cell.to_owned()).collect();
    cells.extend(cut.iter().map(|(cell, _)| cell.id.clone()));
    cells.sort_unstable();
    cells.dedup();
    let comparisons =
        wide.iter().take(MOST_TOLD).map(|(_, asked)| Evidence::new(&asked.what).ratio(asked.change));
    let budgets = cut.iter().take(MOST_TOLD).map(|(cell, reach)| {
        Evidence::new(format!("{} when the time budget was used up", cell.id))
            .text("interval of ±")
            .share(*reach)
    });
    Finding {
        id: String::new(),
        severity: if mostly { Severity::Warning } else { Severity::Note },
        claim: claim(wide, cut, context),
        cells,
        evidence: comparisons.chain(budgets).collect(),
        caveats: vec![
            "The lack of a difference does not prove that there is none: it may be anything within the interval."
                .into(),
            "Bimodal results have wide intervals regardless of the number of trials (`bimodal`)."
                .into(),
        ],
        remedy: Some(remedy(wide, context)),
    }
}

fn claim(wide: &[(f64, &NoisyComparison<'_>)], cut: &[(&CellSummary, f64)], context: &Context<'_>) -> String {
    let precision = context.findings.run.design.precision.map(percent).unwrap_or_default();
    let budget = || {
        let one = cut.len() == 1;
        let (cells, their) = (count(cut.len(), "result"), if one { "its" } else { "their" });
        format!("the time budget was used up before {cells} had {their} interval within {precision}")
    };
    match (wide.first(), cut.is_empty()) {
        (Some((_, widest)), empty) => format!(
            "Too noisy to decide for {}: {} too wide{}. The widest is {}: {}.",
            count(wide.len(), "comparison"),
            if wide.len() == 1 { "its interval is" } else { "their intervals are" },
            if empty { String::new() } else { format!("; {}", budget()) },
            widest.what,
            widest.change
        ),
        (None, _) => format!("Too noisy for the requested precision: {}.", budget()),
    }
}

fn remedy(wide: &[(f64, &NoisyComparison<'_>)], context: &Context<'_>) -> Remedy {
    let trials = wide.first().and_then(|(width, asked)| {
        let cell = context.findings.cells.iter().find(|cell| cell.id == asked.cell)?;
        let times = (width.ln() / 2.0 / WANTED.ln_1p()).powi(2);
        Some((f64::from(cell.value.trials) * times).ceil())
    });
    let quieter = "Reduce noise on the host and fix the placement of the ends (`noisy-host`).";
    match trials {
        Some(trials) if trials <= MOST_TRIALS => Remedy::manual(
            format!(
                "{quieter} Intervals narrow with the square root of the number of trials: about {trials} of each \
                 would bring the widest to within ±{}.",
                percent(WANTED)
            ),
            context.commands().again("--precision 2%", "--repeat 20"),
        ),
        _ => Remedy::manual(format!("{quieter} More trials will hardly help."), Vec::new()),
    }
}
