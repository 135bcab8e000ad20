//! Amounts that are held: given to an address, and back in the budget when their share is dropped, on any thread.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use thiserror::Error;

use crate::source::Source;

/// The limits of one address and of the server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Budget {
    pub address: u64,
    pub server: u64,
}

/// How much of one thing each address holds.
#[derive(Debug, Clone)]
pub struct Amounts(Arc<Mutex<Held>>);

#[derive(Debug)]
struct Held {
    budget: Budget,
    total: u64,
    by_source: HashMap<Source, u64>,
}

/// Whose budget is used up.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum Exhausted {
    #[error("its address has as much of that as one may have")]
    Address,
    #[error("there is no more of that")]
    Server,
}

/// What one holds; dropping it gives it back.
#[derive(Debug)]
pub struct Share {
    of: Amounts,
    source: Source,
    amount: u64,
}

impl Amounts {
    /// Nothing is held yet.
    #[must_use]
    pub fn new(budget: Budget) -> Self {
        Self(Arc::new(Mutex::new(Held { budget, total: 0, by_source: HashMap::new() })))
    }

    /// Whether an address could take so much now.
    ///
    /// # Errors
    /// The budget that would be exceeded.
    pub fn check(&self, source: Source, amount: u64) -> Result<(), Exhausted> {
        let held = self.lock();
        let (address, server) = held.left(source);
        match () {
            // Where there is no more for anybody, that is why.
            () if amount > server => Err(Exhausted::Server),
            () if amount > address => Err(Exhausted::Address),
            () => Ok(()),
        }
    }

    /// Takes all of it or nothing.
    ///
    /// # Errors
    /// The budget that would be exceeded.
    pub fn take(&self, source: Source, amount: u64) -> Result<Share, Exhausted> {
        self.check(source, amount)?;
        Ok(self.give(source, amount))
    }

    /// Takes what is wanted as far as that is half of what is left, so that something is left for the next; but no
    /// less than `least`.
    ///
    /// # Errors
    /// The budget that `least` would exceed.
    pub fn take_part(&self, source: Source, wanted: u64, least: u64) -> Result<Share, Exhausted> {
        let (address, server) = self.lock().left(source);
        self.take(source, wanted.min(address / 2).min(server / 2).max(least.min(wanted)))
    }

    /// What all hold together.
    #[must_use]
    pub fn total(&self) -> u64 {
        self.lock().total
    }

    /// The amount of this address.
    #[must_use]
    pub fn of(&self, source: Source) -> u64 {
        self.lock().by_source.get(&source).copied().unwrap_or(0)
    }

    /// What the address holds that has most.
    #[must_use]
    pub fn most(&self) -> u64 {
        self.lock().by_source.values().copied().max().unwrap_or(0)
    }

    /// Which address has to give one up for `source` when all are taken: the one that has most, where that is more than
    /// its share and `source` has less. A share is what all may have together, divided by the addresses that have some.
    #[must_use]
    pub fn debtor(&self, source: Source) -> Option<Source> {
        let held = self.lock();
        let of_it = held.by_source.get(&source).copied().unwrap_or(0);
        let addresses = held.by_source.len() as u64 + u64::from(of_it == 0);
        let share = (held.budget.server / addresses).max(1);
        let (debtor, most) = held.by_source.iter().max_by_key(|(_, amount)| **amount)?;
        (held.total >= held.budget.server && of_it < share && *most > share).then_some(*debtor)
    }

    fn give(&self, source: Source, amount: u64) -> Share {
        let mut held = self.lock();
        held.total += amount;
        *held.by_source.entry(source).or_insert(0) += amount;
        Share { of: self.clone(), source, amount }
    }

    fn lock(&self) -> MutexGuard<'_, Held> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Held {
    /// For this address, and for all.
    fn left(&self, source: Source) -> (u64, u64) {
        let of_it = self.by_source.get(&source).copied().unwrap_or(0);
        (self.budget.address.saturating_sub(of_it), self.budget.server.saturating_sub(self.total))
    }
}

impl Share {
    /// The amount of this share.
    #[must_use]
    pub const fn amount(&self) -> u64 {
        self.amount
    }
}

impl Drop for Share {
    fn drop(&mut self) {
        let mut held = self.of.lock();
        held.total -= self.amount;
        let left = held.by_source.get_mut(&self.source).map_or(0, |of_it| {
            *of_it -= self.amount;
            *of_it
        });
        if left == 0 {
            held.by_source.remove(&self.source);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::net::Ipv4Addr;

    use super::*;

    fn source(number: u32) -> Source {
        Source::from(std::net::IpAddr::from(Ipv4Addr::from_bits(number)))
    }

    #[test]
    fn an_address_gets_no_more_than_its_budget_and_all_no_more_than_the_server_s() {
        let amounts = Amounts::new(Budget { address: 4, server: 10 });
        let held: Vec<_> = (0..4).map(|_| amounts.take(source(1), 1).expect("within both")).collect();
        assert_eq!(amounts.take(source(1), 1).err(), Some(Exhausted::Address));
        let others = [amounts.take(source(2), 4), amounts.take(source(3), 2)];
        assert!(others.iter().all(Result::is_ok));
        assert_eq!(amounts.take(source(4), 1).err(), Some(Exhausted::Server));
        assert_eq!((amounts.total(), amounts.most(), amounts.of(source(3))), (10, 4, 2));
        drop(held);
        assert!(amounts.take(source(4), 4).is_ok(), "what is given back can be taken");
        drop(others);
        assert_eq!(amounts.total(), 0);
        assert!(amounts.lock().by_source.is_empty(), "nobody is remembered who holds nothing");
    }

    #[test]
    fn an_address_beyond_its_share_owes_one_to_an_address_below_its_own_when_all_are_taken() {
        let check = |amounts: &[u64], asks: u32, expected: Option<u32>| {
            let all = Amounts::new(Budget { address: 8, server: 8 });
            let held: Vec<_> =
                (1..).zip(amounts).map(|(who, &amount)| all.take(source(who), amount)).collect();
            assert!(held.iter().all(Result::is_ok));
            assert_eq!(all.debtor(source(asks)), expected.map(source), "{amounts:?}, {asks} asks");
        };
        check(&[5, 2], 3, None);
        check(&[6, 2], 3, Some(1));
        check(&[6, 2], 2, Some(1));
        check(&[6, 2], 1, None);
        check(&[4, 4], 1, None);
        check(&[8], 2, Some(1));
        check(&[2, 4, 2], 4, Some(2));
        check(&[1, 1, 1, 1, 1, 1, 1, 1], 9, None);
    }

    #[test]
    fn a_part_leaves_something_for_the_next_until_less_than_the_least_is_left() {
        let amounts = Amounts::new(Budget { address: 100, server: 1000 });
        let mut held = Vec::new();
        let mut take = |wanted, least| {
            amounts.take_part(source(1), wanted, least).map(|share| {
                let amount = share.amount();
                held.push(share);
                amount
            })
        };
        assert_eq!([take(10, 1), take(1000, 1), take(1000, 1)], [Ok(10), Ok(45), Ok(22)]);
        assert_eq!([take(20, 20), take(20, 20)], [Ok(20), Err(Exhausted::Address)]);
        assert_eq!(amounts.take_part(source(2), 30, 1).map(|share| share.amount()), Ok(30));
    }
}
