//! Messages under way: the sender notes each before it leaves, the receiver takes it out when it has come back.
//!
//! One word a message, no lock. A message finds its place by its number; when more are under way than there
//! are places, the oldest is given up: an answer to it is not known any more. It does not know the clock.

use std::sync::atomic::{AtomicU64, Ordering};

/// Nothing is noted there.
const EMPTY: u64 = u64::MAX;
/// Bits for how late a message left, in nanoseconds: more than four hours. The rest tells numbers apart that
/// share a place.
const LATE_BITS: u32 = 44;
const LATEST: u64 = (1 << LATE_BITS) - 2;

/// What is under way.
pub(super) struct Ring {
    places: Box<[AtomicU64]>,
    overrun: AtomicU64,
}

impl Ring {
    /// Places for at least `count` messages.
    pub(super) fn new(count: usize) -> Self {
        let places = (0..count.next_power_of_two()).map(|_| AtomicU64::new(EMPTY)).collect();
        Self { places, overrun: AtomicU64::new(0) }
    }

    /// The sender's: message `number` leaves `late` nanoseconds after its time.
    #[inline]
    pub(super) fn put(&self, number: u64, late: u64) {
        let word = self.round(number) << LATE_BITS | late.min(LATEST);
        if self.place(number).swap(word, Ordering::AcqRel) != EMPTY {
            self.overrun.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// The receiver's: how late message `number` left; `None` when it is not under way (any more).
    #[inline]
    pub(super) fn take(&self, number: u64) -> Option<u64> {
        let place = self.place(number);
        let word = place.load(Ordering::Acquire);
        if word == EMPTY || word >> LATE_BITS != self.round(number) {
            return None;
        }
        // The sender may just have noted another one there.
        let taken = place.compare_exchange(word, EMPTY, Ordering::AcqRel, Ordering::Relaxed);
        taken.is_ok().then_some(word & ((1 << LATE_BITS) - 1))
    }

    /// The receiver's: how many messages lost their place since it was last asked.
    pub(super) fn overrun(&self) -> u64 {
        self.overrun.swap(0, Ordering::Relaxed)
    }

    #[inline]
    fn place(&self, number: u64) -> &AtomicU64 {
        &self.places[number as usize & (self.places.len() - 1)]
    }

    #[inline]
    fn round(&self, number: u64) -> u64 {
        (number / self.places.len() as u64) & (u64::MAX >> LATE_BITS)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_message_is_taken_once_with_what_was_noted() {
        let ring = Ring::new(4);
        ring.put(0, 7);
        ring.put(1, 0);
        assert_eq!(ring.take(1), Some(0));
        assert_eq!(ring.take(1), None);
        assert_eq!(ring.take(4), None, "it shares its place with 0");
        assert_eq!(ring.take(0), Some(7));
        assert_eq!(ring.overrun(), 0);
    }

    #[test]
    fn the_oldest_loses_its_place_and_is_counted_once() {
        let ring = Ring::new(4);
        (0..6).for_each(|number| ring.put(number, number));
        assert_eq!(ring.take(0), None);
        assert_eq!(ring.take(4), Some(4));
        assert_eq!(ring.overrun(), 2);
        assert_eq!(ring.overrun(), 0);
    }

    #[test]
    fn the_largest_numbers_and_times_do_not_look_like_an_empty_place() {
        let ring = Ring::new(1);
        ring.put((1 << 20) - 1, u64::MAX);
        assert_eq!(ring.take((1 << 20) - 1), Some(LATEST));
    }
}
