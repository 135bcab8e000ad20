//! Errors in settings, each with the VM's name and a fix.

use thiserror::Error;
use units::Bytes;

#[derive(Debug, Clone, PartialEq, Error)]
pub enum SettingsError {
    #[error("duplicate VM `{vm}`; give each VM a unique name")]
    Duplicate { vm: String },
    #[error("a VM has no name; give each VM a unique name")]
    NoName,
    #[error("VM `{vm}`: weight {weight}; use a number above 0, e.g. 1")]
    Weight { vm: String, weight: f64 },
    #[error("VM `{vm}`: target {target}; use a share of accesses above 0 and up to 1, e.g. 0.9")]
    Target { vm: String, target: f64 },
    #[error(
        "VM `{vm}`: the {tier} floor ({floor}) is higher than the ceiling ({ceiling}); lower the floor or \
         raise the ceiling"
    )]
    FloorAboveCeiling { vm: String, tier: &'static str, floor: Bytes, ceiling: Bytes },
    #[error(
        "VM `{vm}`: memory {memory} does not fit its floors and ceilings, {least} to {most} in both tiers together; change \
                 the memory or these limits"
    )]
    Memory { vm: String, memory: Bytes, least: Bytes, most: Bytes },
    #[error(
        "the {tier} floors add up to {floors}, but the capacity is {capacity}; lower the floors or remove VMs"
    )]
    FloorsAboveCapacity { tier: &'static str, floors: Bytes, capacity: Bytes },
    #[error("{key} is {value}; use a share above 0 and up to 1")]
    NoShare { key: &'static str, value: f64 },
    #[error("{key} is 0; use a size, e.g. 64MiB")]
    Zero { key: &'static str },
    #[error("step is {step}, less than one block of {block}; raise the step or lower the block")]
    StepBelowBlock { step: Bytes, block: Bytes },
    #[error("{key} is {value}; use a rate per second above 0")]
    NoRate { key: &'static str, value: f64 },
}
