//! Messages under way: the sender notes each before it leaves, the receiver takes it out when it has come back.
//!
//! An answer says which message it is of, and nothing is made of that number before it is found here: below the
//! number that is sent next, above the oldest that is remembered, and not taken yet. One word a message, no lock. A
//! message finds its place by its number; when more are under way than there are places, the oldest is given up. It
//! does not know the clock.

use std::sync::atomic::{AtomicU64, Ordering};

/// Nothing is noted there.
const EMPTY: u64 = u64::MAX;
/// Bits for how late a message left, in nanoseconds: more than four hours. The rest tells numbers apart that
/// share a place.
const LATE_BITS: u32 = 44;
const LATEST: u64 = (1 << LATE_BITS) - 2;

/// What is under way.
pub(super) struct Window {
    places: Box<[AtomicU64]>,
    /// All numbers below it have been noted.
    next: AtomicU64,
    overrun: AtomicU64,
}

/// What a number means that an answer says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Claim {
    /// The message was under way, and had left so many nanoseconds after its time.
    Taken(u64),
    /// The message had been taken, or had lost its place, before.
    Past,
    /// No message of this number was sent.
    Unsent,
}

impl Window {
    /// Places for at least `count` messages.
    pub(super) fn new(count: usize) -> Self {
        let places = (0..count.next_power_of_two()).map(|_| AtomicU64::new(EMPTY)).collect();
        Self { places, next: AtomicU64::new(0), overrun: AtomicU64::new(0) }
    }

    /// The sender's: message `number`, the next one, leaves `late` nanoseconds after its time.
    #[inline]
    pub(super) fn put(&self, number: u64, late: u64) {
        let word = self.round(number) << LATE_BITS | late.min(LATEST);
        if self.place(number).swap(word, Ordering::AcqRel) != EMPTY {
            self.overrun.fetch_add(1, Ordering::Relaxed);
        }
        self.next.store(number + 1, Ordering::Release);
    }

    /// The receiver's: takes message `number` out, if it is under way.
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
        // The sender may just have noted another one there.
        match place.compare_exchange(word, EMPTY, Ordering::AcqRel, Ordering::Relaxed) {
            Ok(_) => Claim::Taken(word & ((1 << LATE_BITS) - 1)),
            Err(_) => Claim::Past,
        }
    }

    /// The number of the message that is sent next.
    #[inline]
    pub(super) fn next(&self) -> u64 {
        self.next.load(Ordering::Acquire)
    }

    /// The receiver's: how many messages lost their place since it was last asked.
    pub(super) fn overrun(&self) -> u64 {
        self.overrun.swap(0, Ordering::Relaxed)
    }

    #[inline]
    fn place(&self, number: u64) -> &AtomicU64 {
        &self.places[number as usize & (self.places.len() - 1)]
    }

    /// Tells apart what shares a place: numbers in the window differ by less than a whole turn of it.
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
    fn each_message_is_taken_once_with_what_was_noted() {
        let window = Window::new(4);
        window.put(0, 7);
        window.put(1, 0);
        assert_eq!(window.take(1), Claim::Taken(0));
        assert_eq!(window.take(1), Claim::Past);
        assert_eq!(window.take(4), Claim::Unsent, "it shares its place with 0");
        assert_eq!(window.take(0), Claim::Taken(7));
        assert_eq!(window.overrun(), 0);
    }

    #[test]
    fn the_oldest_loses_its_place_and_is_counted_once() {
        let window = Window::new(4);
        (0..6).for_each(|number| window.put(number, number));
        assert_eq!(window.take(0), Claim::Past);
        assert_eq!(window.take(4), Claim::Taken(4));
        assert_eq!(window.overrun(), 2);
        assert_eq!(window.overrun(), 0);
    }

    #[test]
    fn the_largest_numbers_and_times_do_not_look_like_an_empty_place() {
        let window = Window::new(1);
        window.put((1 << 20) - 1, u64::MAX);
        assert_eq!(window.take((1 << 20) - 1), Claim::Taken(LATEST));
    }

    #[test]
    fn no_bit_of_a_number_is_too_high_to_be_looked_at() {
        for bit in 0..u64::BITS {
            let window = Window::new(8);
            (0..=5).for_each(|number| window.put(number, 0));
            let named = 5 ^ 1 << bit;
            let expected = if named < 5 { Claim::Taken(0) } else { Claim::Unsent };
            assert_eq!(window.take(named), expected, "bit {bit}");
            assert_eq!(window.take(5), Claim::Taken(0), "bit {bit}");
        }
    }

    /// Either a message leaves, or an answer says this number.
    fn events() -> impl Strategy<Value = Vec<Option<u64>>> {
        let named =
            prop_oneof![0..40_u64, any::<u64>(), (0..40_u64, 0..64_u32).prop_map(|(of, bit)| of ^ 1 << bit)];
        prop::collection::vec(prop::option::of(named), 0..120)
    }

    proptest! {
        #[test]
        fn an_answer_is_taken_only_of_what_was_sent_and_is_remembered_and_only_once(events in events(), places in 0..5_u32) {
            let window = Window::new(1 << places);
            // What is under way by its number, with how late it left; what was sent is below `next`.
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
