//! Kernel data on a trial: CPU time, system calls, latency breakdown, environment and capabilities of the machine.
//!
//! Reads /proc and /sys and loads BPF programs, outside the path of messages. Independent of workloads, thresholds
//! and statistics.

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
    Qemu, TargetError, called, control_group, in_control_group, in_namespace, is_alive, is_machine, machine,
    namespace, namespace_of, process, qemu, qemus,
};
pub use vm::{VmQueue, VmReading};
