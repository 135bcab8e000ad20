//! Budgets per address and in total. Dropping a share, on any thread, returns its amount to the budgets.

use std::{collections::HashMap, sync::Arc};

use parking_lot::Mutex;
use thiserror::Error;

use crate::source::Source;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Budget {
    pub address: u64,
    pub server: u64,
}

#[derive(Debug, Clone)]
pub struct Amounts(Arc<Mutex<Reserved>>);

#[derive(Debug)]
struct Reserved {
    budget: Budget,
    total: u64,
    by_source: HashMap<Source, u64>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum Exhausted {
    #[error("the limit per address is reached")]
    Address,
    #[error("the server's limit is reached")]
    Server,
}

#[derive(Debug)]
pub struct Share {
    of: Amounts,
    source: Source,
    amount: u64,
}

impl Amounts {
    #[must_use]
    pub fn new(budget: Budget) -> Self {
        Self(Arc::new(Mutex::new(Reserved { budget, total: 0, by_source: HashMap::new() })))
    }

    /// The error names the exceeded budget.
    pub fn check(&self, source: Source, amount: u64) -> Result<(), Exhausted> {
        let reserved = self.0.lock();
        let (address, server) = reserved.remaining(source);
        match () {
            // The total limit takes precedence.
            () if amount > server => Err(Exhausted::Server),
            () if amount > address => Err(Exhausted::Address),
            () => Ok(()),
        }
    }

    /// Reserves the whole amount or nothing. The error names the budget that would be exceeded.
    pub fn take(&self, source: Source, amount: u64) -> Result<Share, Exhausted> {
        self.check(source, amount)?;
        Ok(self.give(source, amount))
    }

    /// Reserves up to half of the remaining budget, but at least `least`.
    pub fn take_part(&self, source: Source, wanted: u64, least: u64) -> Result<Share, Exhausted> {
        let (address, server) = self.0.lock().remaining(source);
        self.take(source, wanted.min(address / 2).min(server / 2).max(least.min(wanted)))
    }

    #[must_use]
    pub fn total(&self) -> u64 {
        self.0.lock().total
    }

    #[must_use]
    pub fn of(&self, source: Source) -> u64 {
        self.0.lock().by_source.get(&source).copied().unwrap_or(0)
    }

    #[must_use]
    pub fn most(&self) -> u64 {
        self.0.lock().by_source.values().copied().max().unwrap_or(0)
    }

    /// If the total is used up, returns the address to take from: the largest holder, if it holds more than its fair
    /// share (the total divided by the number of holders) and `source` holds less.
    #[must_use]
    pub fn debtor(&self, source: Source) -> Option<Source> {
        let reserved = self.0.lock();
        let own = reserved.by_source.get(&source).copied().unwrap_or(0);
        let addresses = reserved.by_source.len() as u64 + u64::from(own == 0);
        let share = (reserved.budget.server / addresses).max(1);
        let (debtor, most) = reserved.by_source.iter().max_by_key(|(_, amount)| **amount)?;
        (reserved.total >= reserved.budget.server && own < share && *most > share).then_some(*debtor)
    }

    fn give(&self, source: Source, amount: u64) -> Share {
        let mut reserved = self.0.lock();
        reserved.total += amount;
        *reserved.by_source.entry(source).or_insert(0) += amount;
        Share { of: self.clone(), source, amount }
    }
}

impl Reserved {
    fn remaining(&self, source: Source) -> (u64, u64) {
        let own = self.by_source.get(&source).copied().unwrap_or(0);
        (self.budget.address.saturating_sub(own), self.budget.server.saturating_sub(self.total))
    }
}

impl Share {
    #[must_use]
    pub const fn amount(&self) -> u64 {
        self.amount
    }
}

impl Drop for Share {
    fn drop(&mut self) {
        let mut reserved = self.of.0.lock();
        reserved.total -= self.amount;
        let left = reserved.by_source.get_mut(&self.source).map_or(0, |own| {
            *own -= self.amount;
            *own
        });
        if left == 0 {
            reserved.by_source.remove(&self.source);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn source(number: u32) -> Source {
        Source::from(std::net::IpAddr::from(number.to_be_bytes()))
    }

    #[test]
    fn limits_amounts_per_address_and_in_total() {
        let amounts = Amounts::new(Budget { address: 4, server: 10 });
        let shares: Vec<_> = (0..4).map(|_| amounts.take(source(1), 1).expect("within both")).collect();
        assert_eq!(amounts.take(source(1), 1).err(), Some(Exhausted::Address));
        let others = [amounts.take(source(2), 4), amounts.take(source(3), 2)];
        assert!(others.iter().all(Result::is_ok));
        assert_eq!(amounts.take(source(4), 1).err(), Some(Exhausted::Server));
        assert_eq!((amounts.total(), amounts.most(), amounts.of(source(3))), (10, 4, 2));
        drop(shares);
        assert!(amounts.take(source(4), 4).is_ok(), "returned amounts are available");
        drop(others);
        assert_eq!(amounts.total(), 0);
        assert!(amounts.0.lock().by_source.is_empty(), "addresses without reservations are removed");
    }

    #[test]
    fn address_over_its_fair_share_must_release_one() {
        let check = |amounts: &[u64], asks: u32, expected: Option<u32>| {
            let all = Amounts::new(Budget { address: 8, server: 8 });
            let shares: Vec<_> =
                (1..).zip(amounts).map(|(number, &amount)| all.take(source(number), amount)).collect();
            assert!(shares.iter().all(Result::is_ok));
            assert_eq!(all.debtor(source(asks)), expected.map(source), "{amounts:?}, request of {asks}");
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
    fn partial_reservations_leave_a_remainder() {
        let amounts = Amounts::new(Budget { address: 100, server: 1000 });
        let mut shares = Vec::new();
        let mut take = |wanted, least| {
            amounts.take_part(source(1), wanted, least).map(|share| {
                let amount = share.amount();
                shares.push(share);
                amount
            })
        };
        assert_eq!([take(10, 1), take(1000, 1), take(1000, 1)], [Ok(10), Ok(45), Ok(22)]);
        assert_eq!([take(20, 20), take(20, 20)], [Ok(20), Err(Exhausted::Address)]);
        assert_eq!(amounts.take_part(source(2), 30, 1).map(|share| share.amount()), Ok(30));
    }
}
