//! How many tokens each crate may have. Only data; rules/tokens.rs compares it with the code.
//!
//! `cargo xtask count --tokens` prints the numbers. They may only fall: a higher number needs a new reason in its line.

/// A crate, its ceiling, and the reason if the ceiling was raised.
#[rustfmt::skip]
pub(crate) const CEILINGS: &[(&str, usize, &str)] = &[
    ("agent", 11251, ""),
    ("analysis", 123579, ""),
    ("budgets", 2104, ""),
    ("cli", 143732, ""),
    ("codecs", 19458, ""),
    ("findings", 10410, ""),
    ("fleet", 19965, ""),
    ("import", 77920, ""),
    ("lab", 50481, ""),
    ("machine", 30564, ""),
    ("memory", 20031, ""),
    ("plumb", 633, ""),
    ("policy", 14951, ""),
    ("probe", 36585, ""),
    ("protocol", 5259, ""),
    ("report", 146522, ""),
    ("samples", 10198, ""),
    ("scenario", 90838, ""),
    ("server", 59490, ""),
    ("stats", 15605, ""),
    ("store", 27031, ""),
    ("sys", 40632, ""),
    ("topology", 43656, ""),
    ("traffic", 58118, ""),
    ("units", 2562, ""),
    ("web", 22094, ""),
    ("workload", 17826, ""),
    ("xtask", 34228, ""),
];
