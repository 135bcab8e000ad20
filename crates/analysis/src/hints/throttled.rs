//! `cpu-throttled`: this end used up the CPU quota of its cgroup.

use super::{Claim, Rule, SingleTrial};
use crate::rules::cpu_throttled::{EXPLAINED, of_one};

pub(super) const RULE: Rule = Rule::cause("cpu-throttled", look).over(EXPLAINED);

fn look(trial: &SingleTrial<'_>) -> Vec<Claim> {
    trial.single.cpu.throttled.iter().filter_map(of_one).collect()
}
