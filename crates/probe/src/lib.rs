//! Reads kernel data about a trial from /proc, /sys and BPF programs.

mod bpf;
mod capability;
mod counters;
mod cpu;
mod cpu_attribution;
mod environment;
mod error;
mod file;
mod namespace_devices;
mod observe;
mod packet_way;
mod ptrace;
mod registry;
mod syscalls;
mod target;
mod vm;

pub use capability::{Area, Capability, State, capabilities, described};
pub use counters::SoftnetReading;
pub use cpu::CpuReading;
pub use cpu_attribution::ProcessTimes;
pub use environment::environment;
pub use error::Error;
pub use namespace_devices::namespace_devices;
pub use observe::{Probe, ProbeError, Watch};
pub use ptrace::{Slices, ptrace_counter};
pub use registry::probe;
pub use target::{
    LabelledProcess, Qemu, TargetError, called, control_group, in_control_group, in_namespace, is_alive,
    is_machine, labelled, machine, namespace, namespace_of, process, qemu, qemus,
};
pub use vm::{VmQueue, VmReading};
