//! All comparisons in a run: layers, factor levels, and words in path names.

use std::cmp::Ordering;

use findings::{Comparison, Findings};
use workload::Metric;

use crate::{
    labels,
    phrases::{self, Confidence},
    text::Text,
};

pub(super) struct Difference<'a> {
    what: String,
    pub(super) workload: &'a str,
    metric: Metric,
    change: &'a Comparison,
    pub(super) results: [&'a str; 2],
    /// Whether the difference belongs to the setting shown first. Elsewhere, the factor may cause it.
    pub(super) is_main: bool,
}

pub(super) fn all(findings: &Findings) -> Vec<Difference<'_>> {
    let mut all = Vec::new();
    for breakdown in &findings.cost_breakdowns {
        let is_main = super::breakdown(findings, &breakdown.workload)
            .is_some_and(|first| first.levels == breakdown.levels);
        for step in &breakdown.steps {
            let below = step
                .below
                .as_ref()
                .and_then(|below| breakdown.steps.iter().find(|other| other.path == *below));
            if let (Some(change), Some(below)) = (&step.cost, below) {
                let settings = labels::levels(&breakdown.levels)
                    .map(|levels| format!(" ({levels})"))
                    .unwrap_or_default();
                all.push(Difference {
                    what: format!("{} over {}{settings}", step.adds.join(" + "), below.path),
                    workload: &breakdown.workload,
                    metric: breakdown.metric,
                    change,
                    results: [&step.result, &below.result],
                    is_main,
                });
            }
        }
    }
    all.extend(findings.effects.iter().map(|effect| Difference {
        what: format!("{} {} instead of {}, {}", effect.factor, effect.level, effect.reference, effect.path),
        workload: &effect.workload,
        metric: effect.metric,
        change: &effect.change,
        results: [&effect.result, &effect.reference_result],
        is_main: true,
    }));
    let path = |id: &str| {
        findings
            .results
            .iter()
            .find(|result| result.id == id)
            .map_or_else(|| id.to_owned(), |result| result.path.clone())
    };
    all.extend(findings.matched_pairs.iter().flat_map(|matched_pairs| {
        matched_pairs.pairs.iter().map(move |pair| Difference {
            what: format!("{}, {} vs {}", matched_pairs.word, path(&pair.with), path(&pair.without)),
            workload: &matched_pairs.workload,
            metric: matched_pairs.metric,
            change: &pair.change,
            results: [&pair.with, &pair.without],
            is_main: true,
        })
    }));
    all
}

impl Difference<'_> {
    pub(super) fn is_established(&self) -> bool {
        matches!(self.change.verdict, findings::Difference::Lower | findings::Difference::Higher)
    }

    pub(super) fn is_open(&self) -> bool {
        self.change.verdict == findings::Difference::Unclear
    }

    /// Returns the worse result first or, without a better direction, the compared one.
    pub(super) fn worse_first(&self) -> [&str; 2] {
        let [result, reference] = self.results;
        let is_better = self.metric.more_is_better().is_some_and(|more| more == (self.change.ratio > 1.0));
        if is_better { [reference, result] } else { [result, reference] }
    }

    pub(super) fn size(&self) -> f64 {
        self.change.ratio.ln().abs()
    }

    pub(super) fn cmp_size(&self, other: &Self) -> Ordering {
        self.size().total_cmp(&other.size())
    }

    pub(super) fn text(&self, findings: &Findings) -> Text {
        let lead = super::speed::lead(findings, self.workload);
        let gain = phrases::gain(self.change, Confidence::Inline);
        Text::from(format!("{lead}{} ", self.what)).and(phrases::tone(self.metric, self.change), gain)
    }
}

pub(super) const fn judgement(change: &Comparison) -> &'static str {
    match change.verdict {
        findings::Difference::Lower | findings::Difference::Higher => "",
        findings::Difference::None => "not significant: ",
        findings::Difference::Unclear => "unclear: ",
    }
}
