//! CPU time of virtual machines as seen by host and guest, and the host's work for them.

use findings::{GuestTime, MachineTimes, ResultSummary};
use samples::PathRecord;

use super::Source;
use crate::{page::*, phrases};

const OPEN: usize = 12;

const MACHINES: &str = "VM: the vCPU threads on the host. Hypervisor: other VMM threads, vhost workers, interrupts \
     and kernel threads on the host.";
const GUESTS: &str = "Guest: CPUs busy while traffic flows, according to the guest's kernel. Unless the \
                      host reports steal time, this includes time when the host ran something else. It does \
                      not include the host's work for the guest.";

const HOSTS: &str =
    "CPUs busy on average, according to each host's kernel while traffic flows, for all processes.";

type MachineColumn = (&'static str, fn(&ResultSummary) -> Option<String>);

/// Published tables usually have this column order.
const COLUMNS: [MachineColumn; 5] = [
    ("Server VM", |result| vm(result, |machines| machines.server)),
    ("Server guest", |result| guest(result, "server")),
    ("Hypervisor", |result| vm(result, |machines| Some(machines.hypervisor))),
    ("Client VM", |result| vm(result, |machines| machines.client)),
    ("Client guest", |result| guest(result, "client")),
];

const OF_HOSTS: [MachineColumn; 2] =
    [("Server", |result| guest(result, "server")), ("Client", |result| guest(result, "client"))];

pub(super) fn build(source: &Source<'_>) -> Option<Section> {
    let findings = source.findings;
    let results: Vec<&ResultSummary> =
        findings.results.iter().filter(|result| has_machines(result)).collect();
    if results.is_empty() {
        return None;
    }
    // If all paths are existing networks, the ends are hosts without a hypervisor.
    let over_network = |last: &String| PathRecord::exists(std::slice::from_ref(last));
    let of_hosts = results.iter().all(|result| result.layers.last().is_some_and(over_network));
    let columns: &[MachineColumn] = if of_hosts { &OF_HOSTS } else { &COLUMNS };
    let columns: Vec<MachineColumn> =
        columns.iter().copied().filter(|(_, of)| results.iter().any(|result| of(result).is_some())).collect();
    let (open, folded) = results.split_at(OPEN.min(results.len()));
    let mut blocks = vec![Block::Table(Table {
        caption: Some(Text::faint(if of_hosts { HOSTS.to_owned() } else { caption(&results) })),
        ..table(&columns, open)
    })];
    if !folded.is_empty() {
        let title = phrases::count(folded.len(), "more result");
        let more = vec![Block::Table(table(&columns, folded))];
        blocks.push(Block::Folded { title: title.into(), blocks: more });
    }
    let title = if of_hosts { "CPU time of the hosts" } else { "CPU time of virtual machines" };
    Some(section(title, blocks))
}

fn has_machines(result: &ResultSummary) -> bool {
    machines(result).is_some() || !result.guests.is_empty()
}

fn caption(results: &[&ResultSummary]) -> String {
    let host =
        results.iter().filter_map(|result| result.probed.as_ref()?.cpu.as_ref()).map(|cpu| cpu.cpus).max();
    let of_host = host.map(|cpus| format!(", of the host's {cpus}")).unwrap_or_default();
    let machines = results.iter().any(|result| machines(result).is_some()).then_some(MACHINES);
    let sentences = [Some(&*format!("CPUs busy on average{of_host}.")), machines, Some(GUESTS)];
    sentences.into_iter().flatten().join(" ")
}

fn table(columns: &[MachineColumn], results: &[&ResultSummary]) -> Table {
    let heads: Vec<Column> =
        [left("Result")].into_iter().chain(columns.iter().map(|(title, _)| right(*title))).collect();
    let row = |result: &&ResultSummary| {
        let label = Text::from(result.label.as_str());
        let phrase = columns.iter().map(|(_, of)| of(result).map_or_else(|| Text::faint("-"), Text::from));
        [label].into_iter().chain(phrase).collect()
    };
    Table { columns: heads, rows: results.iter().map(row).collect(), caption: None }
}

fn machines(result: &ResultSummary) -> Option<&MachineTimes> {
    result.probed.as_ref()?.cpu.as_ref()?.machines.as_ref()
}

fn vm(result: &ResultSummary, of: fn(&MachineTimes) -> Option<f64>) -> Option<String> {
    Some(format!("{:.3}", of(machines(result)?)?))
}

fn guest(result: &ResultSummary, end: &str) -> Option<String> {
    let probed = result.probed.as_ref().and_then(|probed| probed.cpu.as_ref()).map(|cpu| &cpu.guests);
    let guests: &[GuestTime] = probed.filter(|guests| !guests.is_empty()).unwrap_or(&result.guests);
    let guest = guests.iter().find(|guest| guest.end == end)?;
    Some(glued(&format!("{:.2} of {}", guest.busy, guest.cpus)))
}
