//! Tests that disturbed runs give no verdict.

use findings::ComparisonConclusion;
use samples::Disturber;

use super::*;

fn run(rate: f64, disturbed: u32) -> RunRecord {
    let mut run = Fixture::new(6);
    run.path("plain", &["wire"]).stream("plain", &[], rate).each("plain/bulk", |trial| {
        let by = vec![Disturber { process: Some("stress".into()), cpus: 1.6 }];
        let warning = ValidityWarning::Disturbed { share: 0.8, processes: by };
        trial.warnings.extend((trial.block < disturbed).then_some(warning));
    });
    run.record
}

#[test]
fn disturbed_runs_give_no_verdict() {
    for (a, b, outcome, disturbed) in [
        (run(66e9, 0), run(13e9, 0), GateOutcome::Regressed, ""),
        (run(66e9, 0), run(13e9, 6), GateOutcome::Undecided, "B"),
        (run(13e9, 6), run(13e9, 0), GateOutcome::Undecided, "A"),
        (run(66e9, 0), run(13e9, 1), GateOutcome::Regressed, ""),
    ] {
        let comparison = compare(&a, &b);
        let (verdict, gate) = (&comparison.verdict, gate(&comparison, 0.05));
        let conclusion =
            if disturbed.is_empty() { ComparisonConclusion::Worse } else { ComparisonConclusion::Repeat };
        assert_eq!(verdict.conclusion, conclusion, "{verdict:#?}");
        assert_eq!(verdict.changes.is_empty(), verdict.disturbed.is_some(), "{verdict:#?}");
        assert_eq!(gate.outcome, outcome, "{gate:#?}");
        for open in &gate.undecided {
            let reason = format!(
                "Other work used the CPUs in most trials of {disturbed} (`stress` used up to 1.60 CPUs) "
            );
            assert!(open.reason.starts_with(&reason), "{open:?}");
        }
        assert!(
            comparison.results.iter().all(|result| result.comparison.is_some()),
            "the number is still reported"
        );
    }
}

#[test]
fn only_disturbed_results_are_measured_again() {
    let mut comparison = compare(&run(66e9, 0), &run(13e9, 6));
    let undisturbed = ResultComparison { disturbed: None, ..comparison.results[0].clone() };
    comparison.results.push(undisturbed);
    let verdict = crate::comparison::verdict::verdict(&comparison);
    assert_eq!(verdict.conclusion, ComparisonConclusion::Undecided, "{verdict:#?}");
    assert_eq!(verdict.disturbed.map(|it| it.results), Some(1));
}
