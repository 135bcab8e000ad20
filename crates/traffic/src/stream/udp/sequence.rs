//! What became of numbered datagrams: lost, reordered, come twice, strayed, and how unevenly they came.
//!
//! A number is believed that lies at most [`WINDOW`] above the highest one seen. One that lies further above may
//! follow a long gap, or may be none of the stream's: it is believed when the next one lies near it (RFC 3550,
//! appendix A.1), and a stray otherwise.
//!
//! Exact as long as a datagram comes at most [`WINDOW`] numbers after the highest one seen: for those, a bitmap
//! knows whether they came before. One that is older still cannot be told from its duplicate, and counts as
//! reordered. Numbers begin with 1. Pure: numbers and times are handed in.

use units::Nanos;
use workload::DatagramSample;

use crate::stream::{interval_sampler::Sampled, series::Reading};

/// How many numbers below the highest are remembered: 32 KiB of bits, of which a line or two is in use where
/// order is kept.
pub(super) const WINDOW: u64 = 1 << 18;

const BITS: u64 = u64::BITS as u64;

/// No two transits differ by more, in ns: a minute, for which no path holds a packet. More is a clock that was set, or
/// a time that was altered.
const WILDEST: u64 = 60_000_000_000;

/// What a receiver knows.
pub(super) struct Arrivals {
    seen: Box<[u64]>,
    highest: u64,
    /// One that came far above the highest, until the next one tells what it is.
    far: Option<Datagram>,
    received: u64,
    reordered: u64,
    duplicates: u64,
    strays: u64,
    /// Received under numbers that the sender turned out never to have sent.
    unsent: u64,
    jitter: Jitter,
    reported: ReportedCounts,
}

/// A datagram as it came: when it was sent by any clock, and when it came (ns).
#[derive(Debug, Clone, Copy)]
pub(super) struct Datagram {
    pub(super) number: u64,
    pub(super) sent: u64,
    pub(super) now: u64,
    pub(super) bytes: usize,
}

/// What was told by samples.
#[derive(Default)]
struct ReportedCounts {
    received: u64,
    reordered: u64,
    duplicates: u64,
    strays: u64,
    lost: i64,
}

impl Arrivals {
    /// Nothing has come; all its memory is taken at once.
    pub(super) fn new() -> Self {
        Self {
            seen: vec![0; (WINDOW / BITS) as usize].into(),
            highest: 0,
            far: None,
            received: 0,
            reordered: 0,
            duplicates: 0,
            strays: 0,
            unsent: 0,
            jitter: Jitter::default(),
            reported: ReportedCounts::default(),
        }
    }

    /// A datagram came. Returns the bytes that are thereby known to have come for the first time.
    #[inline]
    pub(super) fn note(&mut self, came: Datagram) -> usize {
        if came.number == 0 {
            self.stray();
            return 0;
        }
        if came.number > self.highest {
            return self.note_above(came);
        }
        self.take(came)
    }

    /// Something came that is no datagram of the stream.
    pub(super) const fn stray(&mut self) {
        self.strays += 1;
    }

    /// So many were sent in all: what has a higher number is none of them. Returns the bytes that are thereby known to
    /// have come.
    pub(super) fn announce(&mut self, sent: u64) -> usize {
        let far = self.far.take_if(|far| far.number <= sent);
        let bytes = far.map_or(0, |far| self.take(far));
        let oldest = self.highest.saturating_sub(WINDOW - 1).max(sent + 1);
        let above = (oldest..=self.highest).filter(|number| self.is_set(*number)).count() as u64;
        self.unsent += above;
        self.strays += above;
        self.clear(oldest, self.highest + 1);
        self.highest = sent;
        bytes
    }

    /// Nothing more comes.
    pub(super) fn end(&mut self) {
        self.strays += u64::from(self.far.take().is_some());
    }

    /// The highest number so far.
    #[inline]
    pub(super) const fn highest(&self) -> u64 {
        self.highest
    }

    #[inline]
    fn note_above(&mut self, came: Datagram) -> usize {
        let is_far = came.number - self.highest > WINDOW;
        if !is_far && self.far.is_none() {
            return self.take(came);
        }
        match self.far.take() {
            Some(far) if is_far && (1..=WINDOW).contains(&far.number.abs_diff(came.number)) => {
                self.take(far) + self.take(came)
            }
            before => {
                self.strays += u64::from(before.is_some());
                if is_far {
                    self.far = Some(came);
                    return 0;
                }
                self.take(came)
            }
        }
    }

    /// Counts one whose number is believed.
    #[inline]
    fn take(&mut self, came: Datagram) -> usize {
        let Datagram { number, sent, now, bytes } = came;
        if number > self.highest {
            self.advance(number);
        } else if self.highest - number >= WINDOW {
            self.reordered += 1;
        } else if self.is_set(number) {
            self.duplicates += 1;
            return 0;
        } else {
            self.set(number);
            self.reordered += 1;
        }
        self.received += 1;
        self.jitter.note(sent, now);
        bytes
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
        let Self { received, reordered, duplicates, strays, .. } = *self;
        // Whatever a stranger's numbers say, the difference is one.
        let lost = self.highest.cast_signed().saturating_sub_unsigned(received - self.unsent);
        let now = ReportedCounts { received, reordered, duplicates, strays, lost };
        let before = std::mem::replace(&mut self.reported, now);
        let datagrams = DatagramSample {
            count: received - before.received,
            lost: lost.saturating_sub(before.lost),
            reordered: reordered - before.reordered,
            duplicates: duplicates - before.duplicates,
            strays: strays - before.strays,
            jitter: self.jitter.value(),
        };
        Reading { datagrams: Some(datagrams), ..Reading::default() }
    }
}

/// Interarrival jitter as RFC 3550 estimates it (section 6.4.1, and appendix A.8 for the arithmetic): of
/// datagrams in the order of their arrival, duplicates left out, and differences that no path makes.
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
        if difference <= WILDEST {
            self.scaled = self.scaled + difference - ((self.scaled + 8) >> 4);
        }
    }

    const fn value(&self) -> Nanos {
        Nanos(self.scaled >> 4)
    }
}

#[cfg(test)]
mod tests;
