//! The document as parsed, with source positions. Doc comments of fields are the descriptions in the JSON schema.

mod device_table;
mod families;
mod fault_table;
mod lab_tables;
mod pairs_value;
mod probe_table;
mod read;
mod run_tables;
mod section;
mod spanned;
mod variant_table;
mod workload_tables;
mod written;

use std::collections::BTreeSet;

use schemars::JsonSchema;

pub(crate) use crate::link::{BridgeTable, GuestTable, LinkTables};
use crate::{existing_host::ExistingHost, family::Family, resolve::existing_host};
pub(crate) use device_table::DeviceTable;
pub(crate) use families::Converter;
pub(crate) use fault_table::{FaultKind, FaultTable};
pub(crate) use lab_tables::{GatewayTable, HostTable, RouteTable, Switch, VmTable};
pub(crate) use pairs_value::{PairWay, Pairs};
pub(crate) use probe_table::{Kinds, ProbesTable};
pub(crate) use read::{FIXED, ReadSection, keys, lab_keys, read};
pub(crate) use run_tables::{FactorTable, PathTable, ScheduleTable};
pub(crate) use section::{Entry, Section};
pub(crate) use spanned::Spanned;
pub(crate) use variant_table::VariantTable;
pub(crate) use workload_tables::{Loop, PlacementValue, UnderTable, WorkloadTable};
pub(crate) use written::As;

pub(crate) const VERSION: u32 = 1;

/// A Plumbline scenario: a lab, the paths through it, the workloads on them, and the settings to vary.
#[derive(Debug, Clone, JsonSchema)]
#[schemars(deny_unknown_fields, title = "Plumbline scenario")]
pub(crate) struct Document {
    /// The version of the scenario language: 1.
    #[schemars(range(min = 1, max = 1))]
    pub(crate) schema: Spanned<u32>,
    /// The scenario's name: lower-case letters, digits and dashes.
    #[schemars(example = &"egress-gateway")]
    pub(crate) name: Spanned<String>,
    /// A one-line summary.
    pub(crate) title: String,
    /// What the scenario is for and how to read its results.
    #[schemars(with = "Option<String>")]
    pub(crate) about: String,
    /// The address families of the lab: `["ipv4", "ipv6"]` gives each device an address in both, and measures
    /// each result in both. The counterpart of 198.18.1.1 is 2001:2::198.18.1.1. Default: the family of the
    /// written addresses.
    #[schemars(length(min = 1, max = 2))]
    pub(crate) family: Option<Spanned<Vec<Spanned<Family>>>>,
    /// Hosts, by name. Each is a network namespace.
    pub(crate) hosts: Section<HostTable>,
    /// The links between hosts.
    #[schemars(flatten)]
    pub(crate) links: LinkTables,
    /// Kinds of virtual machine for guests, by name.
    #[schemars(with = "Option<Section<VmTable>>")]
    pub(crate) vms: Section<VmTable>,
    /// Egress gateways, by name.
    #[schemars(with = "Option<Section<GatewayTable>>")]
    pub(crate) gateways: Section<GatewayTable>,
    /// Static routes.
    #[schemars(with = "Option<Vec<RouteTable>>")]
    pub(crate) routes: Vec<RouteTable>,
    /// Device settings, by `"host:device"`.
    #[schemars(with = "Option<Section<DeviceTable>>")]
    pub(crate) devices: Section<DeviceTable>,
    /// Faults to build into the lab, by name.
    #[schemars(with = "Option<Section<FaultTable>>")]
    pub(crate) faults: Section<FaultTable>,
    /// Paths, by name.
    pub(crate) paths: Section<PathTable>,
    /// Pairs of existing hosts, each measured in both directions: `"all"`, `"ring"` (each host with the next) or a
    /// list of pairs. Default: none.
    pub(crate) pairs: Option<Spanned<Pairs>>,
    /// Workloads, by name.
    pub(crate) workloads: Section<WorkloadTable>,
    /// Factors, by name.
    #[schemars(with = "Option<Section<FactorTable>>")]
    pub(crate) factors: Section<FactorTable>,
    /// How the scenario is run.
    #[schemars(with = "Option<ScheduleTable>")]
    pub(crate) schedule: ScheduleTable,
    /// Probes for additional trials. Default: none.
    pub(crate) probes: Option<ProbesTable>,
    /// Variants, by name: other experiments in the same lab, run with `plumb run SCENARIO --variant NAME`.
    #[schemars(with = "Option<Section<VariantTable>>")]
    pub(crate) variants: Section<VariantTable>,
    #[schemars(skip)]
    pub(crate) broken: Broken,
}

/// The parts of the document that could not be read. The checks do not report them as missing.
#[derive(Debug, Clone, Default)]
pub(crate) struct Broken {
    pub(crate) lab: bool,
    pub(crate) names: BTreeSet<String>,
}

impl Document {
    pub(crate) fn host_names(&self) -> impl Iterator<Item = &Spanned<String>> {
        let hosts = self.hosts.iter().map(|entry| &entry.name);
        hosts.chain(self.attached().map(|entry| &entry.name))
    }

    pub(crate) fn existing(&self, host: &str) -> Option<ExistingHost> {
        existing_host(&self.hosts.get(host)?.table)
    }

    pub(crate) fn attached(&self) -> impl Iterator<Item = &Entry<GuestTable>> {
        self.links.guests.iter().chain(self.links.pods.iter())
    }
}
