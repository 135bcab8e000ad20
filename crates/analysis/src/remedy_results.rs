//! Measured effects of remedies.

use findings::{Brought, Findings};
use samples::{RemedyTrial, RunRecord};

use crate::analyse;

/// Puts into the findings of a run what its remedies brought in `tried`, a run that has tried them; nothing when that
/// has tried those of another run.
pub fn remedy_results(findings: &mut Findings, tried: &RunRecord) {
    let Some(tries) = tried.header.tries.as_ref().filter(|tries| tries.of == findings.run.id) else { return };
    let own = analyse(tried);
    for remedy in &tries.remedies {
        let Some(brought) = brought(&own, remedy) else { continue };
        let claims = findings.claims.iter_mut();
        let of_it =
            claims.filter(|claim| claim.id == remedy.finding && claim.cells.first() == Some(&remedy.cell));
        for claimed in of_it.filter_map(|claim| claim.remedy.as_mut()).filter(|it| it.change.is_some()) {
            claimed.brought.push(brought.clone());
        }
    }
}

/// With the remedy against without it; `None` where one of the two was not measured.
fn brought(own: &Findings, remedy: &RemedyTrial) -> Option<Brought> {
    let cell = |id: &str| own.cells.iter().find(|cell| cell.id == id);
    let (without, with) = (cell(&remedy.without)?, cell(&remedy.with)?);
    let compared = |effect: &&findings::FactorEffect| {
        (&effect.reference_cell, &effect.cell) == (&remedy.without, &remedy.with)
    };
    Some(Brought {
        cell: remedy.cell.clone(),
        metric: with.metric,
        before: without.value.median,
        after: with.value.median,
        comparison: own.effects.iter().find(compared)?.change,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixtures::Fixture;
    use findings::{Change, Difference, Finding, Remedy, Severity};
    use samples::RemedyTrials;

    /// A run that tried a remedy, which doubled the rate.
    fn tries(of: &Findings) -> RunRecord {
        let mut run = Fixture::new(6);
        run.path("plain", &["wire"]);
        run.stream("plain", &[("remedy", "without")], 1e9);
        run.stream("plain", &[("remedy", "with")], 2e9);
        let remedies = vec![RemedyTrial {
            finding: "offload-off".into(),
            cell: "plain/bulk".into(),
            without: "plain/bulk/remedy=without".into(),
            with: "plain/bulk/remedy=with".into(),
        }];
        run.record.header.tries = Some(RemedyTrials { of: of.run.id.clone(), remedies });
        run.record
    }

    fn with_claim() -> Findings {
        let mut run = Fixture::new(5);
        run.path("plain", &["wire"]).stream("plain", &[], 1e9);
        let mut findings = analyse(&run.record);
        let change = Some(Change::OffloadsOn { devices: vec!["left:eth0".into()] });
        findings.claims = vec![Finding {
            id: "offload-off".into(),
            severity: Severity::Warning,
            claim: String::new(),
            cells: vec!["plain/bulk".into()],
            evidence: Vec::new(),
            caveats: Vec::new(),
            remedy: Some(Remedy { change, ..Remedy::manual(String::new(), Vec::new()) }),
        }];
        findings
    }

    fn brought(findings: &Findings) -> &[Brought] {
        &findings.claims[0].remedy.as_ref().expect("it has one").brought
    }

    #[test]
    fn a_claim_is_told_what_its_remedy_brought_in_its_cell() {
        let mut findings = with_claim();
        let tries = tries(&findings);
        remedy_results(&mut findings, &tries);
        let [brought] = brought(&findings) else { panic!("{:?}", findings.claims) };
        assert_eq!((brought.cell.as_str(), brought.comparison.verdict), ("plain/bulk", Difference::Higher));
        assert!(
            (brought.comparison.ratio - 2.0).abs() < 0.1 && brought.after > 1.8 * brought.before,
            "{brought:?}"
        );
    }

    #[test]
    fn what_was_tried_for_another_run_is_left_alone() {
        let mut findings = with_claim();
        let mut tries = tries(&findings);
        tries.header.tries.as_mut().expect("it tries").of = samples::RunId("another".into());
        remedy_results(&mut findings, &tries);
        assert_eq!(brought(&findings), []);
    }
}
