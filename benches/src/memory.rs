//! Bench `memory`: programs in guests access memory in known patterns and count their accesses.

mod accuracy;
mod guests;
mod program;
mod ranks;
mod sharing;

pub(crate) use guests::in_guest;

use crate::{
    bench::Bench,
    comparison::Comparison,
    rounds::{self, Bounds},
};

pub(crate) const BENCH: Bench = Bench { name: "memory", run };

fn run(bounds: &Bounds) -> anyhow::Result<Vec<Comparison>> {
    let guests = match guests::Guests::new() {
        Ok(guests) => guests,
        Err(error) => {
            rounds::skipped(BENCH.name, &error);
            return Ok(Vec::new());
        }
    };
    let mut comparisons = accuracy::run(&guests, bounds)?;
    comparisons.extend(sharing::run(&guests, bounds)?);
    Ok(comparisons)
}
