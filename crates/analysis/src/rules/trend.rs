//! `trend`: the rate rose or fell throughout a trial, so the mean depends on the trial's duration.

use units::Nanos;

use super::prelude::*;
use crate::{
    series,
    steadiness::{self, Stationarity},
};

pub(crate) const RULE: Rule = Rule::measurement("trend", look);

/// As for a level shift, a change by a quarter is large.
const MUCH: f64 = 0.25;
const MOST_LISTED: usize = 6;

struct Drift<'a> {
    result: &'a ResultSummary,
    trial: u32,
    from: f64,
    to: f64,
    lasted: Nanos,
}

fn look(context: &Context<'_>) -> Vec<Claim> {
    let found: Vec<Drift<'_>> =
        context.results().flat_map(|(result, measured)| drifts(result, measured)).collect();
    strongest(found, |it| it.size(), finding)
}

fn drifts<'a>(result: &'a ResultSummary, measured: &Observations<'_>) -> Vec<Drift<'a>> {
    let of_trial = |trial: &samples::Trial| {
        let series = series::of_trial(measured, trial);
        let Stationarity::Drift { from, to } = steadiness::stationarity(&series) else { return None };
        let lasted = Nanos(series.length.0 * series.rates.len() as u64);
        Some(Drift { result, trial: trial.index, from, to, lasted })
    };
    measured.trials().filter_map(of_trial).collect()
}

impl Drift<'_> {
    fn change(&self) -> f64 {
        self.to / self.from - 1.0
    }

    fn size(&self) -> f64 {
        self.change().abs()
    }

    /// For example, `from 10.0 Gbit/s to 8.00 Gbit/s (-20.0 %) in 60.0 s`.
    fn in_words(&self) -> Phrase {
        let sign = if self.change() < 0.0 { "-" } else { "+" };
        let size = Phrase::quantity(format!("{sign}{}", percent(self.size())), self.change(), Unit::Share);
        let level = |rate: f64| value(self.result.metric, rate);
        phrase!["from ", level(self.from), " to ", level(self.to), " (", size, ") in ", self.lasted]
    }
}

fn finding(widest: &Drift<'_>, found: &[Drift<'_>]) -> Claim {
    let others = match found.len() {
        1 => Phrase::default(),
        trials => phrase![count(trials, "trial"), " drifted."],
    };
    let mut evidence: Vec<Evidence> = found.iter().take(MOST_LISTED).map(evidence).collect();
    if found.len() > MOST_LISTED {
        let value = count(found.len() - MOST_LISTED, "more drift");
        evidence.push(Evidence::new("in the other trials").text(value));
    }
    Claim::new(
        Severity::warning_if(widest.size() >= MUCH),
        phrase![
            "The rate of ",
            widest.result,
            " drifted ",
            widest.in_words(),
            format!(
                " (trial {} of the run), so its average depends on the test duration",
                widest.trial.saturating_add(1)
            ),
        ],
    )
    .further(others)
    .about(found, |drift| drift.result)
    .with_evidence(evidence)
    .with_limits([
        "Up to 5 in 100 steady series appear to drift if neighbouring samples are very similar.",
        "The start and end values come from a fitted line; the actual rate may follow a curve.",
    ])
    .with_remedy(
        Remedy::manual("Run a longer test to see where it settles", vec!["turbostat --interval 1".into()])
            .explained(
                "Check for slow changes: temperature and CPU frequency, a token bucket or \
             cache that fills, memory pressure, a noisy neighbour.",
            ),
    )
}

fn evidence(drift: &Drift<'_>) -> Evidence {
    let what = format!("trial {} of {}", drift.trial.saturating_add(1), drift.result.label);
    Evidence::new(what).text(drift.in_words())
}

#[cfg(test)]
pub(super) mod tests {
    use findings::Severity;

    use crate::rules::tests::{Case, made};

    pub(in crate::rules) const CASE: Case = Case {
        triggers: || made::going(|at| 10e9 * (1.0 - 0.2 * at)),
        spares: || made::going(|at| if at < 0.5 { 10e9 } else { 8e9 }),
        severity: Severity::Note,
        says: &["The rate of plain drifted from 10.0 Gbit/s to 8.0", "(-19.6 %)", "in 15.0 s"],
        change: None,
    };
}
