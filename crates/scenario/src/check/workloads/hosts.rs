//! The hosts of workloads with a single end. A plan treats each of these hosts as a path.

use super::refuse;
use crate::{
    diagnosis::Problem,
    document::{Document, Entry, WorkloadTable},
    names::{HostName, PathName},
    path::Path,
    workload::Workload,
};

pub(super) fn resolve(
    document: &Document,
    entry: &Entry<WorkloadTable>,
    problems: &mut Vec<Problem>,
) -> Vec<PathName> {
    let table = &entry.table;
    refuse(&table.placement, "placement", "it runs on one host, where the scheduler places it", problems);
    without_sockets(table, problems);
    if let Some(path) = table.paths.first() {
        let message = "`paths` has no effect here: this workload runs on one host";
        let help = "list its hosts, e.g. `hosts = [\"node1\"]`";
        problems.push(Problem::new(path.span(), message, "no effect").help(help));
    }
    if table.hosts.is_empty() {
        let message = format!("`{}` has no hosts", entry.name());
        let help = "add e.g. `hosts = [\"node1\"]`; the others are shown relative to the first";
        problems.push(Problem::new(table.kind.span(), message, "needs hosts").help(help));
    }
    for (index, host) in table.hosts.iter().enumerate() {
        if table.hosts[..index].iter().any(|other| other.get_ref() == host.get_ref()) {
            let message = format!("duplicate host `{host}`");
            problems.push(Problem::new(host.span(), message, "repeated here"));
        }
    }
    for host in table.hosts.iter().filter(|host| document.paths.get(host).is_some()) {
        let message = format!(
            "`{}` is the name of both a host and a path, so their results would have the same name",
            host.get_ref()
        );
        problems.push(Problem::new(host.span(), message, "also a path").help("rename the path"));
    }
    table.hosts.iter().map(PathName::new).collect()
}

fn without_sockets(table: &WorkloadTable, problems: &mut Vec<Problem>) {
    const WHY: &str = "it runs on one host and has no sockets";
    refuse(&table.congestion, "congestion", WHY, problems);
    refuse(&table.mss, "mss", WHY, problems);
    refuse(&table.window, "window", WHY, problems);
    refuse(&table.dscp, "dscp", WHY, problems);
    refuse(&table.nodelay, "nodelay", WHY, problems);
    refuse(&table.busy_poll, "busy-poll", WHY, problems);
}

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
