//! A sample of VM memory as one line of JSON. It is printed by `plumb memory top --json` and stored in recordings.

use std::{collections::BTreeMap, time::Duration};

use jiff::Timestamp;
use memory::{AttachedVm, GuestMemory, MOST_MEMORY, MemoryError, TierMemory};
use policy::{Move, Tiers};
use protocol::{AccessClass, AccessSourceKind};
use serde::{Deserialize, Serialize};
use units::{Bytes, Nanos, Share};

#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Document {
    schema: u32,
    at: String,
    pub(crate) interval: Nanos,
    pub(crate) vms: Vec<Machine>,
    /// Moves ordered by a rebalancer after the sample.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) moves: Vec<Move>,
}

/// Unknown values are null.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Machine {
    pub(crate) name: String,
    /// Set if it could not be sampled.
    error: Option<String>,
    method: Option<String>,
    /// Maximum fast memory.
    #[serde(default)]
    pub(crate) total: Option<Bytes>,
    pub(crate) fast: Option<Bytes>,
    pub(crate) slow: Option<Bytes>,
    resident: Option<Bytes>,
    free: Option<Bytes>,
    available: Option<Bytes>,
    swap_used: Option<Bytes>,
    refaults_per_second: Option<f64>,
    pressure: Option<Share>,
    source: Option<AccessSourceKind>,
    no_accesses_reason: Option<String>,
    pub(crate) dram_hits: Option<Share>,
    /// Share of one guest CPU.
    telemetry_cpu: Option<Share>,
    telemetry_host_cpu: Option<Nanos>,
    nodes: Vec<Node>,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
struct Node {
    node: u32,
    slow: bool,
    size: Bytes,
    free: Bytes,
    /// Memory by number of accesses, in the source's unit.
    accesses: Vec<AccessClass>,
}

#[derive(Debug, Clone, Default)]
pub(crate) struct MachineFacts {
    method: Option<&'static str>,
    pub(crate) total: Option<Bytes>,
}

/// The facts of each machine by name. A machine that cannot be reached has none.
pub(crate) type Facts = BTreeMap<String, MachineFacts>;

pub(crate) fn facts(vms: &mut BTreeMap<String, AttachedVm>) -> Facts {
    let of_vm = |vm: &mut AttachedVm| MachineFacts {
        method: vm.method().map(|method| method.word()),
        total: vm.whole().ok(),
    };
    vms.iter_mut().map(|(name, vm)| (name.clone(), of_vm(vm))).collect()
}

impl Document {
    const SCHEMA: u32 = 1;

    pub(crate) fn of(
        memory: &BTreeMap<String, Result<GuestMemory, MemoryError>>,
        facts: &Facts,
        interval: Duration,
        moves: &[Move],
    ) -> Self {
        let machine = |(name, memory): (&String, &Result<GuestMemory, MemoryError>)| {
            Machine::of(name, &facts.get(name).cloned().unwrap_or_default(), memory.as_ref())
        };
        Self {
            schema: Self::SCHEMA,
            at: Timestamp::now().to_string(),
            interval: interval.into(),
            vms: memory.iter().map(machine).collect(),
            moves: moves.to_vec(),
        }
    }

    /// The sample's time, or the Unix epoch if it has none.
    pub(crate) fn moment(&self) -> Timestamp {
        self.at.parse().unwrap_or_default()
    }

    pub(crate) const fn is_known(&self) -> bool {
        self.schema == Self::SCHEMA
    }

    /// # Errors Names the VM and its first invalid number.
    pub(crate) fn check(&self) -> Result<(), String> {
        for vm in &self.vms {
            vm.check().map_err(|what| format!("`{}`: {what}", vm.name))?;
        }
        let impossible = |tiers: &Tiers| tiers.fast > MOST_MEMORY || tiers.slow > MOST_MEMORY;
        match self.moves.iter().find(|step| impossible(&step.from) || impossible(&step.to)) {
            Some(step) => Err(format!("`{}`: impossible move", step.vm)),
            None => Ok(()),
        }
    }
}

impl Machine {
    fn of(name: &str, facts: &MachineFacts, memory: Result<&GuestMemory, &MemoryError>) -> Self {
        let (memory, error) = (memory.ok(), memory.err().map(ToString::to_string));
        Self {
            name: name.to_owned(),
            error,
            method: facts.method.map(str::to_owned),
            total: facts.total,
            fast: memory.map(|memory| memory.size),
            slow: memory.map(|memory| memory.slow),
            resident: memory.and_then(|memory| memory.resident),
            free: memory.and_then(|memory| memory.free),
            available: memory.and_then(|memory| memory.available),
            swap_used: memory.and_then(|memory| memory.swap_used),
            refaults_per_second: memory.and_then(|memory| memory.refaults),
            pressure: memory.and_then(|memory| memory.psi),
            source: memory.map(|memory| memory.source),
            no_accesses_reason: memory.and_then(|memory| memory.no_accesses_reason.clone()),
            dram_hits: memory.and_then(GuestMemory::dram_hits),
            telemetry_cpu: memory.and_then(|memory| memory.cost),
            telemetry_host_cpu: memory.and_then(|memory| memory.host_cost),
            nodes: memory.iter().flat_map(|memory| &memory.tiers).map(Node::of).collect(),
        }
    }

    fn check(&self) -> Result<(), String> {
        if let Some(total) = self.total.filter(|total| *total > MOST_MEMORY) {
            return Err(format!("impossible memory size: {total}"));
        }
        if let Some(hits) = self.dram_hits.filter(|hits| !(0.0..=1.0).contains(&hits.0)) {
            return Err(format!("impossible fraction of accesses: {} is not between 0 and 1", hits.0));
        }
        self.memory().map_or(Ok(()), |memory| memory.check(MOST_MEMORY))
    }

    pub(crate) fn memory(&self) -> Option<GuestMemory> {
        let tier = |node: &Node| TierMemory {
            node: node.node,
            is_slow: node.slow,
            size: node.size,
            free: node.free,
            accesses: node.accesses.clone(),
        };
        Some(GuestMemory {
            size: self.fast?,
            slow: self.slow.unwrap_or_default(),
            resident: self.resident,
            free: self.free,
            available: self.available,
            swap_used: self.swap_used,
            refaults: self.refaults_per_second,
            psi: self.pressure,
            source: self.source.unwrap_or(AccessSourceKind::None),
            no_accesses_reason: self.no_accesses_reason.clone(),
            tiers: self.nodes.iter().map(tier).collect(),
            cost: self.telemetry_cpu,
            host_cost: self.telemetry_host_cpu,
        })
    }
}

impl Node {
    fn of(tier: &TierMemory) -> Self {
        let TierMemory { node, is_slow, size, free, accesses } = tier;
        Self { node: *node, slow: *is_slow, size: *size, free: *free, accesses: accesses.clone() }
    }
}
