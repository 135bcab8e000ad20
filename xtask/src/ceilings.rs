//! The maximum number of tokens in each crate. `cargo xtask count --tokens` prints the numbers. They may only fall: a
//! higher number needs a new reason in its line.

#[rustfmt::skip]
pub(crate) const CEILINGS: &[(&str, usize, &str)] = &[
    ("agent", 11132, ""),
    ("analysis", 125733, "one fit of a run, the finding stalled, silent trials stay undecided"),
    ("budgets", 2085, ""),
    ("cli", 151145, "plumb between; iperf3's ignored flags, lab leftovers, manual page sections, unreadable scenario files"),
    ("codecs", 18317, "numbers of iperf3 without buffering"),
    ("findings", 10358, ""),
    ("fleet", 20151, "NKeys without the crate nkeys and its 20 dependencies; modules without dependency cycles"),
    ("import", 98021, "tests of one file are separate results, wrappers, netperf, tables of the field; loops need a list and a do"),
    ("lab", 51991, "endpoints of this machine and the devices between them; one agent client for labs and memory; decides again after repeated trials"),
    ("machine", 38180, "containers, pods and processes as endpoints, with their CPU limits; owns AgentClient and the host policy of protocol"),
    ("memory", 19934, "measured after security and wording changes"),
    ("plumb", 633, ""),
    ("policy", 14951, ""),
    ("probe", 36605, "lab leftovers only in the own PID namespace"),
    ("protocol", 3436, "one field per line after its comment"),
    ("report", 147057, "imported trials that vary, open comparisons of runs that stopped early"),
    ("samples", 9368, "options of imported tests"),
    ("scenario", 91539, "the words of endpoints; measured after merging renamed and split code"),
    ("server", 59702, "--logfile of the server, and longer functions split"),
    ("stats", 17535, "one fit for values, changes and intervals; two trials establish nothing, one place for degrees of freedom"),
    ("store", 27084, "modules without dependency cycles"),
    ("sys", 39915, "opens processes of other users for root; measured after security and wording changes"),
    ("topology", 48897, "finds the devices between two namespaces; modules without dependency cycles"),
    ("traffic", 57825, "modules without dependency cycles"),
    ("units", 2558, ""),
    ("web", 22220, "modules without dependency cycles, functions of at most 40 lines"),
    ("workload", 17610, ""),
    ("xtask", 32156, "rule cycles, which lists each dependency of a cycle, and nfpm"),
];
