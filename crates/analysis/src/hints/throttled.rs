//! `cpu-throttled`: this end used up the CPU quota of its cgroup.

use super::{Claim, Rule, SingleTrial};
use crate::rules::cpu_throttled::of_one;

pub(super) const RULE: Rule = Rule::cause("cpu-throttled", look).over(&[
    "slow-congestion-control",
    "generator-limited",
    "receiver-limited",
    "small-buffers",
    "retransmits",
]);

fn look(trial: &SingleTrial<'_>) -> Vec<Claim> {
    trial.single.cpu.throttled.iter().filter_map(of_one).collect()
}
