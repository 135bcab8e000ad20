//! What `plumb memory top --json` prints: a document a look.

use std::{collections::BTreeMap, time::Duration};

use jiff::Timestamp;
use memory::{GuestMemory, MemoryError, TierMemory};
use protocol::{AccessClass, AccessSourceKind};
use serde::Serialize;
use units::{Bytes, Nanos, Share};

/// One look at all machines.
#[derive(Debug, Serialize)]
pub(super) struct Document {
    /// The version of this form.
    schema: u32,
    at: String,
    interval: Nanos,
    vms: Vec<Machine>,
}

/// A machine; what is not known is null.
#[derive(Debug, Serialize)]
struct Machine {
    name: String,
    /// Why it could not be seen.
    error: Option<String>,
    /// By which its memory can be moved.
    method: Option<&'static str>,
    fast: Option<Bytes>,
    slow: Option<Bytes>,
    resident: Option<Bytes>,
    free: Option<Bytes>,
    available: Option<Bytes>,
    swap_used: Option<Bytes>,
    refaults_per_second: Option<f64>,
    pressure: Option<Share>,
    source: Option<AccessSourceKind>,
    no_accesses_because: Option<String>,
    dram_hits: Option<Share>,
    /// Of one CPU of the guest.
    telemetry_cpu: Option<Share>,
    /// Of the host, for this look.
    telemetry_host_cpu: Option<Nanos>,
    nodes: Vec<Node>,
}

#[derive(Debug, Serialize)]
struct Node {
    node: u32,
    slow: bool,
    size: Bytes,
    free: Bytes,
    /// How many accesses fell on how much memory, in a unit of the source's own.
    accesses: Vec<AccessClass>,
}

impl Document {
    const SCHEMA: u32 = 1;

    pub(super) fn of(
        seen: &BTreeMap<String, Result<GuestMemory, MemoryError>>,
        methods: &BTreeMap<String, Option<&'static str>>,
        interval: Duration,
    ) -> Self {
        let machine = |(name, seen): (&String, &Result<GuestMemory, MemoryError>)| {
            let method = methods.get(name).copied().flatten();
            Machine::of(name, method, seen.as_ref())
        };
        Self {
            schema: Self::SCHEMA,
            at: Timestamp::now().to_string(),
            interval: interval.into(),
            vms: seen.iter().map(machine).collect(),
        }
    }
}

impl Machine {
    fn of(name: &str, method: Option<&'static str>, seen: Result<&GuestMemory, &MemoryError>) -> Self {
        let (memory, error) = (seen.ok(), seen.err().map(ToString::to_string));
        Self {
            name: name.to_owned(),
            error,
            method,
            fast: memory.map(|memory| memory.size),
            slow: memory.map(|memory| memory.slow),
            resident: memory.and_then(|memory| memory.resident),
            free: memory.and_then(|memory| memory.free),
            available: memory.and_then(|memory| memory.available),
            swap_used: memory.and_then(|memory| memory.swap_used),
            refaults_per_second: memory.and_then(|memory| memory.refaults),
            pressure: memory.and_then(|memory| memory.psi),
            source: memory.map(|memory| memory.source),
            no_accesses_because: memory.and_then(|memory| memory.no_accesses_because.clone()),
            dram_hits: memory.and_then(GuestMemory::dram_hits),
            telemetry_cpu: memory.and_then(|memory| memory.cost),
            telemetry_host_cpu: memory.and_then(|memory| memory.host_cost),
            nodes: memory.iter().flat_map(|memory| &memory.tiers).map(Node::of).collect(),
        }
    }
}

impl Node {
    fn of(tier: &TierMemory) -> Self {
        let TierMemory { node, is_slow, size, free, accesses } = tier;
        Self { node: *node, slow: *is_slow, size: *size, free: *free, accesses: accesses.clone() }
    }
}
