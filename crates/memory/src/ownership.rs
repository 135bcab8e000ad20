//! Tracks whether the guest or the host owns each block of guest memory. No block has two owners.

use std::collections::BTreeSet;

/// The size of a huge page on x86-64, in bytes.
pub(crate) const BLOCK: u64 = 2 << 20;

#[derive(Debug, Clone, Default)]
pub(crate) struct Ownership {
    stack: Vec<u64>,
    places: BTreeSet<u64>,
}

impl Ownership {
    pub(crate) fn held(&self) -> u64 {
        self.stack.len() as u64
    }

    /// `offset` is the file offset of the guest-physical `address`, if the address is valid.
    pub(crate) fn take(&mut self, address: u64, offset: Option<u64>) -> Result<u64, &'static str> {
        if !address.is_multiple_of(BLOCK) {
            return Err("not the start of a 2 MiB block");
        }
        let offset = offset.ok_or("not memory of this machine")?;
        if !offset.is_multiple_of(BLOCK) {
            return Err("not aligned in the backing file");
        }
        if !self.places.insert(offset) {
            return Err("already taken");
        }
        self.stack.push(offset);
        Ok(offset)
    }

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

    #[derive(Debug, Clone)]
    enum Message {
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

        #[test]
        fn each_block_always_has_one_owner(messages in proptest::collection::vec(message(), 1..80)) {
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
                            prop_assert!(guest.insert(offset / BLOCK), "two owners");
                        }
                    }
                }
                prop_assert_eq!(host.held() + guest.len() as u64, PLACES, "none is lost");
            }
        }
    }
}
