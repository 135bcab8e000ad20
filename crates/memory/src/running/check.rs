//! Validates memory numbers from guests and records.

use units::{Bytes, Share};

use super::GuestMemory;
use crate::limits::{MOST_MEMORY, sum};

/// In Linux, CONFIG_NODES_SHIFT is at most 10.
const MOST_NODES: usize = 1024;
const MOST_ACCESSES: u64 = 1 << 60;

impl GuestMemory {
    /// Checks that a VM with this much memory can have these numbers, and that their sums do not overflow.
    pub fn check(&self, machine: Bytes) -> Result<(), String> {
        let sizes = [
            ("fast memory", Some(self.size), MOST_MEMORY),
            ("slow memory", Some(self.slow), MOST_MEMORY),
            ("resident memory", self.resident, MOST_MEMORY),
            ("swap in use", self.swap_used, MOST_MEMORY),
            ("free memory", self.free, machine),
            ("available memory", self.available, machine),
        ];
        for (what, size, most) in sizes {
            if let Some(size) = size.filter(|size| *size > most) {
                return Err(format!("invalid {what}: {size} of {most}"));
            }
        }
        for (what, share) in [("pressure", self.pressure), ("CPU time of telemetry", self.telemetry_cpu)] {
            if let Some(Share(share)) = share.filter(|share| !(0.0..=1.0).contains(&share.0)) {
                return Err(format!("invalid {what}: {share} is not from 0 to 1"));
            }
        }
        if let Some(rate) = self.refaults_per_second.filter(|rate| !(rate.is_finite() && *rate >= 0.0)) {
            return Err(format!("invalid refault rate: {rate} per second"));
        }
        self.check_nodes(machine)
    }

    fn check_nodes(&self, machine: Bytes) -> Result<(), String> {
        if self.nodes.len() > MOST_NODES {
            return Err(format!("invalid number of NUMA nodes: {}", self.nodes.len()));
        }
        if let Some(node) = self.nodes.iter().find(|node| node.free > node.size) {
            return Err(format!("invalid free memory of node {}: {} of {}", node.node, node.free, node.size));
        }
        let all = sum(self.nodes.iter().map(|node| node.size));
        if all.is_none_or(|all| all > machine) {
            return Err(format!("invalid NUMA node sizes: the total exceeds {machine}"));
        }
        if sum(self.classes().map(|class| class.bytes)).is_none() {
            return Err(format!("invalid accesses: the accessed memory exceeds {MOST_MEMORY}"));
        }
        let add = |all: u64, count: u64| all.checked_add(count).filter(|all| *all <= MOST_ACCESSES);
        let accesses = self.classes().map(|class| class.accesses).try_fold(0, add);
        accesses.map(drop).ok_or_else(|| format!("invalid accesses: more than {MOST_ACCESSES}"))
    }
}
