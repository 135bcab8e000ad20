//! Simulates the rebalancer's decisions for a recording.

use std::{collections::BTreeMap, fmt};

use policy::{Observation, Rebalancer, Tiers};
use protocol::NodeMemory;
use thiserror::Error;
use units::{Bytes, Share};

use crate::{
    attached::{Seen, observation},
    config::{ConfigError, Extent, VmsConfig},
    error::MemoryError,
    rebalance::Round,
    running::GuestMemory,
    sample::{MemorySample, VmSample},
};

#[derive(Debug, Error)]
pub enum ReplayError {
    #[error(transparent)]
    Config(#[from] ConfigError),
    #[error("no data about `{vm}`")]
    UnknownVm { vm: String },
    #[error("no memory data for `{vm}`: it never responded")]
    NeverResponded { vm: String },
}

#[derive(Debug)]
pub struct Replay<'a> {
    config: &'a VmsConfig,
    rebalancer: Rebalancer,
    has: BTreeMap<String, Tiers>,
    averages: BTreeMap<String, Average>,
}

#[derive(Debug, Default)]
pub struct Average {
    samples: f64,
    fast: Sums,
    served: Sums,
    served_samples: f64,
}

#[derive(Debug, Default)]
struct Sums {
    recorded: f64,
    replayed: f64,
}

impl<'a> Replay<'a> {
    pub fn new(config: &'a VmsConfig, samples: &[MemorySample]) -> Result<Self, ReplayError> {
        let extents = extents(config, samples)?;
        let rebalancer = Rebalancer::new(config.settings(&extents)?).map_err(ConfigError::from)?;
        let has = extents.into_iter().map(|(name, extent)| (name, extent.has)).collect();
        Ok(Self { config, rebalancer, has, averages: BTreeMap::new() })
    }

    pub fn round(&mut self, sample: &MemorySample) -> Round {
        let seen: Seen = self
            .has
            .iter()
            .map(|(name, has)| {
                let silent = || MemoryError::Guest("it did not respond".to_owned());
                (name.clone(), sample.vm(name).and_then(|vm| resized(vm, *has)).ok_or_else(silent))
            })
            .collect();
        let observe =
            |(name, has): (&String, &Tiers)| observation(name, *has, &seen, self.config.uses_accesses(name));
        let observations: Vec<Observation> = self.has.iter().map(observe).collect();
        let decision = self.rebalancer.decide(&observations);
        for outlook in &decision.outlooks {
            let Some(vm) = sample.vm(&outlook.vm) else { continue };
            let served = vm.dram_hits.zip(outlook.served);
            if let Some(recorded) = vm.fast {
                let average = self.averages.entry(outlook.vm.clone()).or_default();
                average.samples += 1.0;
                average.fast.add(recorded.0 as f64, outlook.has.fast.0 as f64);
                if let Some((recorded, replayed)) = served {
                    average.served_samples += 1.0;
                    average.served.add(recorded.0, replayed.0);
                }
            }
        }
        self.has.extend(decision.moves.iter().map(|step| (step.vm.clone(), step.to)));
        Round { seen, decision, failed: Vec::new() }
    }

    #[must_use]
    pub fn averages(&self) -> &BTreeMap<String, Average> {
        &self.averages
    }
}

fn extents(config: &VmsConfig, samples: &[MemorySample]) -> Result<BTreeMap<String, Extent>, ReplayError> {
    let extent = |name: &str| {
        let of_vm = samples.iter().filter_map(|sample| sample.vm(name));
        let extent = of_vm.clone().find_map(|vm| {
            let has = Tiers { fast: vm.fast?, slow: vm.slow.unwrap_or_default() };
            Some(Extent { whole: vm.total.unwrap_or(has.fast), has })
        });
        let vm = name.to_owned();
        match extent {
            Some(extent) => Ok((vm, extent)),
            None if of_vm.count() == 0 => Err(ReplayError::UnknownVm { vm }),
            None => Err(ReplayError::NeverResponded { vm }),
        }
    };
    config.names().map(extent).collect()
}

/// Scales the sample to a different memory size, but keeps usage and accesses. Per-node numbers are then
/// unknown.
fn resized(vm: &VmSample, has: Tiers) -> Option<GuestMemory> {
    let mut memory = vm.memory()?;
    let had = Tiers { fast: memory.size, slow: memory.slow };
    if had == has {
        return Some(memory);
    }
    let moved = |size: Bytes| Bytes((size.0 + has.total().0).saturating_sub(had.total().0));
    memory.available = memory.available.map(moved);
    memory.free = memory.free.map(moved);
    (memory.size, memory.slow) = (has.fast, has.slow);
    let accesses = memory.classes().copied().collect();
    memory.nodes = vec![NodeMemory { accesses, ..NodeMemory::default() }];
    Some(memory)
}

impl Sums {
    fn add(&mut self, recorded: f64, replayed: f64) {
        self.recorded += recorded;
        self.replayed += replayed;
    }

    fn means(&self, count: f64) -> [f64; 2] {
        [self.recorded / count, self.replayed / count]
    }
}

impl fmt::Display for Average {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [recorded, replayed] = self.fast.means(self.samples).map(|mean| Bytes(mean as u64));
        write!(f, "{replayed} of fast memory ({recorded} recorded)")?;
        if self.served_samples > 0.0 {
            let [recorded, replayed] = self.served.means(self.served_samples).map(Share);
            write!(f, "; estimated to serve {replayed} of the accesses ({recorded} recorded)")?;
        }
        Ok(())
    }
}
