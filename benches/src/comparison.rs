//! Pairs of measurements, their ratio with a confidence interval, and the target.

use stats::{Estimate, describe, ratio};

use crate::{
    others::Others,
    rounds::{Measured, Taken},
    target::{Target, Verdict},
};

pub(crate) const CONFIDENCE: f64 = 0.95;

#[derive(Debug, Clone, Copy)]
pub(crate) struct Subject {
    pub(crate) name: &'static str,
    pub(crate) what: &'static str,
    pub(crate) units: &'static [&'static str],
}

#[derive(Debug, Clone, Copy)]
pub(crate) struct Pairing {
    pub(crate) ours: &'static str,
    pub(crate) peer: &'static str,
    pub(crate) targets: &'static [Target],
}

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

#[derive(Debug)]
pub(crate) struct Comparison {
    pub(crate) name: &'static str,
    pub(crate) what: &'static str,
    pub(crate) unit: &'static str,
    pub(crate) ours: &'static str,
    pub(crate) peer: &'static str,
    pub(crate) pairs: Vec<(f64, f64)>,
    pub(crate) ratio: Option<Estimate>,
    pub(crate) target: Target,
    pub(crate) extra: Vec<ExtraValue>,
    pub(crate) others: Others,
    pub(crate) our_failure: Option<String>,
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
            extra: ExtraValue::of(ours, peer),
            others,
            our_failure: ours.failure.clone(),
            failure: peer.failure.clone(),
        }
    }

    pub(crate) fn our_spread(&self) -> Option<Spread> {
        Spread::of(self.pairs.iter().map(|(_, ours)| *ours))
    }

    pub(crate) fn peer_spread(&self) -> Option<Spread> {
        Spread::of(self.pairs.iter().map(|(peer, _)| *peer))
    }

    pub(crate) fn unsteady(&self) -> impl Iterator<Item = (&'static str, Spread)> {
        let sides = [(self.ours, self.our_spread()), (self.peer, self.peer_spread())];
        let known = sides.into_iter().filter_map(|(name, spread)| Some((name, spread?)));
        known.filter(|(_, spread)| spread.is_wide())
    }

    pub(crate) fn verdict(&self) -> Verdict {
        match self.ratio {
            None => Verdict::NotMeasured,
            Some(ratio) => self.target.verdict(&ratio),
        }
    }

    pub(crate) fn is_of_the_same_two(&self, other: &Self) -> bool {
        (self.name, self.ours, self.peer) == (other.name, other.ours, other.peer)
    }
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct ExtraValue {
    pub(crate) what: &'static str,
    pub(crate) ours: Option<f64>,
    pub(crate) peer: Option<f64>,
}

impl ExtraValue {
    fn of(ours: &Taken, peer: &Taken) -> Vec<Self> {
        let mut kinds: Vec<&'static str> = Vec::new();
        for (what, _) in ours.rounds.iter().chain(&peer.rounds).flat_map(|measured| &measured.extra) {
            if !kinds.contains(what) {
                kinds.push(what);
            }
        }
        let median = |taken: &Taken, what: &str| {
            let all = taken.rounds.iter().flat_map(|measured| &measured.extra);
            let values: Vec<f64> = all.filter(|(kind, _)| *kind == what).map(|(_, value)| *value).collect();
            describe::median(&values)
        };
        kinds
            .into_iter()
            .map(|what| Self { what, ours: median(ours, what), peer: median(peer, what) })
            .collect()
    }
}

/// Values with a wider spread are probably bimodal. Repetitions differ by a few per cent, or by a quarter if the
/// scheduler places the threads.
const WIDE: f64 = 1.5;

#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Spread {
    pub(crate) median: f64,
    pub(crate) least: f64,
    pub(crate) most: f64,
}

impl Spread {
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
    fn ratio_uses_only_rounds_of_both_contenders() {
        let comparison = of(&[1.0; 6], &[4.0; 5]);
        assert_eq!(comparison.pairs.len(), 5);
        assert!((comparison.ratio.unwrap().value - 0.25).abs() < 1e-12);
        assert_eq!(comparison.verdict(), Verdict::Met);
        assert_eq!(comparison.peer_spread(), Some(Spread { median: 4.0, least: 4.0, most: 4.0 }));
    }

    #[test]
    fn warns_only_about_contender_with_wide_spread() {
        let names = |comparison: Comparison| comparison.unsteady().map(|(name, _)| name).collect::<Vec<_>>();
        assert_eq!(names(of(&[30.0, 33.0, 31.0], &[10.0, 40.0, 31.0])), ["peer"]);
        assert_eq!(names(of(&[1.0, 1.5, 1.2], &[4.0, 4.0, 4.0])), [""; 0]);
        assert_eq!(names(of(&[1.0, 1.6], &[2.0, 5.0])), ["plumb", "peer"]);
    }

    #[test]
    fn no_verdict_without_values_of_the_peer() {
        let comparison = of(&[1.0], &[]);
        assert_eq!((comparison.verdict(), comparison.our_spread()), (Verdict::NotMeasured, None));
    }

    #[test]
    fn few_pairs_are_undecided() {
        assert_eq!(of(&[1.0; 4], &[4.0; 4]).verdict(), Verdict::Unclear);
    }

    #[test]
    fn omits_pairing_with_missing_contender() {
        assert!(compare(&SUBJECT, &[PAIRING], &[taken("plumb", &[1.0])]).is_empty());
    }

    #[test]
    fn additional_values_are_medians() {
        let with = |name, counts: &[f64]| Taken {
            name,
            rounds: counts
                .iter()
                .map(|count| Measured { values: vec![1.0], extra: vec![("retransmits", *count)] })
                .collect(),
            ..Taken::default()
        };
        let rows = compare(&SUBJECT, &[PAIRING], &[with("plumb", &[0.0, 2.0, 1.0]), with("peer", &[9.0])]);
        let expected = ExtraValue { what: "retransmits", ours: Some(1.0), peer: Some(9.0) };
        assert_eq!(rows[0].extra, [expected]);
    }
}
