//! Rate limits with bursts, per address and in total, using the generic cell rate algorithm (ITU-T I.371, annex A). A
//! meter is a single atomic, so that measuring threads can share it.

use std::{
    collections::HashMap,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
};

use crate::source::Source;

const SECOND: u64 = 1_000_000_000;
const SOURCES: usize = 4096;
/// The number of addresses sampled for eviction.
const SAMPLE: usize = 16;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rate {
    pub per_second: u64,
    pub burst: u64,
}

#[derive(Debug)]
pub struct Meter {
    rate: Rate,
    /// When the amount spent so far would be allowed without bursts, in nanoseconds.
    due: AtomicU64,
}

#[derive(Debug)]
pub struct Rates {
    rate: Rate,
    server: Arc<Meter>,
    sources: HashMap<Source, Arc<Meter>>,
    swept: u64,
}

impl Meter {
    const fn new(rate: Rate) -> Self {
        Self { rate, due: AtomicU64::new(0) }
    }

    /// Returns false if spending this amount would exceed the rate. Times are in nanoseconds.
    pub fn spend(&self, amount: u64, now: u64) -> bool {
        let spent = |due: u64| {
            let due = due.max(now).saturating_add(self.time(amount));
            (due - now <= self.time(self.rate.burst)).then_some(due)
        };
        self.due.fetch_update(Ordering::Relaxed, Ordering::Relaxed, spent).is_ok()
    }

    #[must_use]
    pub fn allows(&self, amount: u64, now: u64) -> bool {
        self.owed(now).saturating_add(self.time(amount)) <= self.time(self.rate.burst)
    }

    fn owed(&self, now: u64) -> u64 {
        self.due.load(Ordering::Relaxed).saturating_sub(now)
    }

    fn time(&self, amount: u64) -> u64 {
        let time = u128::from(amount) * u128::from(SECOND) / u128::from(self.rate.per_second);
        u64::try_from(time).unwrap_or(u64::MAX)
    }
}

impl Rates {
    #[must_use]
    pub fn new(rate: Rate, server: Rate) -> Self {
        Self { rate, server: Arc::new(Meter::new(server)), sources: HashMap::new(), swept: 0 }
    }

    /// Spends from both the address's and the server's rate, or from neither.
    pub fn spend(&mut self, source: Source, amount: u64, now: u64) -> bool {
        let of_it = self.meter(source, now);
        self.server.allows(amount, now) && of_it.spend(amount, now) && self.server.spend(amount, now)
    }

    #[must_use]
    pub fn allows(&self, source: Source, amount: u64, now: u64) -> bool {
        self.server.allows(amount, now)
            && self.sources.get(&source).is_none_or(|meter| meter.allows(amount, now))
    }

    pub fn meters(&mut self, source: Source, now: u64) -> [Arc<Meter>; 2] {
        [self.meter(source, now), Arc::clone(&self.server)]
    }

    fn meter(&mut self, source: Source, now: u64) -> Arc<Meter> {
        if self.sources.len() >= SOURCES && !self.sources.contains_key(&source) {
            self.forget_one(now);
        }
        Arc::clone(self.sources.entry(source).or_insert_with(|| Arc::new(Meter::new(self.rate))))
    }

    /// Once per second, removes addresses that owe nothing. If that frees no room, evicts the sampled address that owes
    /// the least.
    fn forget_one(&mut self, now: u64) {
        if now.saturating_sub(self.swept) >= SECOND {
            self.swept = now;
            self.sources.retain(|_, meter| meter.owed(now) > 0 || Arc::strong_count(meter) > 1);
        }
        if self.sources.len() >= SOURCES {
            let some = self.sources.iter().filter(|(_, meter)| Arc::strong_count(meter) == 1).take(SAMPLE);
            let least = some.min_by_key(|(_, meter)| meter.owed(now)).map(|(source, _)| *source);
            least.and_then(|source| self.sources.remove(&source));
        }
    }
}

#[cfg(test)]
mod tests {
    use std::net::IpAddr;

    use super::*;

    const RATE: Rate = Rate { per_second: 10, burst: 5 };

    fn source(number: u32) -> Source {
        Source::from(IpAddr::from(number.to_be_bytes()))
    }

    #[test]
    fn allows_burst_then_limits_per_address_and_in_total() {
        let mut rates = Rates::new(RATE, Rate { per_second: 15, burst: 8 });
        let mut passed = |number: u32, tries: usize, now| {
            (0..tries).filter(|_| rates.spend(source(number), 1, now)).count()
        };
        assert_eq!(passed(1, 100, SECOND), 5, "the burst");
        assert_eq!(passed(2, 100, SECOND), 3, "the remaining total");
        assert_eq!(passed(1, 100, SECOND + SECOND / 10), 1);
        assert_eq!(passed(1, 100, 10 * SECOND), 5, "credit is limited to a burst");
    }

    #[test]
    fn overspending_address_is_blocked_alone() {
        let mut rates = Rates::new(RATE, Rate { per_second: 1000, burst: 1000 });
        for _ in 0..5 {
            assert!(rates.allows(source(1), 1, 5) && rates.spend(source(1), 1, 5));
        }
        assert!(!rates.allows(source(1), 1, 6) && rates.allows(source(2), 1, 6));
        assert!(rates.allows(source(1), 1, 6 + SECOND));
    }

    #[test]
    fn limits_tracked_addresses_and_keeps_largest_debtor() {
        let mut rates = Rates::new(RATE, Rate { per_second: 1 << 40, burst: 1 << 40 });
        (0..5).for_each(|_| assert!(rates.spend(source(0), 1, 5)));
        for address in 1..100_000 {
            rates.spend(source(address), 1, 5);
        }
        assert_eq!(rates.sources.len(), SOURCES);
        assert!(!rates.allows(source(0), 1, 6), "the largest debtor is removed last");
        rates.spend(source(200_000), 1, 5 + 10 * SECOND);
        assert_eq!(rates.sources.len(), 1);
    }

    #[test]
    fn threads_share_a_meter() {
        let meter = Arc::new(Meter::new(Rate { per_second: 1, burst: 1000 }));
        let spend = |meter: Arc<Meter>| (0..1000).filter(|_| meter.spend(1, 5)).count();
        let threads: Vec<_> = (0..4)
            .map(|_| {
                let meter = Arc::clone(&meter);
                std::thread::spawn(move || spend(meter))
            })
            .collect();
        let passed: usize = threads.into_iter().map(|thread| thread.join().expect("no panic")).sum();
        assert_eq!(passed, 1000);
    }
}
