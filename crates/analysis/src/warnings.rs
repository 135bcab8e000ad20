//! Collects the warnings of a result's trials: the strongest warning of each kind, with the number of affected
//! trials.

use samples::ValidityWarning;

use crate::observations::Observations;

pub(crate) fn strongest(result: &Observations<'_>) -> Vec<(ValidityWarning, u32)> {
    let mut kept: Vec<(ValidityWarning, u32)> = Vec::new();
    for trial in result.trials() {
        for (warning, _) in of_trial(&trial.warnings) {
            match kept.iter_mut().find(|(other, _)| kind(other) == kind(&warning)) {
                Some((other, trials)) => {
                    *trials += 1;
                    if strength(&warning) > strength(other) {
                        *other = warning;
                    }
                }
                None => kept.push((warning, 1)),
            }
        }
    }
    kept.sort_by_key(|(warning, _)| kind(warning));
    kept
}

/// Counts a trial once per kind of warning, even if both ends reported it.
fn of_trial(warnings: &[ValidityWarning]) -> Vec<(ValidityWarning, f64)> {
    let mut own: Vec<(ValidityWarning, f64)> = Vec::new();
    for warning in warnings {
        let strength = strength(warning);
        match own.iter_mut().find(|(other, _)| kind(other) == kind(warning)) {
            _ if !strength.is_finite() => {}
            Some(weaker) if weaker.1 < strength => *weaker = (warning.clone(), strength),
            Some(_) => {}
            None => own.push((warning.clone(), strength)),
        }
    }
    own
}

fn kind(warning: &ValidityWarning) -> u8 {
    match warning {
        ValidityWarning::GeneratorLimited { .. } => 0,
        ValidityWarning::ReceiverLimited { .. } => 1,
        ValidityWarning::Stolen { .. } => 2,
        ValidityWarning::OtherDuration { .. } => 3,
        ValidityWarning::EndsDisagree { .. } => 4,
        ValidityWarning::RateNotReached { .. } => 5,
        ValidityWarning::LateGenerator { .. } => 6,
        ValidityWarning::Lossy { .. } => 7,
        ValidityWarning::Interrupted { .. } => 8,
        ValidityWarning::Emulated => 9,
        ValidityWarning::Strays { .. } => 10,
        ValidityWarning::Disturbed { .. } => 11,
        ValidityWarning::Stalled { .. } => 12,
        ValidityWarning::HalfRoundTrips => 13,
    }
}

/// Returns a number that is comparable only between warnings of one kind.
fn strength(warning: &ValidityWarning) -> f64 {
    match warning {
        ValidityWarning::GeneratorLimited { busy, .. } | ValidityWarning::ReceiverLimited { busy, .. } => {
            *busy
        }
        ValidityWarning::Stolen { share } | ValidityWarning::Disturbed { share, .. } => *share,
        ValidityWarning::Stalled { stalled, .. } => stalled.0 as f64,
        ValidityWarning::OtherDuration { requested, measured } => requested.0.abs_diff(measured.0) as f64,
        ValidityWarning::EndsDisagree { sent, received } => sent.0.abs_diff(received.0) as f64,
        ValidityWarning::RateNotReached { requested, achieved } => requested.0 - achieved.0,
        ValidityWarning::LateGenerator { lateness, .. } => lateness.0 as f64,
        ValidityWarning::Lossy { lost, total } => *lost as f64 / (*total).max(1) as f64,
        ValidityWarning::Strays { strays, total } => *strays as f64 / (*total).max(1) as f64,
        ValidityWarning::Emulated | ValidityWarning::HalfRoundTrips => 1.0,
        ValidityWarning::Interrupted { requested, measured } => {
            requested.map_or(0.0, |requested| requested.0.abs_diff(measured.0) as f64)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{fixtures::Fixture, observations};
    use units::Bytes;

    fn of(warnings: &[&[ValidityWarning]]) -> Vec<(ValidityWarning, u32)> {
        let mut run = Fixture::new(warnings.len() as u32);
        run.path("plain", &["wire"]).stream("plain", &[], 1e9);
        run.each("plain/bulk", |trial| trial.warnings = warnings[trial.block as usize].to_vec());
        strongest(&observations::gather(&run.record)[0])
    }

    fn generator(end: &str, busy: f64) -> ValidityWarning {
        ValidityWarning::GeneratorLimited { end: end.into(), busy }
    }

    #[test]
    fn lists_each_kind_once_with_strongest_instance_and_count() {
        let disagree = ValidityWarning::EndsDisagree { sent: Bytes(10), received: Bytes(4) };
        assert_eq!(
            of(&[
                &[disagree.clone(), generator("client", 0.96)],
                &[generator("client", 0.97), generator("server", 0.99)],
                &[ValidityWarning::Stolen { share: 0.1 }],
                &[],
            ]),
            [(generator("server", 0.99), 2), (ValidityWarning::Stolen { share: 0.1 }, 1), (disagree, 1)]
        );
    }

    #[test]
    fn drops_warnings_with_nan() {
        assert_eq!(of(&[&[generator("client", f64::NAN)]]), []);
    }
}
