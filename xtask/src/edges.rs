//! The edge table: which room may enter which, and which room keeps which heavy crate to itself.
//! Only data. Whatever is absent here is forbidden; rules/edges.rs holds it against `cargo metadata`.

/// How high a room lies. Tests of a room may use any room that lies lower.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Level {
    Ground,
    Nouns,
    Mind,
    Hands,
    Conductors,
    Faces,
    Door,
    /// Not part of the house: nobody enters these.
    Beside,
}

use Level::{Beside, Conductors, Door, Faces, Ground, Hands, Mind, Nouns};

/// A room and the rooms that it may enter.
pub(crate) struct Room {
    pub(crate) name: &'static str,
    pub(crate) level: Level,
    pub(crate) may_enter: &'static [&'static str],
    /// Why it may enter no more than these.
    pub(crate) why: &'static str,
}

/// A crate from outside that only some rooms may use.
pub(crate) struct Kept {
    pub(crate) krate: &'static str,
    pub(crate) rooms: &'static [&'static str],
    pub(crate) why: &'static str,
}

/// The rooms, from the ground up.
#[rustfmt::skip]
pub(crate) const ROOMS: &[Room] = &[
    Room { name: "sys", level: Ground, may_enter: &[],
        why: "system calls know no word of the domain" },

    Room { name: "plumb-tests", level: Ground, may_enter: &["sys"],
        why: "what tests share knows the program by its command line only, and a kernel to make a private loopback in; only \
              tests may enter it" },

    Room { name: "units", level: Nouns, may_enter: &[],
        why: "a quantity does not know what it measures" },
    Room { name: "workload", level: Nouns, may_enter: &["units"],
        why: "what is sent and what came of it is asked for, ordered, measured and recorded in the same words, by rooms that may not meet" },
    Room { name: "samples", level: Nouns, may_enter: &["workload", "units"],
        why: "a recorded run can be read without the scenario, the lab or the statistics" },
    Room { name: "scenario", level: Nouns, may_enter: &["samples", "workload", "units"],
        why: "the experiment is a document; it does not know how it is built or what comes of it; how trials are chosen, why \
              each is made and what watches it is said in the words in which it is recorded" },
    Room { name: "findings", level: Nouns, may_enter: &["workload", "samples", "units"],
        why: "a finding can be read alone: it carries its numbers and doubts, and does not point into a run" },
    Room { name: "protocol", level: Nouns, may_enter: &["workload", "samples", "scenario", "units"],
        why: "orders and events are data; who sends and who obeys is not their business" },

    Room { name: "stats", level: Mind, may_enter: &[],
        why: "an estimator works on plain numbers, so that it can be tested against the literature" },
    Room { name: "codecs", level: Mind, may_enter: &["workload", "units"],
        why: "a dialect is bytes in and bytes out; it opens no socket and asks no clock" },
    Room { name: "import", level: Mind, may_enter: &["codecs", "workload", "samples", "units"],
        why: "another tool's log is text in and trials out; iperf3's own document is known to its dialect" },
    Room { name: "analysis", level: Mind,
        may_enter: &["stats", "workload", "samples", "findings", "units"],
        why: "a stored run is analysed without root, clock or files, and never coloured" },
    Room { name: "report", level: Mind, may_enter: &["findings", "workload", "samples", "units"],
        why: "a report shows numbers and computes none" },

    Room { name: "topology", level: Hands, may_enter: &["samples", "scenario", "sys", "units"],
        why: "links know nothing of traffic, machines or results; what the kernel says is told in the words that keep it" },
    Room { name: "machine", level: Hands, may_enter: &["protocol", "scenario", "sys", "units"],
        why: "what an endpoint lives in does not know how links are made or what is measured; of the protocol it knows \
              what an image agrees on with its first process" },
    Room { name: "traffic", level: Hands, may_enter: &["codecs", "workload", "samples", "sys", "units"],
        why: "the load knows sockets and orders, not the experiment behind them; heads of datagrams and words of refusal are \
              iperf3's, so that its ends understand ours" },
    Room { name: "server", level: Hands, may_enter: &["traffic", "codecs", "workload", "samples", "sys", "units"],
        why: "other tools' protocols are spoken over the engine's sockets and threads; the engine knows none of those who \
              drive it" },
    Room { name: "probe", level: Hands, may_enter: &["protocol", "workload", "samples", "sys", "units"],
        why: "a probe reads the kernel; whom it watches is said in the order's words; of the load it knows the transport, and \
              it knows no threshold" },
    Room { name: "store", level: Hands, may_enter: &["samples", "findings", "units"],
        why: "runs are kept without knowing what a number means" },

    Room { name: "lab", level: Conductors,
        may_enter: &["scenario", "workload", "samples", "protocol", "topology", "machine", "stats", "units"],
        why: "the conductor writes to a sink and orders agents about; it neither stores, analyses nor sends" },

    Room { name: "agent", level: Faces,
        may_enter: &["protocol", "topology", "traffic", "probe", "workload", "samples", "scenario", "sys", "units"],
        why: "the process beside the traffic obeys: in a guest it has the lab's devices made; it knows no statistics" },
    Room { name: "cli", level: Faces,
        may_enter: &["units", "workload", "scenario", "samples", "findings", "protocol", "stats", "import", "analysis", "report",
            "topology", "machine", "traffic", "server", "probe", "store", "lab"],
        why: "the command line wires the rooms; an agent is a process to it, and system calls are beneath it" },

    Room { name: "plumb", level: Door, may_enter: &["cli", "agent", "lab", "protocol"],
        why: "the door chooses a personality and does nothing else" },

    Room { name: "plumb-benches", level: Beside,
        may_enter: &["units", "workload", "scenario", "samples", "stats", "sys", "import", "topology", "traffic"],
        why: "a bench times the hands beside their peers and compares with our own statistics" },
    Room { name: "xtask", level: Beside, may_enter: &[],
        why: "the rules must build when the house does not" },
];

/// Crates that stay in their rooms; any other crate may go where it is useful.
#[rustfmt::skip]
pub(crate) const KEPT: &[Kept] = &[
    Kept { krate: "nlink", rooms: &["topology"],
        why: "netlink is young and wrapped in one place, so that it can be exchanged there" },
    Kept { krate: "tokio", rooms: &["topology"],
        why: "only netlink needs it; an async runtime near the traffic would be measured with it" },
    Kept { krate: "rusqlite", rooms: &["store"],
        why: "what a run is kept in is known to the store alone" },
    Kept { krate: "libc", rooms: &["sys"],
        why: "unsafe code and raw system calls belong to sys" },
    Kept { krate: "linux-raw-sys", rooms: &["sys"],
        why: "the layouts of kernel structures belong to sys" },
    Kept { krate: "rustix", rooms: &["sys"],
        why: "system calls belong to sys, whose errors name operation and object" },
    Kept { krate: "aya", rooms: &["probe"],
        why: "programs for the kernel are loaded in one place, where their errors become answers" },
    Kept { krate: "cpio", rooms: &["machine"],
        why: "only a guest's image is an archive of this kind" },
    Kept { krate: "object", rooms: &["machine"],
        why: "a program is taken apart only to make it small enough for a guest" },
    Kept { krate: "command-fds", rooms: &["machine"],
        why: "only a guest's monitor inherits descriptors by number" },
    Kept { krate: "procfs", rooms: &["probe"],
        why: "what the kernel says beside a trial is read by probe" },
    Kept { krate: "clap", rooms: &["cli", "plumb-benches", "xtask"],
        why: "flags become requests in the command line; no other room knows how it was called" },
    Kept { krate: "indicatif", rooms: &["cli"],
        why: "progress belongs to the command line" },
    Kept { krate: "signal-hook", rooms: &["cli"],
        why: "signals are turned into a request to stop in one place" },
    Kept { krate: "anyhow", rooms: &["lab", "agent", "cli", "plumb", "plumb-benches", "xtask"],
        why: "below the conductors an error is an enum that names operation and object" },
    Kept { krate: "cargo_metadata", rooms: &["xtask"],
        why: "the house does not know how it was built" },
];
