//! The table of a `plumb rebalance` round.

use comfy_table::{CellAlignment, ColumnConstraint, Table, Width, presets};
use memory::Round;
use policy::{Basis, Outlook};
use units::{Bytes, significant};

const HEAD: [&str; 7] = ["VM", "HAS", "IN RAM", "AVAILABLE", "REFAULTS/s", "NEEDS", "BY"];
const NUMBERS: std::ops::RangeInclusive<usize> = 1..=5;
const LONGEST_NAME: u16 = 24;

pub(super) fn render(round: &Round) -> String {
    let mut table = Table::new();
    table.load_style(presets::NOTHING).set_header(HEAD);
    for outlook in &round.decision.outlooks {
        table.add_row(row(round, outlook));
    }
    for column in NUMBERS {
        table.column_mut(column).expect("it is in the head").set_cell_alignment(CellAlignment::Right);
    }
    let name = ColumnConstraint::UpperBoundary(Width::Fixed(LONGEST_NAME));
    table.column_mut(0).expect("it is in the head").set_constraint(name);
    table.lines().map(|line| line.trim_end().to_owned()).collect::<Vec<_>>().join("\n")
}

fn row(round: &Round, outlook: &Outlook) -> [String; 7] {
    let size = |size: Option<Bytes>| size.map_or_else(|| "-".to_owned(), |size| size.to_string());
    let memory = round.seen.get(&outlook.vm).and_then(|memory| memory.as_ref().ok());
    let why_not = round.seen.get(&outlook.vm).and_then(|memory| memory.as_ref().err());
    let rate = memory
        .and_then(|memory| memory.refaults_per_second)
        .map_or_else(|| "-".to_owned(), |rate| significant(rate, 2));
    [
        outlook.vm.clone(),
        size(Some(outlook.has.fast)),
        size(memory.and_then(|memory| memory.resident)),
        size(memory.and_then(|memory| memory.available)),
        rate,
        size(outlook.needs),
        why_not.map_or_else(|| basis(outlook.basis).to_owned(), ToString::to_string),
    ]
}

const fn basis(basis: Basis) -> &'static str {
    match basis {
        Basis::Accesses => "accesses",
        Basis::MemoryInUse => "memory in use",
        Basis::Pressure => "pressure",
        Basis::Nothing => "no data yet",
        Basis::Silent => "no data from the guest: left unchanged",
    }
}
