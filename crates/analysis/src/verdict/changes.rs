//! All comparisons in a run: layers, factor levels, and words in path names.

use crate::order::ByNumber;
use std::{cmp::Ordering, collections::BTreeMap};

use findings::{
    Cause, Comparison, CostBreakdown, FactorEffect, Finding, Findings, LargestChange, NO_PATH,
    OppositeChange, ResultSummary, Role, label_in_workload, result_label,
};
use workload::Metric;

type Levels = BTreeMap<String, String>;

pub(super) struct Difference<'a> {
    what: String,
    condition: Levels,
    workload: &'a str,
    metric: Metric,
    pub(super) change: &'a Comparison,
    pub(super) results: [&'a str; 2],
    /// Whether the difference belongs to the setting shown first. At other settings, the factor may cause the
    /// difference.
    is_main: bool,
    /// Whether names suggest this comparison, e.g. with and without `vhost`.
    is_pair: bool,
    effect: Option<&'a FactorEffect>,
}

pub(super) fn all(findings: &Findings) -> Vec<Difference<'_>> {
    let mut all: Vec<Difference<'_>> =
        of_layers(findings).chain(of_effects(findings)).chain(of_matched_pairs(findings)).collect();
    let compared: Vec<&str> = all.iter().map(|it| it.workload).collect();
    let is_ranked = |workload: &str| findings.rankings.iter().any(|ranking| ranking.workload == workload);
    all.extend(
        against_baselines(findings).filter(|it| !compared.contains(&it.workload) && !is_ranked(it.workload)),
    );
    all
}

fn of_layers(findings: &Findings) -> impl Iterator<Item = Difference<'_>> {
    let breakdowns = &findings.cost_breakdowns;
    let is_main = |breakdown: &CostBreakdown| {
        let first = breakdowns.iter().find(|first| first.workload == breakdown.workload);
        first.is_some_and(|first| first.levels == breakdown.levels)
    };
    let steps =
        breakdowns.iter().flat_map(|breakdown| breakdown.steps.iter().map(move |step| (breakdown, step)));
    steps.filter_map(move |(breakdown, step)| {
        let below = breakdown.steps.iter().find(|other| Some(&other.path) == step.below.as_ref())?;
        Some(Difference {
            what: format!("{} over {}", step.adds.join(" + "), below.path),
            condition: breakdown.levels.clone(),
            workload: &breakdown.workload,
            metric: breakdown.metric,
            change: step.cost.as_ref()?,
            results: [&step.result, &below.result],
            is_main: is_main(breakdown),
            is_pair: false,
            effect: None,
        })
    })
}

fn of_effects(findings: &Findings) -> impl Iterator<Item = Difference<'_>> {
    findings.effects.iter().map(|effect| Difference {
        what: format!(
            "{} {} instead of {}{}",
            effect.factor,
            effect.level,
            effect.reference,
            if effect.path == NO_PATH { String::new() } else { format!(", {}", effect.path) }
        ),
        condition: effect.others.clone(),
        workload: &effect.workload,
        metric: effect.metric,
        change: &effect.change,
        results: [&effect.result, &effect.reference_result],
        is_main: true,
        is_pair: false,
        effect: Some(effect),
    })
}

fn of_matched_pairs(findings: &Findings) -> impl Iterator<Item = Difference<'_>> {
    let result = |id: &str| findings.results.iter().find(|result| result.id == id);
    let pairs = findings
        .matched_pairs
        .iter()
        .flat_map(|matched| matched.pairs.iter().map(move |pair| (matched, pair)));
    pairs.filter_map(move |(matched, pair)| {
        let (with, without) = (result(&pair.with)?, result(&pair.without)?);
        let (mut own, mut other) = (with.levels.clone(), without.levels.clone());
        own.retain(|factor, level| without.levels.get(factor) != Some(level));
        other.retain(|factor, level| with.levels.get(factor) != Some(level));
        let mut condition = with.levels.clone();
        condition.retain(|factor, _| !own.contains_key(factor));
        Some(Difference {
            what: format!(
                "{}, {} vs {}",
                matched.word,
                result_label(&with.path, &own, None),
                result_label(&without.path, &other, None)
            ),
            condition,
            workload: &matched.workload,
            metric: matched.metric,
            change: &pair.change,
            results: [&pair.with, &pair.without],
            is_main: true,
            is_pair: true,
            effect: None,
        })
    })
}

fn against_baselines(findings: &Findings) -> impl Iterator<Item = Difference<'_>> {
    let label = |result: &ResultSummary| label_in_workload(&result.path, &result.levels, &result.workload);
    findings.results.iter().filter_map(move |result| {
        let is_baseline = |it: &&ResultSummary| it.baseline && it.workload == result.workload;
        let baseline = findings.results.iter().find(is_baseline)?;
        Some(Difference {
            what: format!("{} vs {}", label(result), label(baseline)),
            condition: Levels::new(),
            workload: &result.workload,
            metric: result.metric,
            change: result.against_baseline.as_ref()?,
            results: [&result.id, &baseline.id],
            is_main: true,
            is_pair: false,
            effect: None,
        })
    })
}

impl Difference<'_> {
    pub(super) fn is_established(&self) -> bool {
        matches!(self.change.verdict, findings::Difference::Lower | findings::Difference::Higher)
    }

    pub(super) fn is_open(&self) -> bool {
        self.change.verdict == findings::Difference::Unclear
    }

    fn worse_first(&self) -> [&str; 2] {
        let [result, reference] = self.results;
        let is_better = self.metric.more_is_better().is_some_and(|more| more == (self.change.ratio > 1.0));
        if is_better { [reference, result] } else { [result, reference] }
    }

    fn size(&self) -> f64 {
        self.change.ratio.ln().abs()
    }

    pub(super) fn largest(&self, cause: Cause, all: &[Self]) -> LargestChange {
        let [result, reference] = self.results.map(str::to_owned);
        let (what, condition) = (self.what.clone(), self.condition.clone());
        let opposite = self.opposite(all);
        LargestChange { what, condition, result, reference, change: *self.change, opposite, cause }
    }

    fn opposite(&self, all: &[Self]) -> Option<OppositeChange> {
        let setting = |it: &'_ Self| it.effect.map(|it| [&it.factor, &it.level, &it.reference, &it.workload]);
        let is_opposite = |other: &&Self| {
            let same = other.effect.is_some() && setting(other) == setting(self);
            same && other.is_established() && (other.change.ratio > 1.0) != (self.change.ratio > 1.0)
        };
        let largest = all.iter().filter(is_opposite).largest(|one| one.size())?;
        let FactorEffect { path, result, change, .. } = largest.effect?;
        let is_named = self.is_established() && path != NO_PATH;
        is_named.then(|| OppositeChange { path: path.clone(), result: result.clone(), change: *change })
    }
}

/// Returns the largest established difference, or the largest undecided difference if none is established.
pub(super) fn largest<'a>(
    findings: &Findings,
    workload: &str,
    all: &'a [Difference<'a>],
) -> Option<&'a Difference<'a>> {
    let own = all.iter().filter(|difference| difference.workload == workload).map(Some);
    own.max_by(|one, other| order(*one, *other, findings)).flatten()
}

pub(super) fn order(
    one: Option<&Difference<'_>>,
    other: Option<&Difference<'_>>,
    findings: &Findings,
) -> Ordering {
    let rank = |difference: &Difference<'_>| {
        let reliable = difference.results.iter().all(|result| findings.unreliable(result).is_none());
        let is_open = difference.is_open();
        // If all differences may be noise, the names still show which comparison the user wants.
        let is_wanted = is_open && difference.is_pair;
        (difference.is_established(), is_open, reliable, is_wanted, difference.is_main)
    };
    match (one, other) {
        (Some(one), Some(other)) => rank(one).cmp(&rank(other)).then(one.size().total_cmp(&other.size())),
        (one, other) => one.is_some().cmp(&other.is_some()),
    }
}

pub(super) fn cause<'a>(findings: &'a Findings, change: &Difference<'_>) -> Option<&'a Finding> {
    let [worse, better] = change.worse_first();
    about_path(findings).find(|finding| {
        finding.role == Role::Cause
            && finding.established
            && finding.concerns(worse)
            && !finding.concerns(better)
    })
}

pub(super) fn about_path(findings: &Findings) -> impl Iterator<Item = &Finding> {
    findings.findings.iter().filter(|finding| {
        matches!(finding.role, Role::Cause | Role::Symptom)
            && finding.superseded_by.is_none()
            && !finding.results.iter().any(|result| findings.unreliable(result).is_some())
    })
}
