//! In whose hand each block of a guest's memory is: the guest's, or the host's. A block is in one hand. Pure, so that every order
//! of messages can be tried.

use std::collections::BTreeSet;

/// A block, in bytes: a huge page of x86-64.
pub(crate) const BLOCK: u64 = 2 << 20;

/// The blocks that are in the host's hand, by where they lie in the file behind the memory, in the order in which they were handed
/// over.
#[derive(Debug, Clone, Default)]
pub(crate) struct Ownership {
    stack: Vec<u64>,
    places: BTreeSet<u64>,
}

impl Ownership {
    /// How many blocks are in the host's hand.
    pub(crate) fn held(&self) -> u64 {
        self.stack.len() as u64
    }

    /// Takes the block at `address` of the guest's physical memory, which the guest hands over; `offset` is where it lies in the
    /// file, if it is the guest's at all.
    ///
    /// # Errors
    /// What is wrong with it.
    pub(crate) fn take(&mut self, address: u64, offset: Option<u64>) -> Result<u64, &'static str> {
        if !address.is_multiple_of(BLOCK) {
            return Err("which is no beginning of a block of 2 MiB");
        }
        let offset = offset.ok_or("which is no memory of this machine's")?;
        if !offset.is_multiple_of(BLOCK) {
            return Err("which does not lie in one block of the memory behind it");
        }
        if !self.places.insert(offset) {
            return Err("which it has handed over already");
        }
        self.stack.push(offset);
        Ok(offset)
    }

    /// Gives the guest back what it handed over last; fewer blocks where fewer are held.
    pub(crate) fn give_back(&mut self, blocks: u64) -> Vec<u64> {
        let keep = self.stack.len().saturating_sub(usize::try_from(blocks).unwrap_or(usize::MAX));
        let given = self.stack.split_off(keep);
        for offset in &given {
            self.places.remove(offset);
        }
        given
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    /// What may come, in any order.
    #[derive(Debug, Clone)]
    enum Message {
        /// A block of the guest's, honest or not: the number of a place, and what is wrong with the address.
        Take(u64, u64),
        GiveBack(u64),
    }

    const PLACES: u64 = 24;

    fn message() -> impl Strategy<Value = Message> {
        prop_oneof![
            8 => (0..PLACES + 4, prop_oneof![6 => Just(0), 1 => 1..BLOCK]).prop_map(|(at, off)| Message::Take(at, off)),
            4 => (0..6_u64).prop_map(Message::GiveBack),
        ]
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2_000))]

        /// The guest's hand is told apart by a set of its own: in each state every place is in exactly one.
        #[test]
        fn no_block_is_in_two_hands_and_none_is_lost(messages in proptest::collection::vec(message(), 1..80)) {
            let mut host = Ownership::default();
            let mut guest: BTreeSet<u64> = (0..PLACES).collect();
            for message in messages {
                match message {
                    Message::Take(at, off) => {
                        let address = at * BLOCK + off;
                        let offset = (at < PLACES).then_some(address);
                        let is_honest = off == 0 && guest.contains(&at);
                        prop_assert_eq!(host.take(address, offset).is_ok(), is_honest);
                        if is_honest {
                            guest.remove(&at);
                        }
                    }
                    Message::GiveBack(blocks) => {
                        let held = host.held();
                        let given = host.give_back(blocks);
                        prop_assert_eq!(given.len() as u64, blocks.min(held));
                        for offset in given {
                            prop_assert!(guest.insert(offset / BLOCK), "it was in both hands");
                        }
                    }
                }
                prop_assert_eq!(host.held() + guest.len() as u64, PLACES, "none is lost");
            }
        }
    }
}
