//! The edge table: which crate may use which, and which crate keeps which heavy crate to itself.
//! Only data. Whatever is absent here is forbidden; rules/edges.rs holds it against `cargo metadata`.

/// How high a crate lies. Tests of a crate may use any crate that lies lower.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Level {
    Platform,
    Model,
    Core,
    Adapters,
    Orchestration,
    Interfaces,
    Entry,
    /// Not part of the workspace: nobody uses these.
    Outside,
}

use Level::{Adapters, Core, Entry, Interfaces, Model, Orchestration, Outside, Platform};

/// A crate and the crates that it may use.
pub(crate) struct CrateRule {
    pub(crate) name: &'static str,
    pub(crate) level: Level,
    pub(crate) may_use: &'static [&'static str],
    /// Why it may use no more than these.
    pub(crate) why: &'static str,
}

/// A dependency that only some crates may use.
pub(crate) struct Restricted {
    pub(crate) krate: &'static str,
    pub(crate) crates: &'static [&'static str],
    pub(crate) why: &'static str,
}

/// The crates, from the platform up.
#[rustfmt::skip]
pub(crate) const CRATES: &[CrateRule] = &[
    CrateRule { name: "sys", level: Platform, may_use: &[],
        why: "system calls know no word of the domain" },

    CrateRule { name: "plumb-tests", level: Platform, may_use: &["sys"],
        why: "what tests share knows the program by its command line only, and a kernel to make a private loopback in; only \
              tests and benches may enter it" },

    CrateRule { name: "units", level: Model, may_use: &[],
        why: "a quantity does not know what it measures" },
    CrateRule { name: "workload", level: Model, may_use: &["units"],
        why: "what is sent and what came of it is asked for, ordered, measured and recorded in the same words, by crates that may not meet" },
    CrateRule { name: "samples", level: Model, may_use: &["workload", "units"],
        why: "a recorded run can be read without the scenario, the lab or the statistics" },
    CrateRule { name: "scenario", level: Model, may_use: &["samples", "workload", "units"],
        why: "the experiment is a document; it does not know how it is built or what comes of it; how trials are chosen, why \
              each is made and what watches it is said in the words in which it is recorded" },
    CrateRule { name: "findings", level: Model, may_use: &["workload", "samples", "units"],
        why: "a finding can be read alone: it carries its numbers and doubts, and does not point into a run" },
    CrateRule { name: "protocol", level: Model, may_use: &["workload", "samples", "scenario", "units"],
        why: "orders and events are data; who sends and who obeys is not their business" },

    CrateRule { name: "stats", level: Core, may_use: &[],
        why: "an estimator works on plain numbers, so that it can be tested against the literature" },
    CrateRule { name: "codecs", level: Core, may_use: &["workload", "units"],
        why: "a dialect is bytes in and bytes out; it opens no socket and asks no clock" },
    CrateRule { name: "budgets", level: Core, may_use: &[],
        why: "it counts peers by address and knows no protocol, clock or socket" },
    CrateRule { name: "import", level: Core, may_use: &["codecs", "workload", "samples", "units"],
        why: "another tool's log is text in and trials out; iperf3's own document is known to its dialect" },
    CrateRule { name: "analysis", level: Core,
        may_use: &["stats", "workload", "samples", "findings", "units"],
        why: "a stored run is analysed without root, clock or files, and never coloured" },
    CrateRule { name: "policy", level: Core, may_use: &["units"],
        why: "what is observed comes in and moves go out: it can be simulated, replayed and proved without a host" },
    CrateRule { name: "report", level: Core, may_use: &["findings", "workload", "samples", "units"],
        why: "a report shows numbers and computes none" },

    CrateRule { name: "topology", level: Adapters, may_use: &["samples", "scenario", "sys", "units"],
        why: "links know nothing of traffic, machines or results; what the kernel says is told in the words that keep it" },
    CrateRule { name: "fleet", level: Adapters, may_use: &["sys"],
        why: "who may measure on a host is settled on that host, whatever is measured and however one came there; between members \
              and controllers bytes are carried, whatever they say" },
    CrateRule { name: "machine", level: Adapters, may_use: &["fleet", "protocol", "scenario", "workload", "sys", "units"],
        why: "what an endpoint lives in does not know how links are made or what is measured; of the protocol it knows \
              what an image agrees on with its first process; a member's agent is started over its fleet" },
    CrateRule { name: "memory", level: Adapters, may_use: &["machine", "policy", "protocol", "workload", "sys", "units"],
        why: "a guest's agent is asked what it sees of memory; memory is moved through a machine's monitor and what its guest hands over; whose guest that is, and what the time \
              means, is not its business" },
    CrateRule { name: "traffic", level: Adapters, may_use: &["codecs", "workload", "samples", "sys", "units"],
        why: "the load knows sockets and orders, not the experiment behind them; heads of datagrams and words of refusal are \
              iperf3's, so that its ends understand ours" },
    CrateRule { name: "server", level: Adapters, may_use: &["traffic", "budgets", "codecs", "workload", "samples", "sys", "units"],
        why: "other tools' protocols are spoken over the engine's sockets and threads; the engine knows none of those who \
              drive it" },
    CrateRule { name: "probe", level: Adapters, may_use: &["protocol", "workload", "samples", "sys", "units"],
        why: "a probe reads the kernel; whom it watches is said in the order's words; of the load it knows the transport, and \
              it knows no threshold" },
    CrateRule { name: "store", level: Adapters, may_use: &["samples", "findings", "sys", "units"],
        why: "runs are kept without knowing what a number means; their files are opened as sys allows" },

    CrateRule { name: "lab", level: Orchestration,
        may_use: &["scenario", "workload", "samples", "protocol", "topology", "fleet", "machine", "memory", "policy", "stats", "units"],
        why: "the conductor writes to a sink and orders agents about; it neither stores, analyses nor sends; the rebalancer is one of \
              those that it compares" },

    CrateRule { name: "agent", level: Interfaces,
        may_use: &["fleet", "protocol", "topology", "traffic", "probe", "memory", "workload", "samples", "scenario", "sys", "units"],
        why: "the process beside the traffic obeys: in a guest it has the lab's devices made and its memory looked at; it knows no \
              statistics" },
    CrateRule { name: "web", level: Interfaces,
        may_use: &["analysis", "budgets", "findings", "report", "samples", "scenario", "store", "sys"],
        why: "pages show what is stored and start nothing; how reports are written is the command \
              line's" },
    CrateRule { name: "cli", level: Interfaces,
        may_use: &["units", "workload", "scenario", "samples", "findings", "protocol", "stats", "import", "analysis", "report",
            "topology", "machine", "memory", "policy", "traffic", "server", "probe", "store", "sys", "lab", "fleet", "web"],
        why: "the command line wires the crates; an agent is a process to it; of the system it knows which files to trust and \
              how to write one" },

    CrateRule { name: "plumb", level: Entry, may_use: &["cli", "agent", "lab", "protocol"],
        why: "the door chooses a personality and does nothing else" },

    CrateRule { name: "plumb-benches", level: Outside,
        may_use: &["units", "workload", "scenario", "samples", "stats", "store", "sys", "import", "topology", "traffic", "plumb-tests"],
        why: "a bench times the crates beside their peers and compares with our own statistics; a store of many runs is filled by the \
              store" },
    CrateRule { name: "xtask", level: Outside, may_use: &[],
        why: "the rules must build when the workspace does not" },
];

/// Dependencies that stay in their crates; any other may go where it is useful.
#[rustfmt::skip]
pub(crate) const RESTRICTED: &[Restricted] = &[
    Restricted { krate: "nlink", crates: &["topology"],
        why: "netlink is young and wrapped in one place, so that it can be exchanged there" },
    Restricted { krate: "tokio", crates: &["fleet", "topology", "web", "store"],
        why: "only netlink, NATS, the page over the store and the client of a shared store need it; an async runtime near the traffic would \
              be measured with it" },
    Restricted { krate: "nkeys", crates: &["fleet"],
        why: "keys of a fleet are made where they are used" },
    Restricted { krate: "axum", crates: &["web"],
        why: "HTTP is spoken by the page over the store alone" },
    Restricted { krate: "hyper", crates: &["web"],
        why: "HTTP is spoken by the page over the store alone" },
    Restricted { krate: "hyper-util", crates: &["web"],
        why: "HTTP is spoken by the page over the store alone" },
    Restricted { krate: "tokio-rustls", crates: &["fleet", "web"],
        why: "connections are encrypted where NATS and HTTP are spoken" },
    Restricted { krate: "rustls", crates: &["web", "store"],
        why: "connections are encrypted where HTTP is spoken and where a shared store is asked" },
    Restricted { krate: "postgres", crates: &["store"],
        why: "what a run is kept in is known to the store alone" },
    Restricted { krate: "tokio-postgres", crates: &["store"],
        why: "what a run is kept in is known to the store alone; its runtime is one connection's, polled by whoever asks" },
    Restricted { krate: "tokio-postgres-rustls", crates: &["store"],
        why: "what a run is kept in is known to the store alone" },
    Restricted { krate: "maud", crates: &["web"],
        why: "pages that are no reports are made there; a report's HTML is the back end's of report" },
    Restricted { krate: "rusqlite", crates: &["store"],
        why: "what a run is kept in is known to the store alone" },
    Restricted { krate: "libc", crates: &["sys"],
        why: "unsafe code and raw system calls belong to sys" },
    Restricted { krate: "linux-raw-sys", crates: &["sys"],
        why: "the layouts of kernel structures belong to sys" },
    Restricted { krate: "rustix", crates: &["sys"],
        why: "system calls belong to sys, whose errors name operation and object" },
    Restricted { krate: "aya", crates: &["probe"],
        why: "programs for the kernel are loaded in one place, where their errors become answers" },
    Restricted { krate: "cpio", crates: &["machine"],
        why: "only a guest's image is an archive of this kind" },
    Restricted { krate: "object", crates: &["machine"],
        why: "a program is taken apart only to make it small enough for a guest" },
    Restricted { krate: "command-fds", crates: &["machine"],
        why: "only a guest's monitor inherits descriptors by number" },
    Restricted { krate: "procfs", crates: &["probe"],
        why: "what the kernel says beside a trial is read by probe" },
    Restricted { krate: "clap", crates: &["cli", "plumb-benches", "xtask"],
        why: "flags become requests in the command line; no other crate knows how it was called" },
    Restricted { krate: "clap_complete", crates: &["cli"],
        why: "what a shell completes is the command line's" },
    Restricted { krate: "clap_mangen", crates: &["cli"],
        why: "manual pages are the command line's" },
    Restricted { krate: "resvg", crates: &["cli"],
        why: "a picture is SVG; only a file that a user asks for is made of dots" },
    Restricted { krate: "dejavu", crates: &["cli"],
        why: "a font of its own has only what is made of dots" },
    Restricted { krate: "indicatif", crates: &["cli"],
        why: "progress belongs to the command line" },
    Restricted { krate: "ratatui", crates: &["cli"],
        why: "what a terminal shows is the command line's" },
    Restricted { krate: "signal-hook", crates: &["cli"],
        why: "signals are turned into a request to stop in one place" },
    Restricted { krate: "anyhow", crates: &["lab", "agent", "cli", "web", "plumb", "plumb-benches", "xtask"],
        why: "below the conductors an error is an enum that names operation and object" },
    Restricted { krate: "cargo_metadata", crates: &["xtask"],
        why: "the workspace does not know how it was built" },
];
