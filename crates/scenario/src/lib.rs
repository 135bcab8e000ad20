//! Parses and checks scenario documents and expands them into plans.
//!
//! A scenario has three forms: parsed (`document`, with source positions), resolved ([`Scenario`]) and expanded
//! ([`Plan`]).

pub mod builtin;
mod check;
mod design;
mod diagnosis;
mod document;
mod endpoint;
mod existing_host;
mod expand;
mod factor;
mod family;
mod fault;
mod guest_kernel;
mod lab;
pub mod link;
mod names;
mod nearest;
mod order;
mod packet_walk;
mod parse;
mod path;
mod plan;
mod plan_size;
mod ports;
mod probes;
mod record;
mod resolve;
mod rounds;
mod scenario;
mod schema;
mod simultaneous;
mod steps;
pub mod template;
mod uneven_networks;
mod unpinned;
mod values;
pub mod variant;
mod vm;
mod workload;

pub use design::{BUDGETS, LEAST_PRECISE, PRECISIONS};
pub use diagnosis::{Diagnosis, Place};
pub use endpoint::{Endpoint, EndpointError};
pub use existing_host::{Access, ExistingHost};
pub use expand::PlanOptions;
pub use factor::{Factor, Level, Setting, WorkloadSetting};
pub use family::Family;
pub use fault::{Fault, Impairment, PlacedFault};
pub use guest_kernel::GuestKernel;
pub use lab::{DeviceSettingKind, DeviceSettings, Gateway, Host, HostKind, Lab, Offloads, Route};
pub use link::{Layer, Link, LinkDevice};
pub use names::{DeviceName, DeviceRef, FactorName, HostName, PathName, ResultId, WorkloadName};
pub use parse::digest;
pub use path::{Path, PathEnd};
pub use plan::{Plan, PlannedResult, PlannedTrial, Step};
pub use plan_size::PlanTooLarge;
pub use probes::Probes;
pub use rounds::rounds;
pub use scenario::{Ports, Scenario, Schedule};
pub use schema::{lab_tables, layers, schema};
pub use uneven_networks::uneven_networks;
pub use unpinned::unpinned_workloads;
pub use vm::{Board, Monitor, VirtioNet, Vm};
pub use workload::Workload;
