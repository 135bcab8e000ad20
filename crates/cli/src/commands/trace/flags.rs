//! The flags of `plumb trace`, as written.

use std::{ffi::OsString, path::PathBuf};

use analysis::CallGrouping;
use clap::{Args, ValueEnum};
use samples::ProbeKind;
use units::Nanos;

use crate::{
    amount,
    value_parsers::{Word, one_of},
};

/// Flags of `plumb trace`.
#[derive(Debug, Args)]
#[command(after_help = AFTER_HELP, override_usage = USAGE)]
pub(crate) struct TraceArgs {
    #[command(flatten)]
    pub(super) what: Target,
    /// Start this program and trace it, with all that it starts, to its end
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

const AFTER_HELP: &str = "\
System calls are counted and timed in the kernel; nothing is sent for each. Their time is split into running \
(on a CPU), waiting (asleep, or in a queue for a CPU) and, of a virtual machine, in its guest. It needs root (or \
CAP_BPF and CAP_PERFMON) and a kernel with BTF; `plumb doctor` tells.

Exit status: 0 traced; 1 it failed, or the program that was started did; 3 this machine cannot trace; 64 usage error, \
or there is no such process, namespace or machine; 130 interrupted (what was seen is printed).";

/// What is traced.
#[derive(Debug, Args)]
#[group(id = "what", multiple = false)]
#[command(next_help_heading = "What")]
pub(crate) struct Target {
    /// Processes by number, with all their threads and what they start from then on
    #[arg(short, long, value_name = "PID", value_delimiter = ',', num_args = 1..)]
    pub(super) pid: Vec<u32>,
    /// Every process of a network namespace: a name of `ip netns`, or a path as /proc/PID/ns/net
    #[arg(short, long, value_name = "NAME")]
    pub(super) netns: Option<String>,
    /// Every process of a control group and those below it: a path, also from where they are mounted
    #[arg(short, long, value_name = "PATH")]
    pub(super) cgroup: Option<String>,
    /// A virtual machine: its guest's name, its QEMU's process, or Proxmox's number
    #[arg(short, long, value_name = "NAME")]
    pub(super) qemu: Option<String>,
    /// Hold trace B against trace A: files that --output or --json wrote
    #[arg(long, value_names = ["A", "B"], num_args = 2)]
    pub(super) compare: Option<Vec<PathBuf>>,
}

/// How it is traced.
#[derive(Debug, Args)]
#[command(next_help_heading = "How")]
pub(super) struct Method {
    /// Look for so long (seconds) [default: 10]
    #[arg(id = "length", long = "for", alias = "time", short_alias = 't', value_name = "SECONDS", value_parser = amount::seconds)]
    pub(super) length: Option<Nanos>,
    /// On a terminal, show so often what happened meanwhile (seconds); 0 for only the end
    #[arg(long, value_name = "SECONDS", value_parser = amount::seconds, default_value = "1")]
    pub(super) every: Nanos,
    /// What to look at
    #[arg(long, value_parser = one_of(PROBES), value_delimiter = ',', default_values = ["cpu", "syscalls"])]
    pub(super) probe: Vec<ProbeKind>,
    /// Where no program can be loaded into the kernel, count system calls by stopping the processes of --pid at each: slow
    #[arg(long, value_enum, conflicts_with_all = ["netns", "cgroup", "qemu", "compare", "command"])]
    pub(super) fallback: Option<Fallback>,
}

/// What is printed.
#[derive(Debug, Args)]
#[command(next_help_heading = "Output")]
pub(super) struct Output {
    /// Tell system calls apart by this too [default: process; thread of a virtual machine]
    #[arg(long, value_parser = one_of(BY))]
    pub(super) by: Option<CallGrouping>,
    /// So many rows a table at most
    #[arg(long, value_name = "N", default_value_t = 12, value_parser = clap::value_parser!(u16).range(1..))]
    pub(super) top: u16,
    /// Print the trace as JSON: everything that was recorded, as --compare takes it
    #[arg(short = 'J', long)]
    pub(super) json: bool,
    /// Write to this file too: .json for --compare, .md, .txt
    #[arg(short, long, value_name = "FILE")]
    pub(super) output: Option<PathBuf>,
}

const PROBES: &[Word<ProbeKind>] = &[
    ("cpu", ProbeKind::Cpu, "CPU time of the whole machine by owner"),
    ("syscalls", ProbeKind::Syscalls, "System calls of what is traced"),
];

/// By whom calls are told apart.
const BY: &[Word<CallGrouping>] = &[
    ("call", CallGrouping::Call, "By kind of call alone"),
    ("process", CallGrouping::Process, "By process as well"),
    ("thread", CallGrouping::Thread, "By thread as well"),
];

/// What counts where eBPF cannot, as it is typed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum Fallback {
    /// Stopping each thread at each call
    Ptrace,
}

impl TraceArgs {
    /// Which probes, each once.
    pub(super) fn probes(&self) -> Vec<ProbeKind> {
        let asked = |kind: &ProbeKind| self.how.probe.contains(kind);
        ProbeKind::ALL.into_iter().filter(asked).collect()
    }
}
