//! CPU time by owner: one stacked bar per result.

use findings::{CellSummary, CpuAttribution};
use samples::CpuOwner;

use super::columns::number;
use crate::{
    chart::{Axis, Chart, Data, Drawing, Key, Paint, Piece, Row, Rows, Scale, Ticks},
    labels,
    sections::Source,
    text::{Text, Tone},
};

pub(super) const KIND: &str = "cpu-attribution";

type Owned<'a> = (&'a CellSummary, &'a CpuAttribution);

pub(super) fn build(source: &Source<'_>) -> Vec<Chart> {
    labels::workloads(source.findings).into_iter().filter_map(|workload| chart(source, workload)).collect()
}

/// `None` without CPU attribution.
pub(crate) fn chart(source: &Source<'_>, workload: &str) -> Option<Chart> {
    let of_cell = |cell| Some((cell, cpu_of(cell)?));
    let cells = source.findings.cells.iter().filter(|cell| cell.workload == workload);
    let owned: Vec<Owned<'_>> = cells.filter_map(of_cell).collect();
    if owned.is_empty() {
        return None;
    }
    let owners = labels::owners(owned.iter().map(|(cell, _)| *cell));
    let rows: Vec<Row> = owned.iter().map(|(cell, cpu)| row(cell, cpu, &owners)).collect();
    let rests = owned.iter().any(|(_, cpu)| cpu.unexplained > 0.0);
    let surfaces = owners.iter().enumerate();
    let surfaces =
        surfaces.map(|(number, owner)| Key::Surface(Paint::Of(number), labels::owner(*owner).to_owned()));
    let rest = rests.then(|| Key::Surface(Paint::Faint, "unexplained".to_owned()));
    let phrase = owned.iter().map(phrase);
    Some(Chart {
        kind: KIND,
        title: format!("{workload}: CPU attribution"),
        about: phrase.collect::<Vec<_>>().join("; "),
        drawing: Drawing::Rows(Rows {
            axis: Axis {
                title: "CPUs busy on average".to_owned(),
                scale: Scale::from_zero(rows.iter().flat_map(Row::reach)),
                ticks: Ticks::In(1.0),
            },
            rows,
            keys: surfaces.chain(rest).collect(),
            reference: None,
        }),
        data: data(&owned),
        plain: None,
    })
}

fn row(cell: &CellSummary, cpu: &CpuAttribution, owners: &[CpuOwner]) -> Row {
    let (mut pieces, mut from) = (Vec::new(), 0.0);
    let mut add = |cpus: f64, paint: Paint| {
        pieces.push(Piece { from, to: from + cpus, paint, is_unclear: false });
        from += cpus;
    };
    for time in &cpu.owners {
        let number = owners.iter().position(|owner| *owner == time.owner).unwrap_or_default();
        add(time.cpus, Paint::Of(number));
    }
    if cpu.unexplained > 0.0 {
        add(cpu.unexplained, Paint::Faint);
    }
    Row {
        label: labels::cell_in_workload(cell),
        pieces,
        text: Text::of(Tone::Plain, format!("{:.2} CPUs", cpu.busy)),
        ..Row::default()
    }
}

fn phrase((cell, cpu): &Owned<'_>) -> String {
    let parts = cpu.owners.iter().map(|time| format!("{} {:.2}", labels::owner(time.owner), time.cpus));
    let parts = parts.collect::<Vec<_>>().join(", ");
    format!("{}: {:.2} CPUs busy, of these {parts}", labels::cell_in_workload(cell), cpu.busy)
}

fn data(owned: &[Owned<'_>]) -> Data {
    let mut data = Data::new(["cell", "owner", "busy_cpus", "share"]);
    for (cell, cpu) in owned {
        for time in &cpu.owners {
            let owner = labels::owner_key(time.owner).to_owned();
            data.push([
                Some(cell.id.clone()),
                Some(owner),
                number(Some(time.cpus)),
                number(Some(time.share)),
            ]);
        }
        let rest = [number(Some(cpu.unexplained)), number(Some(cpu.unexplained_share))];
        data.push([Some(cell.id.clone()), Some("unexplained".to_owned())].into_iter().chain(rest));
        let busy = [number(Some(cpu.busy)), number(Some(1.0))];
        data.push([Some(cell.id.clone()), Some("busy".to_owned())].into_iter().chain(busy));
    }
    data
}

fn cpu_of(cell: &CellSummary) -> Option<&CpuAttribution> {
    cell.probed.as_ref()?.cpu.as_ref()
}
