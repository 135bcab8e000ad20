//! What became of numbered datagrams: lost, reordered, come twice, and how unevenly they came.
//!
//! Exact as long as a datagram comes at most [`WINDOW`] numbers after the highest one seen: for those, a bitmap
//! knows whether they came before. One that is older still cannot be told from its duplicate, and counts as
//! reordered. Numbers begin with 1. Pure: numbers and times are handed in.

use samples::DatagramSample;
use units::Nanos;

use crate::stream::{pulse::Sampled, series::Reading};

/// How many numbers below the highest are remembered: 32 KiB of bits, of which a line or two is in use where
/// order is kept.
pub(super) const WINDOW: u64 = 1 << 18;

const BITS: u64 = u64::BITS as u64;

/// What a receiver knows.
pub(super) struct Arrivals {
    seen: Box<[u64]>,
    highest: u64,
    received: u64,
    reordered: u64,
    duplicates: u64,
    jitter: Jitter,
    told: Told,
}

/// What was told by samples.
#[derive(Default)]
struct Told {
    received: u64,
    reordered: u64,
    duplicates: u64,
    lost: i64,
}

impl Arrivals {
    /// Nothing has come; all its memory is taken at once.
    pub(super) fn new() -> Self {
        let seen = vec![0; (WINDOW / BITS) as usize].into();
        let (highest, received, reordered, duplicates) = (0, 0, 0, 0);
        Self {
            seen,
            highest,
            received,
            reordered,
            duplicates,
            jitter: Jitter::default(),
            told: Told::default(),
        }
    }

    /// Datagram `number`, sent at `sent` by any clock, came at `now` (ns). False if it had come before.
    #[inline]
    pub(super) fn note(&mut self, number: u64, sent: u64, now: u64) -> bool {
        if number > self.highest {
            self.advance(number);
        } else if self.highest - number >= WINDOW {
            self.reordered += 1;
        } else if self.is_set(number) {
            self.duplicates += 1;
            return false;
        } else {
            self.set(number);
            self.reordered += 1;
        }
        self.received += 1;
        self.jitter.note(sent, now);
        true
    }

    /// So many were sent in all.
    pub(super) fn announce(&mut self, sent: u64) {
        self.highest = self.highest.max(sent);
    }

    /// The highest number so far.
    #[inline]
    pub(super) const fn highest(&self) -> u64 {
        self.highest
    }

    /// Forgets the numbers between the highest one and this, and sets it.
    #[inline]
    fn advance(&mut self, number: u64) {
        let gap = number - self.highest - 1;
        if gap >= WINDOW {
            self.seen.fill(0);
        } else {
            self.clear(self.highest + 1, number);
        }
        self.highest = number;
        self.set(number);
    }

    fn is_set(&self, number: u64) -> bool {
        self.seen[place(number)] & bit(number) != 0
    }

    fn set(&mut self, number: u64) {
        self.seen[place(number)] |= bit(number);
    }

    fn clear(&mut self, mut from: u64, to: u64) {
        while from < to {
            if from.is_multiple_of(BITS) && from + BITS <= to {
                self.seen[place(from)] = 0;
                from += BITS;
            } else {
                self.seen[place(from)] &= !bit(from);
                from += 1;
            }
        }
    }
}

fn place(number: u64) -> usize {
    (number % WINDOW / BITS) as usize
}

const fn bit(number: u64) -> u64 {
    1 << (number % BITS)
}

impl Sampled for Arrivals {
    fn begin(&mut self) {}

    fn sample(&mut self) -> Reading {
        let Self { received, reordered, duplicates, .. } = *self;
        let lost = self.highest.cast_signed() - received.cast_signed();
        let before = std::mem::replace(&mut self.told, Told { received, reordered, duplicates, lost });
        let datagrams = DatagramSample {
            count: received - before.received,
            lost: lost - before.lost,
            reordered: reordered - before.reordered,
            duplicates: duplicates - before.duplicates,
            jitter: self.jitter.value(),
        };
        Reading { datagrams: Some(datagrams), ..Reading::default() }
    }
}

/// Interarrival jitter as RFC 3550 estimates it (section 6.4.1, and appendix A.8 for the arithmetic): of
/// datagrams in the order of their arrival, duplicates left out.
#[derive(Default)]
struct Jitter {
    /// Sixteen times the estimate, in ns.
    scaled: u64,
    transit: Option<i64>,
}

impl Jitter {
    #[inline]
    fn note(&mut self, sent: u64, now: u64) {
        // The clocks may differ by anything; only differences of the differences count.
        let transit = now.wrapping_sub(sent).cast_signed();
        let before = self.transit.replace(transit).unwrap_or(transit);
        let difference = transit.wrapping_sub(before).unsigned_abs();
        self.scaled = self.scaled + difference - ((self.scaled + 8) >> 4);
    }

    const fn value(&self) -> Nanos {
        Nanos(self.scaled >> 4)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn totals(arrivals: &mut Arrivals) -> DatagramSample {
        arrivals.sample().datagrams.expect("always")
    }

    fn after(numbers: &[u64]) -> DatagramSample {
        let mut arrivals = Arrivals::new();
        numbers.iter().for_each(|&number| {
            arrivals.note(number, 0, 0);
        });
        totals(&mut arrivals)
    }

    fn check(numbers: &[u64], (count, lost, reordered, duplicates): (u64, i64, u64, u64)) {
        let expected = DatagramSample { count, lost, reordered, duplicates, jitter: Nanos(0) };
        assert_eq!(after(numbers), expected, "{numbers:?}");
    }

    #[test]
    fn every_kind_of_mishap_is_counted_as_itself() {
        check(&[1, 2, 3], (3, 0, 0, 0));
        check(&[1, 3], (2, 1, 0, 0));
        check(&[2], (1, 1, 0, 0));
        check(&[1, 3, 2], (3, 0, 1, 0));
        check(&[1, 2, 2, 3], (3, 0, 0, 1));
        check(&[3, 2, 1, 1, 3], (3, 0, 2, 2));
        check(&[1, WINDOW + 1, 2, 1], (4, WINDOW.cast_signed() - 3, 2, 0));
        check(&[1, 2 * WINDOW, WINDOW + 1, WINDOW + 1], (3, 2 * WINDOW.cast_signed() - 3, 1, 1));
        check(&[WINDOW, 2 * WINDOW, WINDOW + 7], (3, 2 * WINDOW.cast_signed() - 3, 1, 0));
    }

    #[test]
    fn a_late_one_makes_good_what_was_counted_as_lost_before() {
        let mut arrivals = Arrivals::new();
        for number in [1, 4, 5] {
            arrivals.note(number, 0, 0);
        }
        assert_eq!(totals(&mut arrivals).lost, 2);
        arrivals.note(3, 0, 0);
        assert_eq!(totals(&mut arrivals).lost, -1);
        arrivals.announce(9);
        assert_eq!(totals(&mut arrivals).lost, 4);
    }

    #[test]
    fn jitter_is_that_of_rfc_3550() {
        let mut jitter = Jitter::default();
        let (mut expected, mut before) = (0.0, None);
        for (number, delay) in (0_u64..).zip([500, 900, 400, 400, 2000, 100, 800].map(|us| us * 1000)) {
            let sent = number * 1_000_000;
            jitter.note(sent, sent + delay + 77_000_000_000);
            let difference = before.map_or(0.0, |before: u64| delay.abs_diff(before) as f64);
            expected += (difference - expected) / 16.0;
            before = Some(delay);
        }
        assert!((jitter.value().0 as f64 - expected).abs() < 10.0, "{} {expected}", jitter.value());
    }

    #[test]
    fn a_constant_delay_is_no_jitter_whatever_the_clocks_show() {
        let mut jitter = Jitter::default();
        for number in 0..100_u64 {
            jitter.note(u64::MAX / 2 + number * 1000, number * 1000 + 5);
        }
        assert_eq!(jitter.value(), Nanos(0));
    }

    /// What happens to each of a few hundred datagrams: dropped, or sent so many times, each late by so much.
    fn fates() -> impl Strategy<Value = Vec<Vec<u64>>> {
        let late = prop_oneof![4 => Just(0_u64), 1 => 0..300_u64, 1 => 0..WINDOW / 400];
        prop::collection::vec(prop::collection::vec(late, 0..3), 1..400)
    }

    proptest! {
        #[test]
        fn any_drops_swaps_and_duplicates_are_counted_exactly(fates in fates(), spread in 1..600_u64) {
            // Numbers lie apart, as if those between had been lost.
            let numbered = (1..).map(|number: u64| number * spread).zip(&fates);
            let mut order: Vec<(u64, u64)> =
                numbered.flat_map(|(number, fate)| fate.iter().map(move |late| (number + late * spread, number))).collect();
            order.sort_by_key(|(at, _)| *at);
            let order: Vec<u64> = order.into_iter().map(|(_, number)| number).collect();

            let (mut highest, mut came) = (0, std::collections::BTreeSet::new());
            let (mut reordered, mut duplicates) = (0, 0);
            for &number in &order {
                prop_assume!(highest < number + WINDOW);
                match came.insert(number) {
                    false => duplicates += 1,
                    true if number < highest => reordered += 1,
                    true => {}
                }
                highest = highest.max(number);
            }
            let sent = fates.len() as u64 * spread;
            let mut arrivals = Arrivals::new();
            for number in order {
                arrivals.note(number, 0, 0);
            }
            arrivals.announce(sent);
            let expected = DatagramSample {
                count: came.len() as u64,
                lost: sent.cast_signed() - came.len() as i64,
                reordered,
                duplicates,
                jitter: Nanos(0),
            };
            prop_assert_eq!(totals(&mut arrivals), expected);
        }
    }
}
