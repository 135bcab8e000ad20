//! `plumb rebalance --replay`: simulates the rebalancer's decisions for a recording.

use std::{collections::BTreeMap, path::Path};

use anyhow::anyhow;
use memory::{GuestMemory, MemoryError, Round, TierMemory, guest_report};
use policy::{Observation, Rebalancer, Tiers};
use units::{Bytes, Share};

use super::{
    config::{Config, Extent},
    print_round,
};
use crate::{
    commands::memory::{
        document::{Document, Machine},
        record,
    },
    exit::Exit,
    failure::Misuse,
    output,
};

#[derive(Debug, Default)]
struct Sums {
    looks: f64,
    recorded: f64,
    replayed: f64,
    /// The number of samples with known accesses, and the sums of the fractions that fast memory served: as recorded,
    /// and as estimated for the replay.
    served: (f64, f64, f64),
}

/// Decides for each sample as if all earlier moves had been carried out.
pub(super) fn run(config: &Config, path: &Path, rounds: Option<u64>) -> anyhow::Result<Exit> {
    let looks = record::read(path)?;
    let extents = extents(config, &looks, path)?;
    let settings = config.settings(&extents)?;
    let mut rebalancer = Rebalancer::new(settings).map_err(|error| config.misuse(&error))?;
    let mut has: BTreeMap<String, Tiers> =
        extents.iter().map(|(name, extent)| (name.clone(), extent.has)).collect();
    let (mut sums, mut moves) = (BTreeMap::<String, Sums>::new(), 0);
    let most = rounds.and_then(|rounds| usize::try_from(rounds).ok()).unwrap_or(usize::MAX);
    for (number, look) in looks.iter().take(most).enumerate() {
        let round = round(config, look, &mut rebalancer, &has);
        print_round(&round, "would move ", number == 0, look.moment())?;
        moves += round.decision.moves.len();
        sum_up(&mut sums, look, &round);
        has.extend(round.decision.moves.iter().map(|step| (step.vm.clone(), step.to)));
    }
    output::line(format_args!("{} samples, {moves} moves; on average:", looks.len().min(most)))?;
    for (name, sums) in &sums {
        output::line(format_args!("{}: {}", output::harmless(name), sums.text()))?;
    }
    Ok(Exit::Success)
}

/// Uses the first sample that contains each machine.
fn extents(config: &Config, looks: &[Document], path: &Path) -> anyhow::Result<BTreeMap<String, Extent>> {
    let mut extents = BTreeMap::new();
    for name in config.names() {
        let of_vm = looks.iter().flat_map(|look| &look.vms).filter(|vm| vm.name == name);
        let extent = of_vm.clone().find_map(|vm| {
            let has = Tiers { fast: vm.fast?, slow: vm.slow.unwrap_or_default() };
            Some(Extent { whole: vm.total.unwrap_or(has.fast), has })
        });
        let Some(extent) = extent else {
            let error = match of_vm.count() {
                0 => Misuse::new(format!("{} has no data about `{name}`", path.display()))
                    .hint("use the machine names of the recording's configuration")
                    .into(),
                _ => anyhow!("{} has no memory data of `{name}`: it never responded", path.display()),
            };
            return Err(error);
        };
        extents.insert(name.to_owned(), extent);
    }
    Ok(extents)
}

fn round(
    config: &Config,
    look: &Document,
    rebalancer: &mut Rebalancer,
    has: &BTreeMap<String, Tiers>,
) -> Round {
    let seen: BTreeMap<String, Result<GuestMemory, MemoryError>> = has
        .iter()
        .map(|(name, has)| {
            let vm = look.vms.iter().find(|vm| vm.name == *name);
            let silent = || MemoryError::Guest("it did not respond".to_owned());
            (name.clone(), vm.and_then(|vm| resized(vm, *has)).ok_or_else(silent))
        })
        .collect();
    let observations: Vec<Observation> = has
        .iter()
        .map(|(name, has)| Observation {
            vm: name.clone(),
            has: *has,
            guest: seen[name]
                .as_ref()
                .ok()
                .and_then(|memory| guest_report(memory, config.uses_accesses(name))),
        })
        .collect();
    let decision = rebalancer.decide(&observations);
    Round { seen, decision, failed: Vec::new() }
}

/// Scales the sample to a different memory size, without changing use and accesses. Per-node numbers are then
/// unknown.
fn resized(vm: &Machine, has: Tiers) -> Option<GuestMemory> {
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
    memory.tiers = vec![TierMemory { accesses, ..TierMemory::default() }];
    Some(memory)
}

fn sum_up(sums: &mut BTreeMap<String, Sums>, look: &Document, round: &Round) {
    for outlook in &round.decision.outlooks {
        let vm = look.vms.iter().find(|vm| vm.name == outlook.vm);
        let Some((vm, recorded)) = vm.and_then(|vm| Some((vm, vm.fast?))) else { continue };
        let sums = sums.entry(outlook.vm.clone()).or_default();
        sums.looks += 1.0;
        sums.recorded += recorded.0 as f64;
        sums.replayed += outlook.has.fast.0 as f64;
        if let Some((recorded, replayed)) = vm.dram_hits.zip(outlook.served) {
            sums.served.0 += 1.0;
            sums.served.1 += recorded.0;
            sums.served.2 += replayed.0;
        }
    }
}

impl Sums {
    fn text(&self) -> String {
        let size = |sum: f64| Bytes((sum / self.looks) as u64);
        let sizes = format!("{} of fast memory ({} recorded)", size(self.replayed), size(self.recorded));
        let (known, recorded, replayed) = self.served;
        if known == 0.0 {
            return sizes;
        }
        let [recorded, replayed] = [recorded, replayed].map(|sum| Share(sum / known));
        format!("{sizes}; estimated to serve {replayed} of the accesses ({recorded} recorded)")
    }
}
