//! Summarises a recording for a page.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
};

use ::report::{SingleFormat, render_memory};
use findings::{MEMORY_SCHEMA, MemoryArm, MemoryLook, MemoryMove, MemorySummary, VmMemory};
use memory::MemorySample;
use units::Nanos;

use crate::{destination, output};

const RECORDED: &str = "as recorded";

pub(super) fn page(path: &Path) -> anyhow::Result<(PathBuf, SingleFormat)> {
    Ok((path.to_owned(), destination::page_format_of(path)?))
}

pub(super) fn write(summary: &MemorySummary, path: &Path, format: SingleFormat) -> anyhow::Result<()> {
    destination::write(path, &render_memory(summary, format, &destination::in_a_file()))?;
    output::aside(format_args!("report written to {}", path.display()));
    Ok(())
}

/// `looks` must not be empty.
pub(super) fn of_recording(looks: &[MemorySample]) -> MemorySummary {
    let begin = looks.first().map_or_else(Default::default, MemorySample::moment);
    let since = |look: &MemorySample| {
        let elapsed = look.moment().as_nanosecond() - begin.as_nanosecond();
        Nanos(u64::try_from(elapsed).unwrap_or(0))
    };
    let mut vms: BTreeMap<&str, Vec<MemoryLook>> = BTreeMap::new();
    let mut moves = Vec::new();
    for look in looks {
        let at = since(look);
        for vm in &look.vms {
            let sample = MemoryLook { at, fast: vm.fast, hits: vm.dram_hits };
            vms.entry(&vm.name).or_default().push(sample);
        }
        moves.extend(look.moves.iter().map(|step| MemoryMove { at, action: step.to_string() }));
    }
    let arm = vms.into_iter().map(|(name, looks)| VmMemory::of(name.to_owned(), looks)).collect();
    let arm = MemoryArm::of(RECORDED, arm);
    let served = arm.hits.map_or_else(
        || {
            "The percentage of accesses served by fast memory is unknown: no machine has both slow nodes and an agent."
                .to_owned()
        },
        |hits| format!("Fast memory served {hits} of the accesses, averaged over machines."),
    );
    let counts = format!(
        "{} samples of {} machines over {}; {} moves.",
        looks.len(),
        arm.vms.len(),
        looks.last().map_or(Nanos(0), since),
        moves.len()
    );
    MemorySummary {
        schema: MEMORY_SCHEMA,
        title: "Memory of virtual machines".to_owned(),
        answer: vec![served, counts],
        arms: vec![arm],
        moves,
    }
}
