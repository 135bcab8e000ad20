//! The window of messages in flight.
//!
//! A reply is accepted only if the window contains its number. Each message occupies one atomic word, in a slot
//! determined by its number. If more messages are in flight than there are slots, the oldest message is evicted.

use std::sync::atomic::{AtomicU64, Ordering};

const EMPTY: u64 = u64::MAX;
/// Bits for the lateness in nanoseconds, enough for more than four hours.
const LATE_BITS: u32 = 44;
const LATEST: u64 = (1 << LATE_BITS) - 2;

pub(super) struct Window {
    places: Box<[AtomicU64]>,
    next: AtomicU64,
    overrun: AtomicU64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Claim {
    Taken(u64),
    Past,
    Unsent,
}

impl Window {
    pub(super) fn new(count: usize) -> Self {
        let places = (0..count.next_power_of_two()).map(|_| AtomicU64::new(EMPTY)).collect();
        Self { places, next: AtomicU64::new(0), overrun: AtomicU64::new(0) }
    }

    #[inline]
    pub(super) fn put(&self, number: u64, late: u64) {
        let word = self.round(number) << LATE_BITS | late.min(LATEST);
        if self.place(number).swap(word, Ordering::AcqRel) != EMPTY {
            self.overrun.fetch_add(1, Ordering::Relaxed);
        }
        self.next.store(number + 1, Ordering::Release);
    }

    #[inline]
    pub(super) fn take(&self, number: u64) -> Claim {
        let next = self.next();
        if number >= next {
            return Claim::Unsent;
        }
        if next - number > self.places.len() as u64 {
            return Claim::Past;
        }
        let place = self.place(number);
        let word = place.load(Ordering::Acquire);
        if word == EMPTY || word >> LATE_BITS != self.round(number) {
            return Claim::Past;
        }
        match place.compare_exchange(word, EMPTY, Ordering::AcqRel, Ordering::Relaxed) {
            Ok(_) => Claim::Taken(word & ((1 << LATE_BITS) - 1)),
            Err(_) => Claim::Past,
        }
    }

    #[inline]
    pub(super) fn next(&self) -> u64 {
        self.next.load(Ordering::Acquire)
    }

    pub(super) fn overrun(&self) -> u64 {
        self.overrun.swap(0, Ordering::Relaxed)
    }

    #[inline]
    fn place(&self, number: u64) -> &AtomicU64 {
        &self.places[number as usize & (self.places.len() - 1)]
    }

    /// Distinguishes numbers that share a slot. Numbers in the window are less than a full cycle apart.
    #[inline]
    fn round(&self, number: u64) -> u64 {
        (number / self.places.len() as u64) & (u64::MAX >> LATE_BITS)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::*;

    #[test]
    fn takes_each_message_once_with_its_lateness() {
        let window = Window::new(4);
        window.put(0, 7);
        window.put(1, 0);
        assert_eq!(window.take(1), Claim::Taken(0));
        assert_eq!(window.take(1), Claim::Past);
        assert_eq!(window.take(4), Claim::Unsent, "shares its slot with 0");
        assert_eq!(window.take(0), Claim::Taken(7));
        assert_eq!(window.overrun(), 0);
    }

    #[test]
    fn displaces_and_counts_the_oldest() {
        let window = Window::new(4);
        (0..6).for_each(|number| window.put(number, number));
        assert_eq!(window.take(0), Claim::Past);
        assert_eq!(window.take(4), Claim::Taken(4));
        assert_eq!(window.overrun(), 2);
        assert_eq!(window.overrun(), 0);
    }

    #[test]
    fn largest_values_differ_from_an_empty_slot() {
        let window = Window::new(1);
        window.put((1 << 20) - 1, u64::MAX);
        assert_eq!(window.take((1 << 20) - 1), Claim::Taken(LATEST));
    }

    #[test]
    fn compares_all_bits_of_a_number() {
        for bit in 0..u64::BITS {
            let window = Window::new(8);
            (0..=5).for_each(|number| window.put(number, 0));
            let named = 5 ^ 1 << bit;
            let expected = if named < 5 { Claim::Taken(0) } else { Claim::Unsent };
            assert_eq!(window.take(named), expected, "bit {bit}");
            assert_eq!(window.take(5), Claim::Taken(0), "bit {bit}");
        }
    }

    fn events() -> impl Strategy<Value = Vec<Option<u64>>> {
        let named =
            prop_oneof![0..40_u64, any::<u64>(), (0..40_u64, 0..64_u32).prop_map(|(of, bit)| of ^ 1 << bit)];
        prop::collection::vec(prop::option::of(named), 0..120)
    }

    proptest! {
        #[test]
        fn accepts_only_numbers_in_flight_and_only_once(events in events(), places in 0..5_u32) {
            let window = Window::new(1 << places);
            let (mut under_way, mut next, mut overrun) = (BTreeMap::new(), 0, 0);
            for event in events {
                let Some(named) = event else {
                    window.put(next, next * 3);
                    overrun += u64::from(next.checked_sub(1 << places).is_some_and(|old| under_way.remove(&old).is_some()));
                    under_way.insert(next, next * 3);
                    next += 1;
                    continue;
                };
                let expected = match under_way.remove(&named) {
                    Some(late) => Claim::Taken(late),
                    None if named < next => Claim::Past,
                    None => Claim::Unsent,
                };
                prop_assert_eq!(window.take(named), expected, "{} of {}", named, next);
            }
            prop_assert_eq!(window.overrun(), overrun);
        }
    }
}
