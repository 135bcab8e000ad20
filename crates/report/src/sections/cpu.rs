//! CPUs used by each result, and CPU time per gigabyte or message.

use findings::{CpuCost, ResultSummary};

use super::Source;
use crate::{page::*, phrases};

const SHOWN: f64 = 0.05;

pub(super) fn build(source: &Source<'_>) -> Option<Section> {
    let findings = source.findings;
    let first = findings.results.iter().find_map(|result| result.cpu)?;
    let others = findings.results.iter().any(|result| result.cpu.is_some_and(|cpu| cpu.others >= SHOWN));
    let mut columns = vec![left("Result"), right("Busy")];
    columns.extend(others.then(|| right("Others")));
    columns.extend(["User", "System", "Interrupts", "Stolen", "Client", "Server", "Cost"].map(right));
    let whole = if others {
        "The column Busy covers the whole machine except other processes, which have their own column; user, system and \
         interrupts include those processes"
    } else {
        "The column Busy covers the whole machine"
    };
    let caption = format!(
        "CPUs in use on average (of {}), as the median across trials. {whole}. Client and server are only the traffic \
         threads, without the kernel's interrupt work for them.",
        first.cpus
    );
    let rows = findings.results.iter().filter_map(|result| row(result, &result.cpu?, others)).collect();
    Some(section("CPU", vec![Block::Table(Table { columns, rows, caption: Some(caption.into()) })]))
}

fn row(result: &ResultSummary, cpu: &CpuCost, others: bool) -> Option<Vec<Text>> {
    let CpuCost { busy, user, system, interrupts, steal, client, server, .. } = *cpu;
    let of_others = others.then_some(cpu.others);
    let cpus = [busy].into_iter().chain(of_others).chain([user, system, interrupts, steal, client, server]);
    let label = result.label.as_str().into();
    Some(
        [label]
            .into_iter()
            .chain(cpus.map(|cpus| format!("{cpus:.2}").into()))
            .chain([cost(cpu).into()])
            .collect(),
    )
}

fn cost(cpu: &CpuCost) -> String {
    cpu.per_work.map_or_else(|| "-".to_owned(), phrases::per_work)
}
