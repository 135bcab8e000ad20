//! The interface and the list of benches.

use crate::{
    attacked, boot, comparison::Comparison, import, memory, namespaces, pacing, ping_pong, report,
    rounds::Bounds, stream, tracers, web_list,
};

#[derive(Debug)]
pub(crate) struct Bench {
    pub(crate) name: &'static str,
    pub(crate) run: fn(&Bounds) -> anyhow::Result<Vec<Comparison>>,
}

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
    memory::BENCH,
];
