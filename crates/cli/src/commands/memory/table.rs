//! The 80-column table of `plumb memory top`: one line per machine and, if an agent reports NUMA nodes, one per node.

use comfy_table::{CellAlignment, ColumnConstraint, Table, Width, presets};
use memory::{GuestMemory, Seen};
use protocol::NodeMemory;
use units::{Bytes, Share, significant};

use crate::output;

const HEAD: [&str; 8] = ["VM", "HAS", "FREE", "AVAIL", "ACCESSED", "ACCESSES", "REFAULT/s", "PSI"];
const LONGEST_NAME: u16 = 16;
const UNKNOWN: &str = "-";

pub(super) fn render(memory: &Seen) -> String {
    let mut table = Table::new();
    table.load_style(presets::NOTHING).set_header(HEAD);
    let mut notes = Vec::new();
    for (name, memory) in memory {
        let name = output::harmless(name);
        match memory {
            Ok(memory) => {
                table.add_row(machine(&name, memory));
                if memory.nodes.len() > 1 {
                    table.add_rows(memory.nodes.iter().map(|node| node_row(node, memory)));
                }
                notes.push(format!("{name}: {}", source_note(memory)));
            }
            Err(error) => {
                table.add_row([&*name, UNKNOWN]);
                notes.push(format!("{name}: {error}"));
            }
        }
    }
    for column in table.column_iter_mut() {
        column.set_padding((0, 1));
        if column.index > 0 {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
    let constraint = ColumnConstraint::UpperBoundary(Width::Fixed(LONGEST_NAME));
    table.column_mut(0).expect("it is in the head").set_constraint(constraint);
    let lines = table.lines().map(|line| line.trim_end().to_owned());
    lines.chain([String::new()]).chain(notes).collect::<Vec<_>>().join("\n")
}

fn machine(name: &str, memory: &GuestMemory) -> [String; 8] {
    let accessed: Bytes = memory.nodes.iter().map(NodeMemory::accessed).sum();
    let known = memory.classes().next().is_some();
    let hits = memory.dram_hits().map(|hits| format!("{hits} fast"));
    [
        name.to_owned(),
        (memory.size + memory.slow).to_string(),
        size(memory.free),
        size(memory.available),
        size(known.then_some(accessed)),
        hits.unwrap_or_else(|| UNKNOWN.to_owned()),
        memory.refaults_per_second.map_or_else(|| UNKNOWN.to_owned(), |rate| significant(rate, 2)),
        memory.pressure.map_or_else(|| UNKNOWN.to_owned(), |pressure| pressure.to_string()),
    ]
}

fn node_row(node: &NodeMemory, memory: &GuestMemory) -> [String; 8] {
    let all: u64 = memory.nodes.iter().map(NodeMemory::accesses).sum();
    let share = (all > 0).then(|| Share(node.accesses() as f64 / all as f64).to_string());
    let empty = String::new;
    let kind = if node.slow { "slow" } else { "fast" };
    [
        format!("  node {} {kind}", node.node),
        node.size.to_string(),
        node.free.to_string(),
        empty(),
        size((!node.accesses.is_empty()).then(|| node.accessed())),
        share.unwrap_or_else(|| UNKNOWN.to_owned()),
        empty(),
        empty(),
    ]
}

fn size(size: Option<Bytes>) -> String {
    size.map_or_else(|| UNKNOWN.to_owned(), |size| size.to_string())
}

fn source_note(memory: &GuestMemory) -> String {
    use protocol::AccessSourceKind as Kind;
    let source = match memory.source {
        Kind::Damon => "accesses counted by DAMON in the guest",
        Kind::Mglru => "accessed memory, from the guest's page generations (MGLRU)",
        Kind::Referenced => "accessed memory, from the QEMU process's accessed bits",
        Kind::Auto | Kind::None => {
            let reason = memory.no_accesses_reason.as_deref().unwrap_or("no agent in the guest");
            return format!("accesses unknown: {reason}");
        }
    };
    let of_host = memory.telemetry_host_cpu.map(|cost| format!(", {cost} of host CPU time per sample"));
    let cost =
        memory.telemetry_cpu.map(|cost| format!(", {cost} of a guest CPU")).or(of_host).unwrap_or_default();
    let pending = memory.no_accesses_reason.as_ref().map(|reason| format!(", none yet: {reason}"));
    format!("{source}{cost}{}", pending.unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use memory::MemoryError;
    use protocol::{AccessClass, AccessSourceKind};

    use super::*;

    #[test]
    fn two_tier_machine_fits_80_columns() {
        let node = |node: u32, accesses: u64| NodeMemory {
            node,
            slow: node == 1,
            size: Bytes(1023 << 20),
            free: Bytes(1023 << 20),
            accesses: vec![AccessClass { bytes: Bytes(1000 << 20), accesses }],
        };
        let memory = GuestMemory {
            size: Bytes(2047 << 20),
            free: Some(Bytes(1023 << 20)),
            available: Some(Bytes(1023 << 20)),
            refaults_per_second: Some(12345.0),
            pressure: Some(Share(0.123)),
            source: AccessSourceKind::Damon,
            telemetry_cpu: Some(Share(0.004)),
            nodes: vec![node(0, 731), node(1, 269)],
            ..GuestMemory::default()
        };
        let lost = MemoryError::NoBalloon;
        let shown =
            render(&[("a-rather-long-name".to_owned(), Ok(memory)), ("b".to_owned(), Err(lost))].into());
        assert!(shown.contains("73.1 % fast") && shown.contains("node 1 slow"), "{shown}");
        assert!(shown.contains("0.40 % of a guest CPU"), "{shown}");
        let table = shown.lines().take_while(|line| !line.is_empty());
        assert!(
            table.clone().count() >= 5 && table.clone().all(|line| line.chars().count() <= 80),
            "{shown}"
        );
    }
}
