//! Converts times of tasks or names to shares of owners.

use std::{cmp::Reverse, collections::BTreeMap};

use samples::OwnerShare;
use units::Nanos;

use super::names::OwnerName;

/// Shares below 1/10,000 of the total are merged.
const SMALL: u64 = 10_000;

pub(super) fn shares(times: impl IntoIterator<Item = (OwnerName, u64)>) -> Vec<OwnerShare> {
    let by_name = summed(times);
    let whole: u64 = by_name.values().sum();
    let shown = summed(by_name.into_iter().map(|(shown, time)| match time < whole / SMALL {
        true => (OwnerName::all_of(shown.owner), time),
        false => (shown, time),
    }));
    let mut shares: Vec<OwnerShare> = shown.into_iter().filter(|(_, time)| *time > 0).map(share).collect();
    shares.sort_by_key(|share| Reverse(share.time));
    shares
}

fn summed(times: impl IntoIterator<Item = (OwnerName, u64)>) -> BTreeMap<OwnerName, u64> {
    let mut sums = BTreeMap::new();
    for (shown, time) in times {
        *sums.entry(shown).or_insert(0) += time;
    }
    sums
}

fn share((shown, time): (OwnerName, u64)) -> OwnerShare {
    let OwnerName { owner, process, thread, cpu } = shown;
    OwnerShare { owner, process, thread, cpu, time: Nanos(time) }
}

#[cfg(test)]
mod tests {
    use samples::CpuOwner;

    use super::*;

    fn process(owner: CpuOwner, name: &str) -> OwnerName {
        OwnerName { process: Some(name.into()), ..OwnerName::all_of(owner) }
    }

    #[test]
    fn merges_equal_names_and_sorts_by_size() {
        let shown = shares([
            (process(CpuOwner::Other, "a"), 10),
            (process(CpuOwner::Other, "b"), 15),
            (process(CpuOwner::Other, "a"), 10),
            (OwnerName::on(CpuOwner::Softirq, 1), 0),
        ]);
        let shown: Vec<_> = shown.iter().map(|share| (share.process.as_deref(), share.time.0)).collect();
        assert_eq!(shown, [(Some("a"), 20), (Some("b"), 15)]);
    }

    #[test]
    fn merges_small_shares_under_their_owner() {
        let small = (0..50).map(|index| (process(CpuOwner::Other, &format!("p{index}")), 2));
        let shown = shares(small.chain([(process(CpuOwner::Client, "plumb"), 1_000_000)]));
        assert_eq!(shown.len(), 2);
        assert_eq!(
            (shown[1].owner, shown[1].process.clone(), shown[1].time),
            (CpuOwner::Other, None, Nanos(100))
        );
        assert_eq!(shown.iter().map(|share| share.time.0).sum::<u64>(), 1_000_100);
    }

    #[test]
    fn empty_shares_are_omitted() {
        assert_eq!(shares([]), []);
        assert_eq!(shares([(OwnerName::all_of(CpuOwner::Irq), 0)]), []);
    }
}
