//! The doubts of a cell's trials: each kind once, the strongest, with the number of trials that had it.

use samples::Doubt;

use crate::measured::Measured;

/// The doubts of a cell, in the order of their kinds.
pub(crate) fn strongest(cell: &Measured<'_>) -> Vec<(Doubt, u32)> {
    let mut kept: Vec<(Doubt, u32)> = Vec::new();
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
fn of_trial(doubts: &[Doubt]) -> Vec<(Doubt, f64)> {
    let mut own: Vec<(Doubt, f64)> = Vec::new();
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

fn kind(doubt: &Doubt) -> u8 {
    match doubt {
        Doubt::GeneratorLimited { .. } => 0,
        Doubt::ReceiverLimited { .. } => 1,
        Doubt::Stolen { .. } => 2,
        Doubt::OtherDuration { .. } => 3,
        Doubt::EndsDisagree { .. } => 4,
        Doubt::RateNotKept { .. } => 5,
        Doubt::LateGenerator { .. } => 6,
        Doubt::Lossy { .. } => 7,
        Doubt::Interrupted { .. } => 8,
        Doubt::Emulated => 9,
        Doubt::Strays { .. } => 10,
    }
}

/// Comparable within one kind only.
fn strength(doubt: &Doubt) -> f64 {
    match doubt {
        Doubt::GeneratorLimited { busy, .. } | Doubt::ReceiverLimited { busy, .. } => *busy,
        Doubt::Stolen { share } => *share,
        Doubt::OtherDuration { asked, measured } => asked.0.abs_diff(measured.0) as f64,
        Doubt::EndsDisagree { sent, received } => sent.0.abs_diff(received.0) as f64,
        Doubt::RateNotKept { asked, got } => asked.0 - got.0,
        Doubt::LateGenerator { lateness, .. } => lateness.0 as f64,
        Doubt::Lossy { lost, of } => *lost as f64 / (*of).max(1) as f64,
        Doubt::Strays { strays, of } => *strays as f64 / (*of).max(1) as f64,
        Doubt::Emulated => 1.0,
        Doubt::Interrupted { asked, measured } => {
            asked.map_or(0.0, |asked| asked.0.abs_diff(measured.0) as f64)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{fixtures::Fixture, measured};
    use units::Bytes;

    fn of(doubts: &[&[Doubt]]) -> Vec<(Doubt, u32)> {
        let mut run = Fixture::new(doubts.len() as u32);
        run.path("plain", &["wire"]).stream("plain", &[], 1e9);
        run.each("plain/bulk", |trial| trial.doubts = doubts[trial.block as usize].to_vec());
        strongest(&measured::gather(&run.record)[0])
    }

    fn generator(end: &str, busy: f64) -> Doubt {
        Doubt::GeneratorLimited { end: end.into(), busy }
    }

    #[test]
    fn each_kind_is_kept_once_with_its_strongest_and_its_number_of_trials() {
        let disagree = Doubt::EndsDisagree { sent: Bytes(10), received: Bytes(4) };
        assert_eq!(
            of(&[
                &[disagree.clone(), generator("client", 0.96)],
                &[generator("client", 0.97), generator("server", 0.99)],
                &[Doubt::Stolen { share: 0.1 }],
                &[],
            ]),
            [(generator("server", 0.99), 2), (Doubt::Stolen { share: 0.1 }, 1), (disagree, 1)]
        );
    }

    #[test]
    fn a_doubt_that_is_no_number_is_dropped() {
        assert_eq!(of(&[&[generator("client", f64::NAN)]]), []);
    }
}
