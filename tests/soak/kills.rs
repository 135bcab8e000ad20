//! Kills hundreds of processes at random.

use std::time::Duration;

use plumb_tests::{compaction_cycles, kills, wire};

use crate::{rounds, sandbox};

/// Of ten kills, eight hit runs on a wire, one hits a run with a virtual machine, and one hits a server.
pub(crate) fn kills_at_random() {
    let (sandbox, count) = (sandbox(), rounds(500));
    let few = count.div_ceil(10);
    let file = sandbox.file("wire.toml", &wire(40, "100ms"));
    println!("  runs: {}", kills::runs_survive(&sandbox, &file, count - 2 * few, Duration::from_secs(4)));
    let file = sandbox.file("guest.toml", &compaction_cycles(6));
    println!("  virtual machines: {}", kills::runs_survive(&sandbox, &file, few, Duration::from_secs(40)));
    println!("  servers: {}", kills::servers_survive(&sandbox, few));
}
