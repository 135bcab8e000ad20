//! Rules. Each examines one kind of subject and makes claims about it.

use crate::order::sort_descending;
use std::cmp::Reverse;

use findings::{Evidence, Finding, Phrase, Remedy, ResultSummary, Role, Sentence, Severity, phrase};

pub(crate) trait Subject {
    type Of<'a>;
}

pub(crate) type Look<S> = for<'a> fn(&<S as Subject>::Of<'a>) -> Vec<Claim>;

pub(crate) struct Rule<S: Subject> {
    pub(crate) id: &'static str,
    role: Role,
    pub(crate) supersedes: &'static [&'static str],
    counted: bool,
    look: Look<S>,
}

#[derive(Debug, Clone)]
pub(crate) struct Claim {
    pub(crate) severity: Severity,
    pub(crate) sentence: Sentence,
    pub(crate) further: Phrase,
    pub(crate) results: Vec<String>,
    pub(crate) evidence: Vec<Evidence>,
    pub(crate) limitations: Vec<String>,
    pub(crate) remedy: Option<Remedy>,
    pub(crate) factual: bool,
}

impl<S: Subject> Rule<S> {
    pub(crate) const fn cause(id: &'static str, look: Look<S>) -> Self {
        Self { id, role: Role::Cause, supersedes: &[], counted: false, look }
    }

    pub(crate) const fn symptom(id: &'static str, look: Look<S>) -> Self {
        Self { role: Role::Symptom, ..Self::cause(id, look) }
    }

    pub(crate) const fn measurement(id: &'static str, look: Look<S>) -> Self {
        Self { role: Role::Measurement, ..Self::cause(id, look) }
    }

    pub(crate) const fn limit(id: &'static str, look: Look<S>) -> Self {
        Self { role: Role::Limit, ..Self::cause(id, look) }
    }

    /// Marks a cause that counters prove.
    pub(crate) const fn counted(self) -> Self {
        Self { counted: true, ..self }
    }

    pub(crate) const fn over(self, supersedes: &'static [&'static str]) -> Self {
        Self { supersedes, ..self }
    }

    pub(crate) fn findings(&self, claims: Vec<Claim>) -> Vec<Finding> {
        let finding = |claim: Claim| Finding {
            established: claim.factual || claim.severity > Severity::Note,
            sentence: claim.sentence,
            counted: self.counted,
            further: claim.further,
            results: claim.results,
            evidence: claim.evidence,
            limitations: claim.limitations,
            remedy: claim.remedy,
            ..Finding::new(self.id, self.role, claim.severity, "")
        };
        claims.into_iter().map(finding).collect()
    }
}

impl Claim {
    pub(crate) fn new(severity: Severity, lead: impl Into<Phrase>) -> Self {
        Self {
            severity,
            sentence: Sentence::new(lead, ""),
            further: Phrase::default(),
            results: Vec::new(),
            evidence: Vec::new(),
            limitations: Vec::new(),
            remedy: None,
            factual: false,
        }
    }

    pub(crate) fn detail(mut self, detail: impl Into<Phrase>) -> Self {
        self.sentence.detail = detail.into();
        self
    }

    pub(crate) fn further(mut self, sentences: impl Into<Phrase>) -> Self {
        let sentences = sentences.into();
        let gap = if self.further.is_empty() || sentences.is_empty() { "" } else { " " };
        self.further = phrase![self.further, gap, sentences];
        self
    }

    pub(crate) fn affected(self) -> Self {
        match self.results.len() {
            0 | 1 => self,
            results => self.further(format!("{results} results affected.")),
        }
    }

    pub(crate) fn factual(self) -> Self {
        Self { factual: true, ..self }
    }

    pub(crate) fn about<T>(self, found: &[T], result: impl Fn(&T) -> &ResultSummary) -> Self {
        self.with_results(found.iter().map(|found| result(found).id.clone()))
    }

    pub(crate) fn with_results(mut self, results: impl IntoIterator<Item = String>) -> Self {
        for result in results {
            if !self.results.contains(&result) {
                self.results.push(result);
            }
        }
        self
    }

    pub(crate) fn with_evidence(mut self, evidence: impl IntoIterator<Item = Evidence>) -> Self {
        self.evidence.extend(evidence);
        self
    }

    pub(crate) fn with_limits<C: Into<String>>(mut self, limitations: impl IntoIterator<Item = C>) -> Self {
        self.limitations.extend(limitations.into_iter().map(Into::into));
        self
    }

    pub(crate) fn with_remedy(self, remedy: Remedy) -> Self {
        Self { remedy: Some(remedy), ..self }
    }
}

pub(crate) fn strongest<T>(
    mut found: Vec<T>,
    strength: impl Fn(&T) -> f64,
    claim: impl Fn(&T, &[T]) -> Claim,
) -> Vec<Claim> {
    sort_descending(&mut found, |one| strength(one));
    found.first().map(|first| claim(first, &found)).into_iter().collect()
}

/// Makes one claim per device, with the strongest claim first.
pub(crate) fn strongest_by_device<T>(
    mut found: Vec<T>,
    device: impl Fn(&T) -> &str,
    strength: impl Fn(&T) -> f64,
    claim: impl Fn(&T, &[T]) -> Claim,
) -> Vec<Claim> {
    sort_descending(&mut found, |one| strength(one));
    let mut groups: Vec<Vec<T>> = Vec::new();
    for it in found {
        match groups.iter_mut().find(|group| device(&group[0]) == device(&it)) {
            Some(group) => group.push(it),
            None => groups.push(vec![it]),
        }
    }
    groups.iter().map(|group| claim(&group[0], group)).collect()
}

pub(crate) fn findings<S: Subject>(rules: &[Rule<S>], subject: &S::Of<'_>) -> Vec<Finding> {
    let mut findings: Vec<Finding> =
        rules.iter().flat_map(|rule| rule.findings((rule.look)(subject))).collect();
    let superseded: Vec<Option<String>> =
        findings.iter().map(|finding| superseding(finding, &findings, rules)).collect();
    findings.iter_mut().zip(superseded).for_each(|(finding, by)| finding.superseded_by = by);
    findings.sort_by_key(|finding| Reverse(finding.severity));
    findings
}

/// Returns a rule with an established finding that supersedes `finding` and covers its results. Findings with
/// [`Role::Limit`] always cover the whole run. A finding that makes values unreliable is superseded only by another
/// such finding.
fn superseding<S: Subject>(finding: &Finding, all: &[Finding], rules: &[Rule<S>]) -> Option<String> {
    let explains = |other: &Finding| {
        let are_limits = [finding.role, other.role] == [Role::Limit; 2];
        other.established
            && (other.distrusts() || !finding.distrusts())
            && (are_limits || finding.results.iter().all(|result| other.results.contains(result)))
    };
    let by = |rule: &&Rule<S>| {
        rule.supersedes.contains(&finding.id.as_str())
            && all.iter().any(|other| other.id == rule.id && explains(other))
    };
    rules.iter().find(by).map(|rule| rule.id.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Disturbance;

    impl Subject for Disturbance {
        type Of<'a> = Severity;
    }

    const RULES: [Rule<Disturbance>; 2] = [
        Rule::measurement("disturbed", |severity| vec![claim(*severity, &["a", "b"])]).over(&["bimodal"]),
        Rule::measurement("bimodal", |_| {
            vec![claim(Severity::Serious, &["a"]), claim(Severity::Serious, &["a", "c"])]
        }),
    ];

    fn claim(severity: Severity, results: &[&str]) -> Claim {
        Claim::new(severity, "").with_results(results.iter().map(|result| (*result).to_owned()))
    }

    #[test]
    fn finding_is_explained_by_an_equally_serious_one_about_all_of_its_results() {
        let explained = |severity: Severity| {
            let bimodal = findings(&RULES, &severity).into_iter().filter(|finding| finding.id == "bimodal");
            bimodal.map(|finding| finding.superseded_by.is_some()).collect::<Vec<_>>()
        };
        assert_eq!(explained(Severity::Serious), [true, false]);
        assert_eq!(explained(Severity::Warning), [false, false], "the values remain unreliable");
    }
}
