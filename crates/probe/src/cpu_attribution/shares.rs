//! Converts the times of tasks or names to percentages per owner.

use std::{cmp::Reverse, collections::BTreeMap};

use samples::ConsumerShare;
use units::Nanos;

use super::names::ConsumerName;

/// Merges names with less than 1/10,000 of the total.
const SMALL: u64 = 10_000;

pub(super) fn shares(times: impl IntoIterator<Item = (ConsumerName, u64)>) -> Vec<ConsumerShare> {
    let by_name = summed(times);
    let whole: u64 = by_name.values().sum();
    let shown = summed(by_name.into_iter().map(|(shown, time)| match time < whole / SMALL {
        true => (ConsumerName::all_of(shown.consumer), time),
        false => (shown, time),
    }));
    let mut shares: Vec<ConsumerShare> = shown.into_iter().filter(|(_, time)| *time > 0).map(share).collect();
    shares.sort_by_key(|share| Reverse(share.time));
    shares
}

fn summed(times: impl IntoIterator<Item = (ConsumerName, u64)>) -> BTreeMap<ConsumerName, u64> {
    let mut sums = BTreeMap::new();
    for (shown, time) in times {
        *sums.entry(shown).or_insert(0) += time;
    }
    sums
}

fn share((shown, time): (ConsumerName, u64)) -> ConsumerShare {
    let ConsumerName { consumer, process, thread, cpu } = shown;
    ConsumerShare { consumer, process, thread, cpu, time: Nanos(time) }
}

#[cfg(test)]
mod tests {
    use samples::CpuConsumer;

    use super::*;

    fn process(consumer: CpuConsumer, name: &str) -> ConsumerName {
        ConsumerName { process: Some(name.into()), ..ConsumerName::all_of(consumer) }
    }

    #[test]
    fn merges_equal_names_and_sorts_by_size() {
        let shown = shares([
            (process(CpuConsumer::Other, "a"), 10),
            (process(CpuConsumer::Other, "b"), 15),
            (process(CpuConsumer::Other, "a"), 10),
            (ConsumerName::on(CpuConsumer::Softirq, 1), 0),
        ]);
        let shown: Vec<_> = shown.iter().map(|share| (share.process.as_deref(), share.time.0)).collect();
        assert_eq!(shown, [(Some("a"), 20), (Some("b"), 15)]);
    }

    #[test]
    fn merges_small_shares_under_their_owner() {
        let small = (0..50).map(|index| (process(CpuConsumer::Other, &format!("p{index}")), 2));
        let shown = shares(small.chain([(process(CpuConsumer::Client, "plumb"), 1_000_000)]));
        assert_eq!(shown.len(), 2);
        assert_eq!(
            (shown[1].consumer, shown[1].process.clone(), shown[1].time),
            (CpuConsumer::Other, None, Nanos(100))
        );
        assert_eq!(shown.iter().map(|share| share.time.0).sum::<u64>(), 1_000_100);
    }

    #[test]
    fn empty_shares_are_omitted() {
        assert_eq!(shares([]), []);
        assert_eq!(shares([(ConsumerName::all_of(CpuConsumer::Irq), 0)]), []);
    }
}
