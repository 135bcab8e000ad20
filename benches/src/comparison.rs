//! What a comparison says: pairs of measurements, their ratio with its interval, and the target beside it.
//!
//! It must not know how the measurements were taken or how they are shown.

use stats::{Estimate, describe, ratio};

use crate::{
    others::Others,
    rounds::{Measured, Taken},
    target::{Target, Verdict},
};

/// The confidence that intervals are asked for.
pub(crate) const CONFIDENCE: f64 = 0.95;

/// What the contenders of a bench do, and what is taken of it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Subject {
    /// The bench.
    pub(crate) name: &'static str,
    /// What is done.
    pub(crate) what: &'static str,
    /// The units of a contender's values, in their order.
    pub(crate) units: &'static [&'static str],
}

/// Who is compared with whom, by their names, and where the ratio of each value should be.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Pairing {
    /// Who stands for plumb.
    pub(crate) ours: &'static str,
    /// Against whom.
    pub(crate) peer: &'static str,
    /// A target a value.
    pub(crate) targets: &'static [Target],
}

/// Every value of every pairing whose contenders are both in `taken`.
pub(crate) fn compare(subject: &Subject, pairings: &[Pairing], taken: &[Taken]) -> Vec<Comparison> {
    let find = |name: &str| taken.iter().find(|taken| taken.name == name);
    let of_pairing = |pairing: &Pairing| {
        let (ours, peer) = (find(pairing.ours)?, find(pairing.peer)?);
        let target = |which: usize| pairing.targets.get(which).copied().unwrap_or(Target::NONE);
        let row = |which| Comparison::new(subject, (ours, peer), which, target(which));
        Some((0..subject.units.len()).map(row).collect::<Vec<_>>())
    };
    pairings.iter().filter_map(of_pairing).flatten().collect()
}

/// One value of plumb against one peer.
#[derive(Debug)]
pub(crate) struct Comparison {
    /// The bench.
    pub(crate) name: &'static str,
    /// What was done.
    pub(crate) what: &'static str,
    /// The unit of the values.
    pub(crate) unit: &'static str,
    /// Who stands for plumb.
    pub(crate) ours: &'static str,
    /// Against whom.
    pub(crate) peer: &'static str,
    /// The peer's value and ours, a pair a round.
    pub(crate) pairs: Vec<(f64, f64)>,
    /// Ours over the peer's; `None` without pairs.
    pub(crate) ratio: Option<Estimate>,
    /// Where the ratio should be.
    pub(crate) target: Target,
    /// What a reader must see beside the values.
    pub(crate) beside: Vec<Beside>,
    /// What else the machine did while the two worked.
    pub(crate) others: Others,
    /// Why plumb has no value, or fewer than there were rounds.
    pub(crate) our_failure: Option<String>,
    /// Why the peer has none, or fewer.
    pub(crate) failure: Option<String>,
}

impl Comparison {
    fn new(subject: &Subject, (ours, peer): (&Taken, &Taken), which: usize, target: Target) -> Self {
        let value = |measured: &Measured| measured.values.get(which).copied();
        let rounds = peer.rounds.iter().zip(&ours.rounds);
        let pairs: Vec<_> = rounds.filter_map(|(peer, ours)| Some((value(peer)?, value(ours)?))).collect();
        let mut others = ours.others;
        others += peer.others;
        Self {
            name: subject.name,
            what: subject.what,
            unit: subject.units[which],
            ours: ours.name,
            peer: peer.name,
            ratio: ratio::paired_ratio(&pairs, CONFIDENCE),
            pairs,
            target,
            beside: Beside::of(ours, peer),
            others,
            our_failure: ours.failure.clone(),
            failure: peer.failure.clone(),
        }
    }

    /// Our values, and how they scatter.
    pub(crate) fn our_spread(&self) -> Option<Spread> {
        Spread::of(self.pairs.iter().map(|(_, ours)| *ours))
    }

    /// The peer's values, and how they scatter.
    pub(crate) fn peer_spread(&self) -> Option<Spread> {
        Spread::of(self.pairs.iter().map(|(peer, _)| *peer))
    }

    /// The sides whose values are so far apart that their middle stands for none of them, by name.
    pub(crate) fn unsteady(&self) -> impl Iterator<Item = (&'static str, Spread)> {
        let sides = [(self.ours, self.our_spread()), (self.peer, self.peer_spread())];
        let known = sides.into_iter().filter_map(|(name, spread)| Some((name, spread?)));
        known.filter(|(_, spread)| spread.is_wide())
    }

    /// Whether the target is reached, as far as the interval can tell.
    pub(crate) fn verdict(&self) -> Verdict {
        match self.ratio {
            None => Verdict::NotMeasured,
            Some(ratio) => self.target.verdict(&ratio),
        }
    }

    /// Whether `other` has the same two contenders in the same bench.
    pub(crate) fn is_of_the_same_two(&self, other: &Self) -> bool {
        (self.name, self.ours, self.peer) == (other.name, other.ours, other.peer)
    }
}

/// Something both sides have beside their values: medians of the rounds; `None` where one does not tell.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Beside {
    /// What it is.
    pub(crate) what: &'static str,
    /// How much of it plumb had.
    pub(crate) ours: Option<f64>,
    /// And the peer.
    pub(crate) peer: Option<f64>,
}

impl Beside {
    fn of(ours: &Taken, peer: &Taken) -> Vec<Self> {
        let mut kinds: Vec<&'static str> = Vec::new();
        for (what, _) in ours.rounds.iter().chain(&peer.rounds).flat_map(|measured| &measured.beside) {
            if !kinds.contains(what) {
                kinds.push(what);
            }
        }
        let median = |taken: &Taken, what: &str| {
            let all = taken.rounds.iter().flat_map(|measured| &measured.beside);
            let values: Vec<f64> = all.filter(|(kind, _)| *kind == what).map(|(_, value)| *value).collect();
            describe::median(&values)
        };
        kinds
            .into_iter()
            .map(|what| Self { what, ours: median(ours, what), peer: median(peer, what) })
            .collect()
    }
}

/// The largest value over the smallest, from which on the values of one contender are not of one kind: at equal work
/// and settings they scatter by some per cent, and by a quarter where the scheduler places the threads.
const WIDE: f64 = 1.5;

/// Median, smallest and largest value.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Spread {
    pub(crate) median: f64,
    pub(crate) least: f64,
    pub(crate) most: f64,
}

impl Spread {
    /// The largest value over the smallest.
    pub(crate) fn width(&self) -> f64 {
        self.most / self.least
    }

    fn is_wide(&self) -> bool {
        self.width() > WIDE
    }

    fn of(values: impl Iterator<Item = f64>) -> Option<Self> {
        let values: Vec<f64> = values.collect();
        let end = |of: fn(f64, f64) -> f64| values.iter().copied().reduce(of);
        Some(Self { median: describe::median(&values)?, least: end(f64::min)?, most: end(f64::max)? })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SUBJECT: Subject = Subject { name: "a", what: "b", units: &["ms"] };
    const PAIRING: Pairing = Pairing { ours: "plumb", peer: "peer", targets: &[Target::at_most(0.5)] };

    fn taken(name: &'static str, values: &[f64]) -> Taken {
        let rounds = values.iter().map(|value| vec![*value].into()).collect();
        Taken { name, rounds, ..Taken::default() }
    }

    fn of(ours: &[f64], peer: &[f64]) -> Comparison {
        compare(&SUBJECT, &[PAIRING], &[taken("peer", peer), taken("plumb", ours)]).remove(0)
    }

    #[test]
    fn the_ratio_is_ours_over_the_peers_and_only_rounds_of_both_count() {
        let comparison = of(&[1.0; 6], &[4.0; 5]);
        assert_eq!(comparison.pairs.len(), 5);
        assert!((comparison.ratio.unwrap().value - 0.25).abs() < 1e-12);
        assert_eq!(comparison.verdict(), Verdict::Met);
        assert_eq!(comparison.peer_spread(), Some(Spread { median: 4.0, least: 4.0, most: 4.0 }));
    }

    #[test]
    fn a_side_whose_values_are_far_apart_is_doubted_and_the_other_is_not() {
        let names = |comparison: Comparison| comparison.unsteady().map(|(name, _)| name).collect::<Vec<_>>();
        assert_eq!(names(of(&[30.0, 33.0, 31.0], &[10.0, 40.0, 31.0])), ["peer"]);
        assert_eq!(names(of(&[1.0, 1.5, 1.2], &[4.0, 4.0, 4.0])), [""; 0]);
        assert_eq!(names(of(&[1.0, 1.6], &[2.0, 5.0])), ["plumb", "peer"]);
    }

    #[test]
    fn a_peer_without_values_has_no_verdict() {
        let comparison = of(&[1.0], &[]);
        assert_eq!((comparison.verdict(), comparison.our_spread()), (Verdict::NotMeasured, None));
    }

    #[test]
    fn a_few_pairs_prove_nothing_however_clear_they_look() {
        assert_eq!(of(&[1.0; 4], &[4.0; 4]).verdict(), Verdict::Unclear);
    }

    #[test]
    fn a_pairing_with_an_absent_contender_is_left_out() {
        assert!(compare(&SUBJECT, &[PAIRING], &[taken("plumb", &[1.0])]).is_empty());
    }

    #[test]
    fn what_stands_beside_is_the_median_of_each_side() {
        let with = |name, counts: &[f64]| Taken {
            name,
            rounds: counts
                .iter()
                .map(|count| Measured { values: vec![1.0], beside: vec![("retransmits", *count)] })
                .collect(),
            ..Taken::default()
        };
        let rows = compare(&SUBJECT, &[PAIRING], &[with("plumb", &[0.0, 2.0, 1.0]), with("peer", &[9.0])]);
        let expected = Beside { what: "retransmits", ours: Some(1.0), peer: Some(9.0) };
        assert_eq!(rows[0].beside, [expected]);
    }
}
