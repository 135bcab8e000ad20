//! The flags of `plumb trace`.

use std::{ffi::OsString, path::PathBuf};

use analysis::CallGrouping;
use clap::{Args, ValueEnum};
use samples::ProbeKind;
use units::Nanos;

use crate::{
    amount,
    value_parsers::{Word, one_of},
};

#[derive(Debug, Args)]
#[command(after_help = AFTER_HELP, override_usage = USAGE)]
pub(crate) struct TraceArgs {
    #[command(flatten)]
    pub(super) what: Target,
    /// Run this program and trace it and its children until it exits
    #[arg(last = true, value_name = "COMMAND", conflicts_with_all = ["what", "length"])]
    pub(super) command: Vec<OsString>,
    #[command(flatten)]
    pub(super) how: Method,
    #[command(flatten)]
    pub(super) output: Output,
}

const USAGE: &str = "plumb trace --pid PID | --netns NAME | --cgroup PATH | --qemu NAME [--for 10s]
       plumb trace -- COMMAND...
       plumb trace --compare A.json B.json";

const AFTER_HELP: &str = "System calls are counted and timed in the kernel, without an event per call. \
    Their time is split into running (on a CPU), waiting (asleep or in a run queue) and, for a virtual \
    machine, guest time. Requires root (or CAP_BPF and CAP_PERFMON) and a kernel with BTF; see `plumb \
    doctor`.

Exit status: that of the traced command; otherwise 0 success; 1 failure; 3 this machine cannot trace; 64 usage \
    error, or no such process, namespace or machine; 130 interrupted (partial results are printed).";

#[derive(Debug, Args)]
#[group(id = "what", multiple = false)]
#[command(next_help_heading = "Target")]
pub(crate) struct Target {
    /// Process ids. The trace includes all threads and new children of these processes
    #[arg(short, long, value_name = "PID", value_delimiter = ',', num_args = 1..)]
    pub(super) pid: Vec<u32>,
    /// All processes in a network namespace: an `ip netns` name, or a path, e.g. /proc/PID/ns/net
    #[arg(short, long, value_name = "NAME")]
    pub(super) netns: Option<String>,
    /// All processes in a cgroup and its children: a path, absolute or relative to the cgroup mount
    #[arg(short, long, value_name = "PATH")]
    pub(super) cgroup: Option<String>,
    /// A virtual machine: the guest's name, QEMU's PID, or Proxmox's VM id
    #[arg(short, long, value_name = "NAME")]
    pub(super) qemu: Option<String>,
    /// Compare trace B with trace A. Both are files written by --output or --json
    #[arg(long, value_names = ["A", "B"], num_args = 2)]
    pub(super) compare: Option<Vec<PathBuf>>,
}

#[derive(Debug, Args)]
#[command(next_help_heading = "Method")]
pub(super) struct Method {
    /// Duration in seconds [default: 10]
    #[arg(id = "length", long = "for", alias = "time", short_alias = 't', value_name = "SECONDS", value_parser = amount::seconds)]
    pub(super) length: Option<Nanos>,
    /// Interval of live updates on a terminal (seconds). 0 disables updates
    #[arg(long, value_name = "SECONDS", value_parser = amount::seconds, default_value = "1")]
    pub(super) every: Nanos,
    /// Data to collect
    #[arg(long, value_parser = one_of(PROBES), value_delimiter = ',', default_values = ["cpu", "syscalls"])]
    pub(super) probe: Vec<ProbeKind>,
    /// If eBPF is unavailable, count the system calls of --pid processes by stopping the processes at each
    /// call. This is slow
    #[arg(long, value_enum, conflicts_with_all = ["netns", "cgroup", "qemu", "compare", "command"])]
    pub(super) fallback: Option<Fallback>,
}

#[derive(Debug, Args)]
#[command(next_help_heading = "Output")]
pub(super) struct Output {
    /// How to group system calls [default: process, or thread for a virtual machine]
    #[arg(long, value_parser = one_of(BY))]
    pub(super) by: Option<CallGrouping>,
    /// Maximum rows per table
    #[arg(long, value_name = "N", default_value_t = 12, value_parser = clap::value_parser!(u16).range(1..))]
    pub(super) top: u16,
    /// Print the complete trace as JSON, for --compare
    #[arg(short = 'J', long)]
    pub(super) json: bool,
    /// Also write to this file: .json for --compare, .md, .txt
    #[arg(short, long, value_name = "FILE")]
    pub(super) output: Option<PathBuf>,
}

const PROBES: &[Word<ProbeKind>] = &[
    ("cpu", ProbeKind::Cpu, "CPU attribution for the whole machine"),
    ("syscalls", ProbeKind::Syscalls, "System calls of the target"),
];

const BY: &[Word<CallGrouping>] = &[
    ("call", CallGrouping::Call, "By system call only"),
    ("process", CallGrouping::Process, "By system call and process"),
    ("thread", CallGrouping::Thread, "By system call and thread"),
];

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum Fallback {
    /// Stop each thread at each call
    Ptrace,
}

impl TraceArgs {
    pub(super) fn probes(&self) -> Vec<ProbeKind> {
        let is_requested = |kind: &ProbeKind| self.how.probe.contains(kind);
        ProbeKind::ALL.into_iter().filter(is_requested).collect()
    }
}
