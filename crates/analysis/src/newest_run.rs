//! What the newest of several runs of a scenario comes to: compared with one of those before it that had not lost. Must not know
//! when they were made, nor who is told.

use findings::{Gate, GateOutcome, RunComparison};
use samples::RunRecord;

use crate::comparison::{comparison_beside, gate};

/// What each run is compared with.
#[derive(Debug, Clone, Copy)]
pub enum Reference<'a> {
    /// So many runs back among those that passed, from 1; the first of them where there are fewer. Until one has passed, among all
    /// that had not lost: a first run that is noisy says nothing of any other.
    Earlier(usize),
    /// One that was chosen. Runs that began before it, the newest left aside, are not compared with it.
    Run(&'a RunRecord),
}

/// What the newest run comes to.
#[derive(Debug, Clone, PartialEq)]
pub struct NewestRun {
    /// Against its reference, and what the gate says of it; `None` where there is none.
    pub compared: Option<(RunComparison, Gate)>,
    /// Whether a loss had been established before it, and no run had passed since.
    pub was_lost: bool,
    /// The same with it.
    pub is_lost: bool,
}

/// Compares each of these runs, the oldest first, with its reference; what the last one comes to.
///
/// A loss that stays is no new level until the runs before it are left out of `records`. Nor is it noise between runs: that is
/// learned from those at which no loss stood.
#[must_use]
pub fn newest_run(records: &[RunRecord], reference: Reference<'_>, most_loss: f64) -> Option<NewestRun> {
    // What may be a reference, and what noise is learned from.
    let (mut references, mut usual): (Vec<&RunRecord>, Vec<&RunRecord>) = (Vec::new(), Vec::new());
    let (mut has_passed, mut newest) = (false, None::<NewestRun>);
    for (place, record) in records.iter().enumerate() {
        let against = match reference {
            Reference::Earlier(back) => references.get(references.len().saturating_sub(back.max(1))).copied(),
            Reference::Run(chosen) => {
                let is_meant = record.header.started > chosen.header.started || place + 1 == records.len();
                Some(chosen).filter(|chosen| is_meant && chosen.header.id != record.header.id)
            }
        };
        let compared = against.map(|against| {
            let contrast = comparison_beside(against, record, &usual);
            let gate = gate(&contrast, most_loss);
            (contrast, gate)
        });
        let was_lost = newest.as_ref().is_some_and(|before| before.is_lost);
        let outcome = compared.as_ref().map(|(_, gate)| gate.outcome);
        let is_lost = match outcome {
            Some(GateOutcome::Lost) => true,
            Some(GateOutcome::CannotTell) => was_lost,
            Some(GateOutcome::Passed) | None => false,
        };
        has_passed |= outcome == Some(GateOutcome::Passed);
        if !is_lost {
            usual.push(record);
            if !has_passed || outcome == Some(GateOutcome::Passed) {
                references.push(record);
            }
        }
        newest = Some(NewestRun { compared, was_lost, is_lost });
    }
    newest
}

#[cfg(test)]
mod tests {
    use samples::{RunId, UnixMillis};

    use super::*;
    use crate::fixtures::Fixture;

    /// Runs of one scenario, each at this share of 10 Gbit/s.
    fn runs(shares: &[f64]) -> Vec<RunRecord> {
        runs_of(8, shares)
    }

    fn runs_of(blocks: u32, shares: &[f64]) -> Vec<RunRecord> {
        let run = |(at, share): (usize, &f64)| {
            let mut fixture = Fixture::new(blocks);
            fixture.path("wire", &["wire"]).stream("wire", &[], share * 10e9);
            let mut record = fixture.record;
            record.header.id = RunId(format!("small-{at}"));
            record.header.scenario.digest = "same".into();
            record.header.started = UnixMillis(record.header.started.0 + at as i64 * 3_600_000);
            record
        };
        shares.iter().enumerate().map(run).collect()
    }

    /// Whether a loss stands after each of the runs, compared so.
    fn lost(shares: &[f64], reference: Reference<'_>) -> Vec<bool> {
        let all = runs(shares);
        let after = |count: usize| newest_run(&all[..count], reference, 0.05).expect("there is one").is_lost;
        (1..=all.len()).map(after).collect()
    }

    #[test]
    fn a_loss_stands_until_a_run_passes_against_what_was_before_it() {
        let shares = [1.0, 1.0, 0.5, 0.5, 0.5, 1.0, 1.0];
        let stands = [false, false, true, true, true, false, false];
        assert_eq!(lost(&shares, Reference::Earlier(1)), stands);
        assert_eq!(lost(&shares, Reference::Earlier(9)), stands, "the first where there are fewer");
    }

    #[test]
    fn the_run_that_lost_is_told_from_those_after_it() {
        let all = runs(&[1.0, 1.0, 0.5, 0.5]);
        let of = |count: usize| newest_run(&all[..count], Reference::Earlier(1), 0.05).expect("there is one");
        assert!(of(1).compared.is_none() && newest_run(&[], Reference::Earlier(1), 0.05).is_none());
        let against =
            |newest: &NewestRun| newest.compared.as_ref().map(|(contrast, _)| contrast.a.id.0.clone());
        for (count, was, is) in [(2, false, false), (3, false, true), (4, true, true)] {
            let newest = of(count);
            assert_eq!((newest.was_lost, newest.is_lost), (was, is), "{count}");
            let reference = if count == 2 { "small-0" } else { "small-1" };
            assert_eq!(against(&newest).as_deref(), Some(reference), "{count}");
        }
    }

    #[test]
    fn a_run_that_tells_nothing_is_a_reference_only_until_one_has_passed() {
        let (few, enough) = (runs_of(1, &[1.0; 4]), runs(&[1.0; 4]));
        for (all, reference) in
            [([&few[0], &enough[1], &enough[2]], "small-1"), ([&enough[0], &enough[1], &few[2]], "small-1")]
        {
            let mut records: Vec<RunRecord> = all.into_iter().cloned().collect();
            records.push(enough[3].clone());
            let newest = newest_run(&records[..3], Reference::Earlier(1), 0.05).expect("there is one");
            assert_eq!(newest.compared.expect("it has a reference").0.a.id.0, reference);
            let newest = newest_run(&records, Reference::Earlier(1), 0.05).expect("there is one");
            let (contrast, gate) = newest.compared.expect("it has a reference");
            let expected = if all[2].header.blocks == 1 { "small-1" } else { "small-2" };
            assert_eq!((contrast.a.id.0.as_str(), gate.outcome), (expected, GateOutcome::Passed));
        }
    }

    #[test]
    fn a_chosen_run_stays_what_others_are_compared_with() {
        let shares = [1.0, 0.98, 0.96, 0.9, 0.88];
        let chosen = runs(&shares).remove(0);
        assert_eq!(lost(&shares, Reference::Run(&chosen)), [false, false, false, true, true]);
    }

    #[test]
    fn what_was_slower_before_a_run_was_chosen_is_no_loss_that_stands() {
        let all = runs(&[0.5, 0.5, 1.0, 0.5, 0.5]);
        let of =
            |count: usize| newest_run(&all[..count], Reference::Run(&all[2]), 0.05).expect("there is one");
        let told: Vec<(bool, bool)> =
            (3..=5).map(of).map(|newest| (newest.was_lost, newest.is_lost)).collect();
        assert_eq!(told, [(false, false), (false, true), (true, true)]);
        assert!(of(1).is_lost, "the newest is compared whenever it began");
    }
}
