//! System calls during a trial.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use units::{Bytes, Nanos};

/// Duration histogram. Entry i is the number of calls that took at least 2^i ns and less than 2^(i+1) ns. Trailing
/// zeros are omitted.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct CallTimes(pub Vec<u64>);

/// Calls of one kind by a thread, a process, or all observed processes.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SyscallCount {
    /// `client` or `server`, if known.
    pub end: Option<String>,
    /// The process, if known, e.g. `qemu-system-x86`.
    pub process: Option<String>,
    /// The thread, if known, e.g. `CPU 0/KVM` or `fc_vcpu 0`.
    pub thread: Option<String>,
    #[serde(default)]
    pub pid: Option<u32>,
    #[serde(default)]
    pub tid: Option<u32>,
    /// Name of the call, e.g. `ioctl`.
    pub call: String,
    pub calls: u64,
    /// Number of failed calls; `None` if not counted.
    pub errors: Option<u64>,
    /// Total time from entry to exit. `None` if not measured.
    pub total: Option<Nanos>,
    /// Part of `total` spent running in the kernel. `None` if the tool does not report it.
    pub running: Option<Nanos>,
    /// Part of `total` spent sleeping or waiting for a CPU.
    pub waiting: Option<Nanos>,
    /// Part of `total` spent running a guest (KVM_RUN).
    pub guest: Option<Nanos>,
    /// Bytes transferred, for calls that return a byte count (read, sendto, ...).
    #[serde(default)]
    pub bytes: Option<Bytes>,
    /// Duration histogram; empty if not measured.
    #[serde(default)]
    pub times: CallTimes,
}
