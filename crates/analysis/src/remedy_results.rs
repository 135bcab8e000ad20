//! Adds the measured effects of remedies to the findings.

use findings::{Findings, RemedyEffect};
use samples::{RemedyTrial, RunRecord};

use crate::analyse;

/// Does nothing if `tried` tested the remedies of another run.
pub fn remedy_results(findings: &mut Findings, tried: &RunRecord) {
    let Some(remedy_trials) =
        tried.header.remedy_trials.as_ref().filter(|remedy_trials| remedy_trials.run == findings.run.id)
    else {
        return;
    };
    let own = analyse(tried);
    for remedy in &remedy_trials.remedies {
        let Some(effects) = effects(findings, &own, remedy) else { continue };
        let claims = findings.findings.iter_mut();
        let of_it = claims
            .filter(|claim| claim.id == remedy.finding && claim.results.first() == Some(&remedy.result));
        for claimed in of_it.filter_map(|claim| claim.remedy.as_mut()).filter(|it| it.change.is_some()) {
            claimed.effects.push(effects.clone());
        }
    }
}

fn effects(findings: &Findings, own: &Findings, remedy: &RemedyTrial) -> Option<RemedyEffect> {
    let (without, with) = (own.result(&remedy.without)?, own.result(&remedy.with)?);
    let compared = |effect: &&findings::FactorEffect| {
        (&effect.reference_result, &effect.result) == (&remedy.without, &remedy.with)
    };
    Some(RemedyEffect {
        result: remedy.result.clone(),
        label: findings.result(&remedy.result)?.label.clone(),
        metric: with.metric,
        before: without.value.estimate,
        after: with.value.estimate,
        comparison: own.effects.iter().find(compared)?.change,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixtures::Fixture;
    use findings::{Change, Difference, Finding, Remedy, Role, Severity};
    use samples::RemedyTrials;

    fn remedy_trials(of: &Findings) -> RunRecord {
        let mut run = Fixture::new(6);
        run.path("plain", &["wire"]);
        run.stream("plain", &[("remedy", "without")], 1e9);
        run.stream("plain", &[("remedy", "with")], 2e9);
        let remedies = vec![RemedyTrial {
            finding: "offload-off".into(),
            result: "plain/bulk".into(),
            without: "plain/bulk/remedy=without".into(),
            with: "plain/bulk/remedy=with".into(),
        }];
        run.record.header.remedy_trials = Some(RemedyTrials { run: of.run.id.clone(), remedies });
        run.record
    }

    fn with_claim() -> Findings {
        let mut run = Fixture::new(5);
        run.path("plain", &["wire"]).stream("plain", &[], 1e9);
        let mut findings = analyse(&run.record);
        let change = Some(Change::OffloadsOn { devices: vec!["left:eth0".into()] });
        findings.findings = vec![Finding {
            results: vec!["plain/bulk".into()],
            remedy: Some(Remedy { change, ..Remedy::manual("", Vec::new()) }),
            ..Finding::new("offload-off", Role::Cause, Severity::Warning, "")
        }];
        findings
    }

    fn effects(findings: &Findings) -> &[RemedyEffect] {
        &findings.findings[0].remedy.as_ref().expect("it has one").effects
    }

    #[test]
    fn adds_measured_effect_of_remedy_to_its_finding() {
        let mut findings = with_claim();
        let remedy_trials = remedy_trials(&findings);
        remedy_results(&mut findings, &remedy_trials);
        let [effects] = effects(&findings) else { panic!("{:?}", findings.findings) };
        assert_eq!((effects.result.as_str(), effects.comparison.verdict), ("plain/bulk", Difference::Higher));
        assert!(
            (effects.comparison.ratio - 2.0).abs() < 0.1 && effects.after > 1.8 * effects.before,
            "{effects:?}"
        );
    }

    #[test]
    fn ignores_remedies_tried_for_another_run() {
        let mut findings = with_claim();
        let mut remedy_trials = remedy_trials(&findings);
        remedy_trials.header.remedy_trials.as_mut().expect("it tries").run = samples::RunId("another".into());
        remedy_results(&mut findings, &remedy_trials);
        assert_eq!(effects(&findings), []);
    }
}
