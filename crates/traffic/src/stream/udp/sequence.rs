//! Classifies numbered datagrams as lost, reordered, duplicate or stray, and measures jitter.
//!
//! A number at most [`WINDOW`] above the highest so far is accepted. A higher number is accepted if the next one is
//! close to it (RFC 3550, appendix A.1), and is a stray otherwise. Counts are exact as long as datagrams arrive at
//! most [`WINDOW`] numbers late; anything older counts as reordered.

use units::Nanos;
use workload::DatagramSample;

use crate::stream::{interval_sampler::Sampled, series::Reading};

/// The window's bits take 32 KiB, but use only one or two cache lines unless datagrams are reordered.
pub(super) const WINDOW: u64 = 1 << 18;

const BITS: u64 = u64::BITS as u64;

/// The largest plausible difference between two transit times: one minute, in nanoseconds. Anything larger means a
/// changed clock or a corrupt timestamp.
const WILDEST: u64 = 60_000_000_000;

pub(super) struct Arrivals {
    received_bits: Box<[u64]>,
    highest: u64,
    far: Option<Datagram>,
    received: u64,
    reordered: u64,
    duplicates: u64,
    strays: u64,
    unsent: u64,
    jitter: Jitter,
    reported: ReportedCounts,
}

/// Times are in nanoseconds.
#[derive(Debug, Clone, Copy)]
pub(super) struct Datagram {
    pub(super) number: u64,
    pub(super) sent: u64,
    pub(super) now: u64,
    pub(super) bytes: usize,
}

#[derive(Default)]
struct ReportedCounts {
    received: u64,
    reordered: u64,
    duplicates: u64,
    strays: u64,
    lost: i64,
}

impl Arrivals {
    pub(super) fn new() -> Self {
        Self {
            received_bits: vec![0; (WINDOW / BITS) as usize].into(),
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

    #[inline]
    pub(super) fn note(&mut self, datagram: Datagram) -> usize {
        if datagram.number == 0 {
            self.stray();
            return 0;
        }
        if datagram.number > self.highest {
            return self.note_above(datagram);
        }
        self.take(datagram)
    }

    pub(super) const fn stray(&mut self) {
        self.strays += 1;
    }

    /// Takes the number of datagrams that the sender announced. Rejects all higher numbers and returns the payload
    /// that the announcement confirms.
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

    pub(super) fn end(&mut self) {
        self.strays += u64::from(self.far.take().is_some());
    }

    #[inline]
    pub(super) const fn highest(&self) -> u64 {
        self.highest
    }

    #[inline]
    fn note_above(&mut self, datagram: Datagram) -> usize {
        let is_far = datagram.number - self.highest > WINDOW;
        if !is_far && self.far.is_none() {
            return self.take(datagram);
        }
        match self.far.take() {
            Some(far) if is_far && (1..=WINDOW).contains(&far.number.abs_diff(datagram.number)) => {
                self.take(far) + self.take(datagram)
            }
            before => {
                self.strays += u64::from(before.is_some());
                if is_far {
                    self.far = Some(datagram);
                    return 0;
                }
                self.take(datagram)
            }
        }
    }

    #[inline]
    fn take(&mut self, datagram: Datagram) -> usize {
        let Datagram { number, sent, now, bytes } = datagram;
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

    #[inline]
    fn advance(&mut self, number: u64) {
        let gap = number - self.highest - 1;
        if gap >= WINDOW {
            self.received_bits.fill(0);
        } else {
            self.clear(self.highest + 1, number);
        }
        self.highest = number;
        self.set(number);
    }

    fn is_set(&self, number: u64) -> bool {
        self.received_bits[place(number)] & bit(number) != 0
    }

    fn set(&mut self, number: u64) {
        self.received_bits[place(number)] |= bit(number);
    }

    fn clear(&mut self, mut from: u64, to: u64) {
        while from < to {
            if from.is_multiple_of(BITS) && from + BITS <= to {
                self.received_bits[place(from)] = 0;
                from += BITS;
            } else {
                self.received_bits[place(from)] &= !bit(from);
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
        // The subtraction saturates, because the numbers may come from an attacker.
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

/// Jitter as in RFC 3550 (section 6.4.1, with the arithmetic of appendix A.8), in order of arrival.
/// Duplicates and implausible differences are ignored.
#[derive(Default)]
struct Jitter {
    scaled: u64,
    transit: Option<i64>,
}

impl Jitter {
    #[inline]
    fn note(&mut self, sent: u64, now: u64) {
        // Any difference between the clocks cancels out, because only differences between transit times matter.
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
