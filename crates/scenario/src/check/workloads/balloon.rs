//! Balloon settings.

use std::ops::RangeInclusive;

use units::Bytes;
use workload::BalloonSettings;

use super::{Keys, limits, or, refuse};
use crate::{diagnosis::Problem, document::WorkloadTable};

/// The minimum size is also the unit in which memory moves.
const MEMORY: RangeInclusive<u64> = 2 << 20..=1 << 40;
const USUAL_MEMORY: Bytes = Bytes(256 << 20);

pub(super) const KEYS: Keys = Keys {
    owner: "a balloon",
    this: "this is a balloon",
    own: &["memory", "move", "touched", "compact", "hosts"],
    reason: |_| None,
};

pub(super) fn load(table: &WorkloadTable, problems: &mut Vec<Problem>) -> BalloonSettings {
    const WHY: &str = "it ends once all the memory has moved";
    refuse(&table.duration, "duration", WHY, problems);
    refuse(&table.warmup, "warmup", WHY, problems);
    refuse(&table.interval, "interval", WHY, problems);
    let memory = limits::size_or(&table.memory, USUAL_MEMORY);
    let is_possible = MEMORY.contains(&memory.0) && memory.0.is_multiple_of(*MEMORY.start());
    if let Some(written) = table.memory.as_ref().filter(|_| !is_possible) {
        let message = format!("{memory} is not a valid balloon size");
        let help = format!("use a multiple of 2 MiB, up to {}", Bytes(*MEMORY.end()));
        problems.push(Problem::new(written.span(), message, "out of range").help(help));
    }
    BalloonSettings {
        memory,
        direction: or(&table.movement, Default::default()),
        touched: or(&table.touched, true),
        compact: or(&table.compact, false),
    }
}
