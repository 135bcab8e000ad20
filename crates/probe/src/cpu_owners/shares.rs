//! From the time of each task or name to shares of owners. Must not know where the times come from.

use std::{cmp::Reverse, collections::BTreeMap};

use samples::OwnerShare;
use units::Nanos;

use super::names::OwnerName;

/// What has less of the whole is added up under its owner.
const SMALL: u64 = 10_000;

/// Adds up by who is shown, the largest first; nobody has nothing.
pub(super) fn shares(times: impl IntoIterator<Item = (OwnerName, u64)>) -> Vec<OwnerShare> {
    let by_name = summed(times);
    let whole: u64 = by_name.values().sum();
    let told = summed(by_name.into_iter().map(|(shown, time)| match time < whole / SMALL {
        true => (OwnerName::all_of(shown.owner), time),
        false => (shown, time),
    }));
    let mut shares: Vec<OwnerShare> = told.into_iter().filter(|(_, time)| *time > 0).map(share).collect();
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
    fn equal_names_are_one_share_and_the_largest_comes_first() {
        let told = shares([
            (process(CpuOwner::Other, "a"), 10),
            (process(CpuOwner::Other, "b"), 15),
            (process(CpuOwner::Other, "a"), 10),
            (OwnerName::on(CpuOwner::Softirq, 1), 0),
        ]);
        let told: Vec<_> = told.iter().map(|share| (share.process.as_deref(), share.time.0)).collect();
        assert_eq!(told, [(Some("a"), 20), (Some("b"), 15)]);
    }

    #[test]
    fn what_is_too_small_to_tell_is_kept_under_its_owner() {
        let small = (0..50).map(|index| (process(CpuOwner::Other, &format!("p{index}")), 2));
        let told = shares(small.chain([(process(CpuOwner::Client, "plumb"), 1_000_000)]));
        assert_eq!(told.len(), 2);
        assert_eq!(
            (told[1].owner, told[1].process.clone(), told[1].time),
            (CpuOwner::Other, None, Nanos(100))
        );
        assert_eq!(told.iter().map(|share| share.time.0).sum::<u64>(), 1_000_100);
    }

    #[test]
    fn no_time_has_no_owner() {
        assert_eq!(shares([]), []);
        assert_eq!(shares([(OwnerName::all_of(CpuOwner::Irq), 0)]), []);
    }
}
