//! The maximum number of tokens in each crate. `cargo xtask count --tokens` prints the current numbers. They
//! may only fall: a higher number needs a new reason in its line.

#[rustfmt::skip]
pub(crate) const CEILINGS: &[(&str, usize, &str)] = &[
    ("agent", 10982, ""),
    ("analysis", 132083, "makes the verdict, which report did before; roles and established evidence of findings"),
    ("budgets", 2085, ""),
    ("cli", 140652, "iperf3's ignored flags, lab leftovers, manual page sections, unreadable scenario files"),
    ("codecs", 18317, "numbers of iperf3 without buffering"),
    ("findings", 11549, "the verdict as data"),
    ("fleet", 20151, "NKeys without the crate nkeys and its 20 dependencies; modules without dependency cycles"),
    ("import", 98209, "tests of one file are separate results, wrappers, netperf, tables of the field; loops need a list and a do, averages of trials are no trials"),
    ("lab", 51263, "one agent client for labs and memory; decides again after repeated trials"),
    ("machine", 33048, "owns AgentClient and the host policy of protocol"),
    ("memory", 25859, "sampling, rebalancing rounds, recordings and replay, which were in cli"),
    ("plumb", 633, ""),
    ("policy", 14951, ""),
    ("probe", 36605, "lab leftovers only in the own PID namespace"),
    ("protocol", 3538, "owns the shape of a NUMA node's memory, which memory and cli each had"),
    ("report", 142411, ""),
    ("samples", 9368, "options of imported tests"),
    ("scenario", 90851, "measured after merging renamed and split code"),
    ("server", 59712, "one deadline after Ctrl-C, --logfile of the server, and longer functions split"),
    ("stats", 17535, "one fit for values, changes and intervals; two trials establish nothing, one place for degrees of freedom"),
    ("store", 28474, "bounds what a PostgreSQL server may send"),
    ("sys", 39685, "measured after security and wording changes"),
    ("topology", 43686, "modules without dependency cycles"),
    ("traffic", 57825, "modules without dependency cycles"),
    ("units", 2578, "small shares are not printed as zero"),
    ("web", 22222, "modules without dependency cycles, functions of at most 40 lines, a level has a value"),
    ("workload", 17610, ""),
    ("xtask", 32156, "rule cycles, which lists each dependency of a cycle, and nfpm"),
];
