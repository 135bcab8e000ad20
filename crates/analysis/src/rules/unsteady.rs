//! `unsteady`: the rate varied as much as in a level shift during a trial, but without distinct levels.

use super::prelude::*;
use crate::{
    series,
    steadiness::{self, Stationarity},
};

pub(crate) const RULE: Rule = Rule::measurement("unsteady", look);

const MOST_LISTED: usize = 6;

struct Wander<'a> {
    result: &'a ResultSummary,
    trial: u32,
    low: f64,
    high: f64,
}

fn look(context: &Context<'_>) -> Vec<Claim> {
    let mut found: Vec<Wander<'_>> =
        context.results().flat_map(|(result, measured)| wanders(result, measured)).collect();
    sort_descending(&mut found, |one| one.high / one.low);
    found.first().map(|widest| finding(widest, &found)).into_iter().collect()
}

fn wanders<'a>(result: &'a ResultSummary, measured: &Observations<'_>) -> Vec<Wander<'a>> {
    let of_trial = |trial: &samples::Trial| match steadiness::stationarity(&series::of_trial(measured, trial))
    {
        // Values near zero may be printed alike.
        Stationarity::Unsteady { low, high } if value(result.metric, low) != value(result.metric, high) => {
            Some(Wander { result, trial: trial.index, low, high })
        }
        _ => None,
    };
    measured.trials().filter_map(of_trial).collect()
}

impl Wander<'_> {
    fn place(&self) -> Phrase {
        phrase![format!("trial {} of ", self.trial.saturating_add(1)), self.result]
    }

    fn in_words(&self) -> Phrase {
        let level = |rate: f64| value(self.result.metric, rate);
        phrase!["between ", level(self.low), " and ", level(self.high)]
    }
}

fn finding(widest: &Wander<'_>, found: &[Wander<'_>]) -> Claim {
    let others = match found.len() {
        1 => Phrase::default(),
        trials => phrase![count(trials, "trial"), " are unsteady."],
    };
    let evidence = |wander: &Wander<'_>| {
        let metric = wander.result.metric;
        let low = Evidence::new(wander.place().to_string()).text("between ").metric(metric, wander.low);
        low.text(" and ").metric(metric, wander.high)
    };
    Claim::new(Severity::Note, phrase!["The rate of ", widest.place(), " is unsteady"])
        .detail(phrase!["it wandered ", widest.in_words(), ", without stable levels"])
        .further(others)
        .about(found, |wander| wander.result)
        .with_evidence(found.iter().take(MOST_LISTED).map(evidence))
        .with_limits(["A level shift that is small compared with the noise looks the same."])
        .with_remedy(
            Remedy::manual(
                "Run several trials, or much longer ones, before comparing",
                vec!["ss -tin".into()],
            )
            .explained(
                "A sawtooth comes from the congestion control; check the queue before the \
             bottleneck and other traffic.",
            ),
        )
}

#[cfg(test)]
pub(super) mod tests {
    use findings::Severity;

    use crate::rules::tests::{Case, made};

    pub(in crate::rules) const CASE: Case = Case {
        triggers: made::wandering,
        spares: || made::going(|_| 10e9),
        severity: Severity::Note,
        says: &["trial 1 of plain is unsteady", "between "],
        change: None,
    };
}
