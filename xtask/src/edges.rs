//! The allowed dependencies between crates, and heavy dependencies that only one crate may use.

/// A crate's tests may use any crate of a lower level.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Level {
    Platform,
    Model,
    Core,
    Adapters,
    Orchestration,
    Interfaces,
    Entry,
    /// No crate may use crates of this level.
    Outside,
}

use Level::{Adapters, Core, Entry, Interfaces, Model, Orchestration, Outside, Platform};

pub(crate) struct CrateRule {
    pub(crate) name: &'static str,
    pub(crate) level: Level,
    pub(crate) may_use: &'static [&'static str],
    pub(crate) why: &'static str,
}

pub(crate) struct Restricted {
    pub(crate) krate: &'static str,
    pub(crate) crates: &'static [&'static str],
    pub(crate) why: &'static str,
}

#[rustfmt::skip]
pub(crate) const CRATES: &[CrateRule] = &[
    CrateRule { name: "sys", level: Platform, may_use: &[],
        why: "system calls are independent of the domain" },

    CrateRule { name: "plumb-tests", level: Platform, may_use: &["sys"],
        why: "shared test code runs the program by its command line and needs sys for a private loopback; only \
              tests and benches may use it" },

    CrateRule { name: "units", level: Model, may_use: &[],
        why: "a quantity does not depend on the thing that it measures" },
    CrateRule { name: "workload", level: Model, may_use: &["units"],
        why: "crates that may not depend on each other use the same types for workloads and their results" },
    CrateRule { name: "samples", level: Model, may_use: &["workload", "units"],
        why: "a recorded run can be read without the scenario, the lab or the statistics" },
    CrateRule { name: "scenario", level: Model, may_use: &["samples", "workload", "units"],
        why: "the experiment is a document, independent of its execution and results; schedules, reasons for trials and probes \
              have the names under which they are recorded" },
    CrateRule { name: "findings", level: Model, may_use: &["workload", "samples", "units"],
        why: "a finding contains its numbers and warnings, and does not refer to a run" },
    CrateRule { name: "protocol", level: Model, may_use: &["workload", "samples", "scenario", "units"],
        why: "orders and events are plain data and do not depend on the sender or the receiver" },

    CrateRule { name: "stats", level: Core, may_use: &[],
        why: "estimators work on plain numbers, so that they can be tested against the literature" },
    CrateRule { name: "codecs", level: Core, may_use: &["workload", "units"],
        why: "codecs only convert bytes; they open no sockets and read no clock" },
    CrateRule { name: "budgets", level: Core, may_use: &[],
        why: "budgets count peers by address and do not depend on protocols, clocks or sockets" },
    CrateRule { name: "import", level: Core, may_use: &["codecs", "workload", "samples", "units"],
        why: "import converts logs of other tools to trials; codecs parse iperf3's JSON" },
    CrateRule { name: "analysis", level: Core,
        may_use: &["stats", "workload", "samples", "findings", "units"],
        why: "a stored run can be analysed without root, a clock, files or terminal colours" },
    CrateRule { name: "policy", level: Core, may_use: &["units"],
        why: "policy turns observations into moves, so it can be simulated, replayed and tested without a host" },
    CrateRule { name: "report", level: Core, may_use: &["findings", "workload", "samples", "units"],
        why: "a report shows numbers and computes none" },

    CrateRule { name: "topology", level: Adapters, may_use: &["samples", "scenario", "sys", "units"],
        why: "links do not depend on traffic, machines or results; the state of devices is recorded as samples" },
    CrateRule { name: "fleet", level: Adapters, may_use: &["sys"],
        why: "a host decides who may measure on it, independent of measurement and transport; messages between members \
              and controllers are opaque bytes" },
    CrateRule { name: "machine", level: Adapters, may_use: &["fleet", "protocol", "scenario", "workload", "sys", "units"],
        why: "machines are independent of links and measurements; from the protocol they use only an agent's channel \
              and the handshake between an image and its first process; fleet starts a member's agent" },
    CrateRule { name: "memory", level: Adapters, may_use: &["machine", "policy", "protocol", "workload", "sys", "units"],
        why: "samples the memory of running guests, moves it as policy decides, and records and replays this; it reads statistics from a guest's \
              agent and moves memory through the machine's monitor and its guest, regardless of the guest's owner" },
    CrateRule { name: "traffic", level: Adapters, may_use: &["codecs", "workload", "samples", "sys", "units"],
        why: "traffic uses sockets and orders and is independent of the experiment; datagram headers and refusals follow \
              iperf3, for compatibility with its clients and servers" },
    CrateRule { name: "server", level: Adapters, may_use: &["traffic", "budgets", "codecs", "workload", "samples", "sys", "units"],
        why: "serves other tools' protocols with the sockets and threads of traffic, which is independent of its \
              callers" },
    CrateRule { name: "probe", level: Adapters, may_use: &["protocol", "workload", "samples", "sys", "units"],
        why: "a probe reads the kernel; the order names its target; it knows only the workload's transport, and \
              it has no thresholds" },
    CrateRule { name: "store", level: Adapters, may_use: &["samples", "findings", "sys", "units"],
        why: "the store does not interpret numbers; sys opens its files" },

    CrateRule { name: "lab", level: Orchestration,
        may_use: &["scenario", "workload", "samples", "protocol", "topology", "fleet", "machine", "memory", "stats", "units"],
        why: "lab writes results to a sink and sends orders to agents; it does not store, analyse or send traffic itself" },

    CrateRule { name: "watch", level: Orchestration,
        may_use: &["analysis", "findings", "lab", "protocol", "report", "samples", "scenario", "store", "sys", "units", "workload"],
        why: "follows a run by its events, and repeats measurements by the stored runs; the command line loads scenarios, starts \
              runs and prints" },

    CrateRule { name: "agent", level: Interfaces,
        may_use: &["fleet", "machine", "protocol", "topology", "traffic", "probe", "memory", "workload", "samples", "scenario", "sys",
            "units"],
        why: "executes orders next to the traffic, within the policy of its machine; in a guest it also configures devices and reads \
              memory; it has no statistics" },
    CrateRule { name: "web", level: Interfaces,
        may_use: &["analysis", "budgets", "findings", "report", "samples", "scenario", "store", "sys"],
        why: "pages show stored runs and start nothing; the command line writes \
              reports" },
    CrateRule { name: "cli", level: Interfaces,
        may_use: &["units", "workload", "scenario", "samples", "findings", "protocol", "stats", "import", "analysis", "report",
            "topology", "machine", "memory", "policy", "traffic", "server", "probe", "store", "sys", "lab", "fleet", "watch", "web"],
        why: "the command line ties the crates together; it starts agents as processes; from sys it uses only trusted file access" },

    CrateRule { name: "plumb", level: Entry, may_use: &["cli", "agent", "lab", "protocol"],
        why: "plumb only selects the part of the program to run" },

    CrateRule { name: "plumb-benches", level: Outside,
        may_use: &["units", "workload", "scenario", "samples", "stats", "store", "sys", "import", "topology", "traffic", "plumb-tests",
            "agent", "machine", "memory", "policy", "protocol"],
        why: "benches compare the crates with their peers, using our own statistics, and create a store with many runs; the memory \
              bench is also the init of its guests and runs the agent there" },
    CrateRule { name: "xtask", level: Outside, may_use: &[],
        why: "the rules must build when the workspace does not" },
];

#[rustfmt::skip]
pub(crate) const RESTRICTED: &[Restricted] = &[
    Restricted { krate: "nlink", crates: &["topology"],
        why: "nlink is young, so it is used in only one place and can be replaced" },
    Restricted { krate: "tokio", crates: &["fleet", "topology", "web", "store"],
        why: "only netlink, NATS, the web pages and the client of a shared store need it; an async runtime near the traffic would \
              distort the measurement" },
    Restricted { krate: "ring", crates: &["fleet"],
        why: "fleet generates the keys that it uses; other code encrypts with rustls" },
    Restricted { krate: "axum", crates: &["web"],
        why: "only the web pages use HTTP" },
    Restricted { krate: "hyper", crates: &["web"],
        why: "only the web pages use HTTP" },
    Restricted { krate: "hyper-util", crates: &["web"],
        why: "only the web pages use HTTP" },
    Restricted { krate: "tokio-rustls", crates: &["fleet", "web"],
        why: "connections are encrypted for NATS and HTTP" },
    Restricted { krate: "rustls", crates: &["web", "store"],
        why: "connections are encrypted for HTTP and for a shared store" },
    Restricted { krate: "postgres", crates: &["store"],
        why: "only the store depends on its database" },
    Restricted { krate: "tokio-postgres", crates: &["store"],
        why: "only the store depends on its database; the runtime serves one connection and is polled by the caller" },
    Restricted { krate: "tokio-postgres-rustls", crates: &["store"],
        why: "only the store depends on its database" },
    Restricted { krate: "maud", crates: &["web"],
        why: "the crate report renders reports as HTML; web renders the other pages" },
    Restricted { krate: "rusqlite", crates: &["store"],
        why: "only the store depends on its database" },
    Restricted { krate: "libc", crates: &["sys"],
        why: "unsafe code and raw system calls belong to sys" },
    Restricted { krate: "linux-raw-sys", crates: &["sys"],
        why: "the layouts of kernel structures belong to sys" },
    Restricted { krate: "landlock", crates: &["sys"],
        why: "sys drops privileges" },
    Restricted { krate: "seccompiler", crates: &["sys"],
        why: "sys drops privileges" },
    Restricted { krate: "rustix", crates: &["sys"],
        why: "system calls belong to sys, and its errors contain the operation and the object" },
    Restricted { krate: "aya", crates: &["probe"],
        why: "eBPF programs are loaded in one place, which turns errors into results" },
    Restricted { krate: "cpio", crates: &["machine"],
        why: "only the image of a guest is a cpio archive" },
    Restricted { krate: "object", crates: &["machine"],
        why: "programs are stripped only to make them small enough for a guest" },
    Restricted { krate: "command-fds", crates: &["machine"],
        why: "only a guest's monitor inherits descriptors by number" },
    Restricted { krate: "procfs", crates: &["probe"],
        why: "probe reads kernel data during a trial" },
    Restricted { krate: "clap", crates: &["cli", "plumb-benches", "xtask"],
        why: "the command line converts flags to requests; other crates do not depend on flags" },
    Restricted { krate: "clap_complete", crates: &["cli"],
        why: "shell completions belong to the command line" },
    Restricted { krate: "clap_mangen", crates: &["cli"],
        why: "manual pages belong to the command line" },
    Restricted { krate: "resvg", crates: &["cli", "report"],
        why: "pictures are SVG; only requested files are rasterized, and only tests of `report` measure text" },
    Restricted { krate: "dejavu", crates: &["cli", "report"],
        why: "only rasterized pictures and tests need an embedded font" },
    Restricted { krate: "indicatif", crates: &["cli"],
        why: "progress belongs to the command line" },
    Restricted { krate: "ratatui", crates: &["cli"],
        why: "terminal output belongs to the command line" },
    Restricted { krate: "signal-hook", crates: &["cli"],
        why: "signals are converted to stop requests in one place" },
    Restricted { krate: "anyhow", crates: &["lab", "watch", "agent", "cli", "web", "plumb", "plumb-benches", "xtask"],
        why: "in lower crates, an error is an enum that contains the operation and the object" },
    Restricted { krate: "cargo_metadata", crates: &["xtask"],
        why: "the product does not depend on the tools that build it" },
];
