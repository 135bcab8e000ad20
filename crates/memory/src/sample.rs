//! A sample of VM memory as one line of JSON, printed by `plumb memory top --json` and stored in recordings.

use std::time::Duration;

use jiff::Timestamp;
use policy::{Move, Tiers};
use protocol::{AccessSourceKind, NodeMemory};
use serde::{Deserialize, Serialize};
use units::{Bytes, Nanos, Share};

use crate::{
    attached::{AttachedVm, AttachedVms, Seen},
    error::MemoryError,
    limits::MOST_MEMORY,
    running::GuestMemory,
};

#[derive(Debug, Serialize, Deserialize)]
pub struct MemorySample {
    schema: u32,
    at: String,
    pub interval: Nanos,
    pub vms: Vec<VmSample>,
    /// Moves ordered by a rebalancer after the sample.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub moves: Vec<Move>,
}

/// Unknown values are null.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct VmSample {
    pub name: String,
    error: Option<String>,
    method: Option<String>,
    /// Maximum fast memory.
    #[serde(default)]
    pub total: Option<Bytes>,
    pub fast: Option<Bytes>,
    pub slow: Option<Bytes>,
    resident: Option<Bytes>,
    free: Option<Bytes>,
    available: Option<Bytes>,
    swap_used: Option<Bytes>,
    refaults_per_second: Option<f64>,
    pressure: Option<Share>,
    source: Option<AccessSourceKind>,
    no_accesses_reason: Option<String>,
    pub dram_hits: Option<Share>,
    /// Share of one guest CPU.
    telemetry_cpu: Option<Share>,
    telemetry_host_cpu: Option<Nanos>,
    nodes: Vec<NodeMemory>,
}

impl MemorySample {
    const SCHEMA: u32 = 1;

    #[must_use]
    pub fn new(seen: &Seen, vms: &AttachedVms, interval: Duration, moves: &[Move]) -> Self {
        let of_vm = |(name, memory): (&String, &Result<_, _>)| VmSample::new(name, vms.get(name), memory);
        Self {
            schema: Self::SCHEMA,
            at: Timestamp::now().to_string(),
            interval: interval.into(),
            vms: seen.iter().map(of_vm).collect(),
            moves: moves.to_vec(),
        }
    }

    #[must_use]
    pub fn moment(&self) -> Timestamp {
        self.at.parse().unwrap_or_default()
    }

    pub(crate) fn vm(&self, name: &str) -> Option<&VmSample> {
        self.vms.iter().find(|vm| vm.name == name)
    }

    pub(crate) const fn is_known(&self) -> bool {
        self.schema == Self::SCHEMA
    }

    pub(crate) fn check(&self) -> Result<(), String> {
        for vm in &self.vms {
            vm.check().map_err(|what| format!("`{}`: {what}", vm.name))?;
        }
        let impossible = |tiers: &Tiers| tiers.fast > MOST_MEMORY || tiers.slow > MOST_MEMORY;
        match self.moves.iter().find(|step| impossible(&step.from) || impossible(&step.to)) {
            Some(step) => Err(format!("`{}`: invalid move", step.vm)),
            None => Ok(()),
        }
    }
}

impl VmSample {
    fn new(name: &str, vm: Option<&AttachedVm>, memory: &Result<GuestMemory, MemoryError>) -> Self {
        let mut sample = match memory {
            Ok(memory) => Self::from(memory.clone()),
            Err(error) => Self { error: Some(error.to_string()), ..Self::default() },
        };
        name.clone_into(&mut sample.name);
        sample.method = vm.map(|vm| vm.method().word().to_owned());
        sample.total = vm.map(AttachedVm::whole);
        sample
    }

    fn check(&self) -> Result<(), String> {
        if let Some(total) = self.total.filter(|total| *total > MOST_MEMORY) {
            return Err(format!("invalid memory size: {total}"));
        }
        if let Some(hits) = self.dram_hits.filter(|hits| !(0.0..=1.0).contains(&hits.0)) {
            return Err(format!("invalid fraction of accesses: {} is not between 0 and 1", hits.0));
        }
        self.memory().map_or(Ok(()), |memory| memory.check(MOST_MEMORY))
    }

    pub(crate) fn memory(&self) -> Option<GuestMemory> {
        let Self { resident, free, available, swap_used, refaults_per_second, pressure, .. } = *self;
        Some(GuestMemory {
            size: self.fast?,
            slow: self.slow.unwrap_or_default(),
            resident,
            free,
            available,
            swap_used,
            refaults_per_second,
            pressure,
            source: self.source.unwrap_or(AccessSourceKind::None),
            no_accesses_reason: self.no_accesses_reason.clone(),
            nodes: self.nodes.clone(),
            telemetry_cpu: self.telemetry_cpu,
            telemetry_host_cpu: self.telemetry_host_cpu,
        })
    }
}

impl From<GuestMemory> for VmSample {
    fn from(memory: GuestMemory) -> Self {
        let dram_hits = memory.dram_hits();
        let GuestMemory { resident, free, available, swap_used, refaults_per_second, pressure, .. } = memory;
        Self {
            fast: Some(memory.size),
            slow: Some(memory.slow),
            resident,
            free,
            available,
            swap_used,
            refaults_per_second,
            pressure,
            source: Some(memory.source),
            no_accesses_reason: memory.no_accesses_reason,
            dram_hits,
            telemetry_cpu: memory.telemetry_cpu,
            telemetry_host_cpu: memory.telemetry_host_cpu,
            nodes: memory.nodes,
            ..Self::default()
        }
    }
}
