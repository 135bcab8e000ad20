//! What is wrong with settings: what, of which VM, and what to do.

use thiserror::Error;
use units::Bytes;

/// Settings that cannot be met.
#[derive(Debug, Clone, PartialEq, Error)]
pub enum SettingsError {
    #[error("VM `{vm}` is there twice; give each VM a name of its own")]
    Duplicate { vm: String },
    #[error("a VM has no name; give each VM a name of its own")]
    NoName,
    #[error("VM `{vm}`: weight {weight}; write a number above 0, such as 1")]
    Weight { vm: String, weight: f64 },
    #[error("VM `{vm}`: target {target}; write a share of accesses above 0 and at most 1, such as 0.9")]
    Target { vm: String, target: f64 },
    #[error(
        "VM `{vm}`: its floor of {tier}, {floor}, is above its ceiling, {ceiling}; lower the floor or raise the ceiling"
    )]
    FloorAboveCeiling { vm: String, tier: &'static str, floor: Bytes, ceiling: Bytes },
    #[error(
        "VM `{vm}`: memory {memory} does not fit its floors and ceilings, {least} to {most} in both tiers together; change \
         the memory or these"
    )]
    Memory { vm: String, memory: Bytes, least: Bytes, most: Bytes },
    #[error(
        "the floors of {tier} come to {floors}, but there is {capacity} to share out; lower floors or leave out VMs"
    )]
    FloorsAboveCapacity { tier: &'static str, floors: Bytes, capacity: Bytes },
    #[error("{key} is {value}; write a share above 0 and at most 1")]
    NoShare { key: &'static str, value: f64 },
    #[error("{key} is 0; write a size such as 64MiB")]
    Zero { key: &'static str },
    #[error("step is {step}, less than one block of {block}; raise the step or lower the block")]
    StepBelowBlock { step: Bytes, block: Bytes },
    #[error("{key} is {value}; write a rate a second above 0")]
    NoRate { key: &'static str, value: f64 },
}
