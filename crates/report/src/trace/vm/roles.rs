//! CPU time by the role of a thread.

use findings::{VmRoleCpu, VmSummary};
use samples::{VmRole, VmThread};
use units::{Share, significant};

use crate::page::{self, *};

pub(super) fn section(summary: &VmSummary) -> Option<Section> {
    if summary.roles.is_empty() {
        return None;
    }
    let is_run = summary.roles.iter().any(|role| role.guest.is_some());
    let mut columns = vec![left("Threads"), right("Count"), right("CPUs")];
    columns.extend(is_run.then(|| right("In\u{a0}guest")));
    columns.extend([right("Busiest"), right("Waited"), left("May run on")]);
    let rows = summary.roles.iter().map(|role| row(summary, role, is_run)).collect();
    let caption = "CPUs in use on average, according to the scheduler. Busiest: the busiest thread; at 1 it is \
         saturated. Waited: share of runnable time spent waiting for a host CPU.";
    let table = Table { columns, rows, caption: Some(Text::faint(caption)) };
    Some(page::section("CPU time by role", vec![Block::Table(table)]))
}

fn row(summary: &VmSummary, role: &VmRoleCpu, is_run: bool) -> Vec<Text> {
    let share = |share: Option<f64>| share.map_or_else(|| "-".to_owned(), |share| Share(share).to_string());
    let mut row =
        vec![Text::strong(word(role.role)), role.threads.to_string().into(), number(role.cpus).into()];
    row.extend(is_run.then(|| role.guest.map_or_else(|| "-".into(), |guest| number(guest).into())));
    row.push(number(role.busiest).into());
    row.push(Text::from(glued(&share(role.waited))));
    row.push(places(summary.vm.threads.iter().filter(|thread| thread.role == role.role)).into());
    row
}

const fn word(role: VmRole) -> &'static str {
    match role {
        VmRole::Cpu => "vCPUs",
        VmRole::Vhost => "vhost workers",
        VmRole::Main => "main loop",
        VmRole::Io => "I/O threads",
        VmRole::Other => "others",
    }
}

fn number(cpus: f64) -> String {
    if cpus >= 0.0995 { significant(cpus, 3) } else { format!("{cpus:.3}") }
}

fn places<'a>(mut threads: impl Iterator<Item = &'a VmThread>) -> String {
    let Some(first) = threads.next() else { return String::new() };
    if threads.all(|thread| thread.cpus == first.cpus) { list(&first.cpus) } else { "one each".to_owned() }
}

fn list(numbers: &[u32]) -> String {
    let run = |run: &[u32]| match run {
        [] => String::new(),
        [only] => only.to_string(),
        [first, .., last] => format!("{first}-{last}"),
    };
    numbers.chunk_by(|one, next| one + 1 == *next).map(run).collect::<Vec<_>>().join(",")
}
