//! Tests results with failed trials, or trials that stopped early.

use super::*;

fn best_of(plan: &Plan) -> String {
    plan.results[11].id.to_string()
}

/// In every other block, nothing arrives in the best result.
#[test]
fn excludes_result_with_failed_trials() {
    let plan = plan(9, &precisely(Objective::Max));
    let lucky = best_of(&plan);
    let (_, ends) = run_changed(&plan, 9, |trial| {
        if trial.result == lucky && trial.block % 2 == 1 {
            trial.measurement = Measurement::Stream(StreamData { flows: Vec::new() });
        }
    });
    let end = ends.iter().find(|end| end.result == lucky).expect("an end");
    assert_eq!((end.reason, end.trials), (EndReason::Unusable { trials: 1 }, 2));
    let unusable = |end: &&ResultEnd| matches!(end.reason, EndReason::Unusable { .. });
    assert_eq!(ends.iter().filter(unusable).count(), 1, "{ends:?}");
}

#[test]
fn compares_values_if_all_results_have_failed_trials() {
    let plan = plan(12, &precisely(Objective::Max));
    let (_, ends) = run_changed(&plan, 12, |trial| {
        if trial.block == 0 {
            trial.measurement = Measurement::Stream(StreamData { flows: Vec::new() });
        }
    });
    assert!(ends.iter().all(|end| !matches!(end.reason, EndReason::Unusable { .. })), "{ends:?}");
    let best = ends.iter().find(|end| end.result == best_of(&plan)).expect("an end");
    assert!(best.trials >= 5, "{best:?}");
}

/// The worst result reports five times the best value in trials that ran for a tenth of their time.
#[test]
fn ignores_trials_that_stopped_early() {
    let plan = plan(13, &precisely(Objective::Max));
    let short =
        ValidityWarning::OtherDuration { requested: Nanos::from_secs(1), measured: Nanos::from_millis(100) };
    let worst = plan.results[16].id.to_string();
    let (trials, ends) = run_changed(&plan, 13, |trial| {
        if trial.result == worst && trial.block == 0 {
            let Measurement::Stream(stream) = &mut trial.measurement else { panic!("a stream") };
            stream.flows[0].receiver.intervals[0].bytes.0 *= 50;
            trial.warnings = vec![short.clone()];
        }
    });
    let end = |result: &str| ends.iter().find(|end| end.result == result).expect("an end");
    assert_eq!(end(&worst).reason, EndReason::Settled, "by its other trial");
    assert!(matches!(end(&best_of(&plan)).reason, EndReason::Precise { .. }), "{ends:?} {}", trials.len());
}
