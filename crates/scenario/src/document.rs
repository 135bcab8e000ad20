//! The document as written: every table of the language, with the place of every word that a check may complain about.
//! Must not know what the words mean together; that is for the checks.

mod device_table;
mod lab_tables;
mod pairs_value;
mod probe_table;
mod read;
mod run_tables;
mod section;
mod variant_table;
mod workload_tables;
mod written;

use std::collections::BTreeSet;

use schemars::JsonSchema;
use toml::Spanned;

pub(crate) use crate::link::{BridgeTable, GuestTable, LinkTables};
use crate::{existing_host::ExistingHost, resolve::existing_host};
pub(crate) use device_table::DeviceTable;
pub(crate) use lab_tables::{GatewayTable, HostTable, RouteTable, Switch, VmTable};
pub(crate) use pairs_value::{PairWay, Pairs};
pub(crate) use probe_table::{Kinds, ProbesTable};
pub(crate) use read::{FIXED, ReadSection, keys, of_lab, read};
pub(crate) use run_tables::{FactorTable, PathTable, ScheduleTable};
pub(crate) use section::{Entry, Section};
pub(crate) use variant_table::VariantTable;
pub(crate) use workload_tables::{Loop, PlacementValue, UnderTable, WorkloadTable};
pub(crate) use written::As;

/// The version of the language that this program reads.
pub(crate) const VERSION: u32 = 1;

/// A Plumbline scenario: a lab, the paths through it, what is sent over them and what is varied.
#[derive(Debug, Clone, JsonSchema)]
#[schemars(deny_unknown_fields, title = "Plumbline scenario")]
pub(crate) struct Document {
    /// The version of the scenario language: 1.
    #[schemars(with = "u32", range(min = 1, max = 1))]
    pub(crate) schema: Spanned<u32>,
    /// The scenario's name: lower-case letters, digits and dashes.
    #[schemars(with = "String", example = &"egress-gateway")]
    pub(crate) name: Spanned<String>,
    /// One line that says what it shows.
    pub(crate) title: String,
    /// What it shows and how to read the results.
    #[schemars(with = "Option<String>")]
    pub(crate) about: String,
    /// Hosts, by name: each a network namespace of its own.
    pub(crate) hosts: Section<HostTable>,
    /// What connects them.
    #[schemars(flatten)]
    pub(crate) links: LinkTables,
    /// Kinds of virtual machine, by name, for guests to be.
    #[schemars(with = "Option<Section<VmTable>>")]
    pub(crate) vms: Section<VmTable>,
    /// Egress gateways, by name.
    #[schemars(with = "Option<Section<GatewayTable>>")]
    pub(crate) gateways: Section<GatewayTable>,
    /// Static routes.
    #[schemars(with = "Option<Vec<RouteTable>>")]
    pub(crate) routes: Vec<RouteTable>,
    /// Settings of devices, by `"host:device"`.
    #[schemars(with = "Option<Section<DeviceTable>>")]
    pub(crate) devices: Section<DeviceTable>,
    /// Paths, by name.
    pub(crate) paths: Section<PathTable>,
    /// Pairs of hosts that exist already, each of which is two paths, one for each way: `"all"`, `"ring"` (each host with the
    /// next) or a list of pairs. Default: none.
    #[schemars(with = "Option<Pairs>")]
    pub(crate) pairs: Option<Spanned<Pairs>>,
    /// Workloads, by name.
    pub(crate) workloads: Section<WorkloadTable>,
    /// Factors, by name.
    #[schemars(with = "Option<Section<FactorTable>>")]
    pub(crate) factors: Section<FactorTable>,
    /// How it is run.
    #[schemars(with = "Option<ScheduleTable>")]
    pub(crate) schedule: ScheduleTable,
    /// What some of its trials are watched with. Default: nothing.
    #[schemars(with = "Option<ProbesTable>")]
    pub(crate) probes: Option<ProbesTable>,
    /// Variants of it, by name: other experiments with the same lab, as `plumb run SCENARIO --variant NAME` measures them.
    #[schemars(with = "Option<Section<VariantTable>>")]
    pub(crate) variants: Section<VariantTable>,
    /// What was left out because it could not be read.
    #[schemars(skip)]
    pub(crate) broken: Broken,
}

/// What of a document could not be read, so that nobody complains that it is missing.
#[derive(Debug, Clone, Default)]
pub(crate) struct Broken {
    /// Whether the lab lacks a part.
    pub(crate) lab: bool,
    /// The names of the tables that are left out.
    pub(crate) names: BTreeSet<String>,
}

impl Document {
    /// Everything that can be a host: hosts, guests and pods, with the places of their names.
    pub(crate) fn host_names(&self) -> impl Iterator<Item = &Spanned<String>> {
        let hosts = self.hosts.iter().map(|entry| &entry.name);
        hosts.chain(self.attached().map(|entry| &entry.name))
    }

    /// How the host of that name is reached, if it exists already.
    pub(crate) fn existing(&self, host: &str) -> Option<ExistingHost> {
        existing_host(&self.hosts.get(host)?.table)
    }

    /// Guests and pods.
    pub(crate) fn attached(&self) -> impl Iterator<Item = &Entry<GuestTable>> {
        self.links.guests.iter().chain(self.links.pods.iter())
    }
}
