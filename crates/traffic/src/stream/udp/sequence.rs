//! What became of numbered datagrams: lost, reordered, come twice, and how unevenly they came.
//!
//! Exact as long as a datagram comes at most [`WINDOW`] numbers after the highest one seen: for those, a bitmap
//! knows whether they came before. One that is older still cannot be told from its duplicate, and counts as
//! reordered. Numbers begin with 1. Pure: numbers and times are handed in.

use units::Nanos;
use workload::DatagramSample;

use crate::stream::{pulse::Sampled, series::Reading};

/// How many numbers below the highest are remembered: 32 KiB of bits, of which a line or two is in use where
/// order is kept.
pub(super) const WINDOW: u64 = 1 << 18;

const BITS: u64 = u64::BITS as u64;

/// No two transits differ by more, in ns (18 years): sixteen times as much, which the estimate may come to, fits.
const WILDEST: u64 = u64::MAX >> 5;

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
        // Whatever a stranger's numbers say, the difference is one.
        let lost = self.highest.cast_signed().saturating_sub_unsigned(received);
        let before = std::mem::replace(&mut self.told, Told { received, reordered, duplicates, lost });
        let datagrams = DatagramSample {
            count: received - before.received,
            lost: lost.saturating_sub(before.lost),
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
        let difference = transit.wrapping_sub(before).unsigned_abs().min(WILDEST);
        self.scaled = self.scaled + difference - ((self.scaled + 8) >> 4);
    }

    const fn value(&self) -> Nanos {
        Nanos(self.scaled >> 4)
    }
}

#[cfg(test)]
mod tests;
