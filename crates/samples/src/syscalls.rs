//! System calls that were counted beside a trial.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use units::{Bytes, Nanos};

/// How long calls took: how many took from 2^i ns up to less than 2^(i+1) ns, at place i, as far as any did.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct CallTimes(pub Vec<u64>);

/// The calls of one kind by one thread (or process, or all that was watched).
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SyscallCount {
    /// Which end, where known: `client`, `server`.
    pub end: Option<String>,
    /// The process, where known: `qemu-system-x86`.
    pub process: Option<String>,
    /// The thread, where known: `CPU 0/KVM`, `fc_vcpu 0`.
    pub thread: Option<String>,
    /// The process's number, while it ran.
    #[serde(default)]
    pub pid: Option<u32>,
    /// The thread's number, while it ran.
    #[serde(default)]
    pub tid: Option<u32>,
    /// The call: `ioctl`.
    pub call: String,
    /// How often.
    pub calls: u64,
    /// How often it failed; `None` when that was not counted.
    pub errors: Option<u64>,
    /// From enter to exit, all of them together; `None` when only counted.
    pub total: Option<Nanos>,
    /// Of that, on a CPU in the kernel; `None` when the tool cannot tell.
    pub running: Option<Nanos>,
    /// Of that, asleep or waiting for a CPU.
    pub waiting: Option<Nanos>,
    /// Of that, executing a guest (KVM_RUN).
    pub guest: Option<Nanos>,
    /// Bytes that the calls said they moved, of calls whose return value says it (read, sendto, ...).
    #[serde(default)]
    pub bytes: Option<Bytes>,
    /// How long single calls took; empty where that was not counted.
    #[serde(default)]
    pub times: CallTimes,
}
