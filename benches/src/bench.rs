//! The shape that every bench has, and the list of them.

use crate::{comparison::Comparison, namespaces, ping_pong, rounds::Bounds, stream_app};

/// A bench: contenders that do the same work in turn, compared pair by pair. An error means that plumb did
/// not do the work; a peer that cannot is told in its comparison.
#[derive(Debug)]
pub(crate) struct Bench {
    /// Its name on the command line and in the results.
    pub(crate) name: &'static str,
    /// Takes the measurements and compares.
    pub(crate) run: fn(&Bounds) -> anyhow::Result<Vec<Comparison>>,
}

/// Every bench, in the order of the table.
pub(crate) const BENCHES: &[Bench] = &[namespaces::BENCH, stream_app::BENCH, ping_pong::BENCH];
