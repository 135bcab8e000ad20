//! The hosts that workloads with one end run at. Each is a path of its own for whoever plans and measures.

use super::refuse;
use crate::{
    diagnosis::Problem,
    document::{Document, Entry, WorkloadTable},
    names::{HostName, PathName},
    path::Path,
    workload::Workload,
};

/// The hosts that a workload with one end names, in its order.
pub(super) fn of(
    document: &Document,
    entry: &Entry<WorkloadTable>,
    problems: &mut Vec<Problem>,
) -> Vec<PathName> {
    let table = &entry.table;
    refuse(&table.placement, "placement", "it has one end, which runs where the scheduler puts it", problems);
    without_sockets(table, problems);
    if let Some(path) = table.paths.first() {
        let message = "`paths` has no effect here: it has one end, and goes over no path";
        let help = "name the hosts that it runs at, as in `hosts = [\"node1\"]`";
        problems.push(Problem::new(path.span(), message, "no effect").help(help));
    }
    if table.hosts.is_empty() {
        let message = format!("`{}` does not say at which hosts it runs", entry.name());
        let help = "add `hosts = [\"node1\"]`; the others are shown as a share of the first";
        problems.push(Problem::new(table.kind.span(), message, "has one end").help(help));
    }
    for (index, host) in table.hosts.iter().enumerate() {
        if table.hosts[..index].iter().any(|other| other.get_ref() == host.get_ref()) {
            let message = format!("the host `{}` is given twice", host.get_ref());
            problems.push(Problem::new(host.span(), message, "once more here"));
        }
    }
    for host in table.hosts.iter().filter(|host| document.paths.get(host.get_ref()).is_some()) {
        let message =
            format!("`{}` is a host and a path, and results of both would have one name", host.get_ref());
        problems.push(Problem::new(host.span(), message, "also a path").help("rename the path"));
    }
    table.hosts.iter().map(|host| PathName::new(host.get_ref())).collect()
}

/// Complains of what is set on sockets.
fn without_sockets(table: &WorkloadTable, problems: &mut Vec<Problem>) {
    const WHY: &str = "it has one end, and no sockets";
    refuse(&table.congestion, "congestion", WHY, problems);
    refuse(&table.mss, "mss", WHY, problems);
    refuse(&table.window, "window", WHY, problems);
    refuse(&table.dscp, "dscp", WHY, problems);
    refuse(&table.nodelay, "nodelay", WHY, problems);
    refuse(&table.busy_poll, "busy-poll", WHY, problems);
}

/// What stands for the hosts of all workloads where paths are planned, each once.
pub(crate) fn hosts(workloads: &[Workload]) -> Vec<Path> {
    let one_ended = workloads.iter().filter(|workload| !workload.load.kind().has_peer());
    let mut named: Vec<&PathName> = Vec::new();
    for name in one_ended.flat_map(|workload| &workload.paths) {
        if !named.contains(&name) {
            named.push(name);
        }
    }
    named.into_iter().map(|name| Path::at(&HostName::new(name.as_str()))).collect()
}
