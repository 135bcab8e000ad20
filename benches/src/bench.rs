//! The shape that every bench has, and the list of them.

use crate::{
    attacked, boot, comparison::Comparison, import, namespaces, pacing, ping_pong, report, rounds::Bounds,
    stream, tracers, web_list,
};

/// A bench: contenders that do the same work in turn, compared pair by pair. An error means that nobody could
/// work; a contender that cannot is told in its comparisons.
#[derive(Debug)]
pub(crate) struct Bench {
    /// Its name on the command line and in the results.
    pub(crate) name: &'static str,
    /// Takes the measurements and compares.
    pub(crate) run: fn(&Bounds) -> anyhow::Result<Vec<Comparison>>,
}

/// Every bench, in the order of the table.
pub(crate) const BENCHES: &[Bench] = &[
    stream::app::BENCH,
    stream::limit::BENCH,
    stream::big_tcp::BENCH,
    stream::four::BENCH,
    stream::udp::BENCH,
    stream::syscalls::BENCH,
    ping_pong::UDP,
    ping_pong::TCP,
    pacing::BENCH,
    tracers::BENCH,
    namespaces::BENCH,
    import::BENCH,
    report::BENCH,
    web_list::BENCH,
    attacked::BENCH,
    boot::BENCH,
];
