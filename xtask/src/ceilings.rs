//! How many tokens each crate may have. Only data; rules/tokens.rs compares it with the code.
//!
//! `cargo xtask count --tokens` prints the numbers. They may only fall: a higher number needs a new reason in its line.

/// A crate, its ceiling, and the reason if the ceiling was raised.
#[rustfmt::skip]
pub(crate) const CEILINGS: &[(&str, usize, &str)] = &[
    ("agent", 11251, ""),
    ("analysis", 124614, "finding of connections that stalled"),
    ("budgets", 2104, ""),
    ("cli", 143847, "measured after security and wording changes"),
    ("codecs", 19460, "derived Default of iperf3 results"),
    ("findings", 10409, ""),
    ("fleet", 19966, "measured after security and wording changes"),
    ("import", 97333, "evidence for trials, commands behind wrappers, netperf selectors, tables without Markdown rules, names of other tools"),
    ("lab", 50480, ""),
    ("machine", 30842, "measured after security and wording changes"),
    ("memory", 20078, "measured after security and wording changes"),
    ("plumb", 633, ""),
    ("policy", 14951, ""),
    ("probe", 36585, ""),
    ("protocol", 5259, ""),
    ("report", 146921, "trust in imported trials, CPU time of system calls"),
    ("samples", 10256, "options of imported tests"),
    ("scenario", 90838, ""),
    ("server", 59502, "measured after security and wording changes"),
    ("stats", 15605, ""),
    ("store", 26998, ""),
    ("sys", 40633, "measured after security and wording changes"),
    ("topology", 43656, ""),
    ("traffic", 58118, ""),
    ("units", 2562, ""),
    ("web", 22177, "measured after security and wording changes"),
    ("workload", 17826, ""),
    ("xtask", 37875, "measured after security and wording changes"),
];
