//! The doubts of a cell's trials: each kind once, the strongest, with the number of trials that had it.

use samples::ValidityWarning;

use crate::observations::Observations;

/// The doubts of a cell, in the order of their kinds.
pub(crate) fn strongest(cell: &Observations<'_>) -> Vec<(ValidityWarning, u32)> {
    let mut kept: Vec<(ValidityWarning, u32)> = Vec::new();
    for trial in cell.trials() {
        for (doubt, _) in of_trial(&trial.doubts) {
            match kept.iter_mut().find(|(other, _)| kind(other) == kind(&doubt)) {
                Some((other, trials)) => {
                    *trials += 1;
                    if strength(&doubt) > strength(other) {
                        *other = doubt;
                    }
                }
                None => kept.push((doubt, 1)),
            }
        }
    }
    kept.sort_by_key(|(doubt, _)| kind(doubt));
    kept
}

/// One trial counts once for each kind, even where both ends raised it.
fn of_trial(doubts: &[ValidityWarning]) -> Vec<(ValidityWarning, f64)> {
    let mut own: Vec<(ValidityWarning, f64)> = Vec::new();
    for doubt in doubts {
        let strength = strength(doubt);
        match own.iter_mut().find(|(other, _)| kind(other) == kind(doubt)) {
            _ if !strength.is_finite() => {}
            Some(weaker) if weaker.1 < strength => *weaker = (doubt.clone(), strength),
            Some(_) => {}
            None => own.push((doubt.clone(), strength)),
        }
    }
    own
}

fn kind(doubt: &ValidityWarning) -> u8 {
    match doubt {
        ValidityWarning::GeneratorLimited { .. } => 0,
        ValidityWarning::ReceiverLimited { .. } => 1,
        ValidityWarning::Stolen { .. } => 2,
        ValidityWarning::OtherDuration { .. } => 3,
        ValidityWarning::EndsDisagree { .. } => 4,
        ValidityWarning::RateNotKept { .. } => 5,
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

/// Comparable within one kind only.
fn strength(doubt: &ValidityWarning) -> f64 {
    match doubt {
        ValidityWarning::GeneratorLimited { busy, .. } | ValidityWarning::ReceiverLimited { busy, .. } => {
            *busy
        }
        ValidityWarning::Stolen { share } | ValidityWarning::Disturbed { share, .. } => *share,
        ValidityWarning::Stalled { stalled, .. } => stalled.0 as f64,
        ValidityWarning::OtherDuration { asked, measured } => asked.0.abs_diff(measured.0) as f64,
        ValidityWarning::EndsDisagree { sent, received } => sent.0.abs_diff(received.0) as f64,
        ValidityWarning::RateNotKept { asked, got } => asked.0 - got.0,
        ValidityWarning::LateGenerator { lateness, .. } => lateness.0 as f64,
        ValidityWarning::Lossy { lost, of } => *lost as f64 / (*of).max(1) as f64,
        ValidityWarning::Strays { strays, of } => *strays as f64 / (*of).max(1) as f64,
        ValidityWarning::Emulated | ValidityWarning::HalfRoundTrips => 1.0,
        ValidityWarning::Interrupted { asked, measured } => {
            asked.map_or(0.0, |asked| asked.0.abs_diff(measured.0) as f64)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{fixtures::Fixture, observations};
    use units::Bytes;

    fn of(doubts: &[&[ValidityWarning]]) -> Vec<(ValidityWarning, u32)> {
        let mut run = Fixture::new(doubts.len() as u32);
        run.path("plain", &["wire"]).stream("plain", &[], 1e9);
        run.each("plain/bulk", |trial| trial.doubts = doubts[trial.block as usize].to_vec());
        strongest(&observations::gather(&run.record)[0])
    }

    fn generator(end: &str, busy: f64) -> ValidityWarning {
        ValidityWarning::GeneratorLimited { end: end.into(), busy }
    }

    #[test]
    fn each_kind_is_kept_once_with_its_strongest_and_its_number_of_trials() {
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
    fn a_doubt_that_is_no_number_is_dropped() {
        assert_eq!(of(&[&[generator("client", f64::NAN)]]), []);
    }
}
