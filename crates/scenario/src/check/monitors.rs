//! Rejects settings that Firecracker does not support. Source: docs/design.md and
//! src/firecracker/swagger/firecracker.yaml of Firecracker.

use std::ops::Range;

use crate::{
    diagnosis::Problem,
    document::{Document, Entry, Spanned, VmTable},
    resolve,
    scenario::Scenario,
    vm::Monitor,
};

/// The maximum `vcpu_count` in Firecracker's machine configuration.
const MOST_VCPUS: u32 = 32;
const ONE_QUEUE: &str = "Firecracker network devices have a single queue pair";

pub(super) fn check(document: &Document, problems: &mut Vec<Problem>) {
    let kinds = document.vms.iter().map(|entry| &entry.table);
    for table in kinds.filter(|table| resolve::vm(table).monitor == Monitor::Firecracker) {
        fixed(table, problems);
        sizes(table, problems);
    }
}

pub(crate) fn fit(document: &Document, scenario: &Scenario) -> Vec<Problem> {
    let vms = scenario.lab.hosts.iter().filter_map(|host| Some((&host.name, host.vm.as_ref()?)));
    let too_many = vms.filter(|(_, vm)| vm.monitor == Monitor::Firecracker && vm.queues > 1);
    let problem = |(name, vm): (&crate::names::HostName, &crate::vm::Vm)| {
        let place = document.attached().find(|guest| guest.name() == name.as_str()).map(place_of_kind);
        let message = format!("{ONE_QUEUE}, but a factor sets {} for `{name}`", vm.queues);
        Problem::new(place.unwrap_or(0..0), message, "a Firecracker guest")
            .help("vary the queues of QEMU guests only")
    };
    too_many.map(problem).collect()
}

fn place_of_kind(guest: &Entry<crate::document::GuestTable>) -> Range<usize> {
    guest.table.vm.as_ref().map_or_else(|| guest.name.span(), Spanned::span)
}

fn fixed(table: &VmTable, problems: &mut Vec<Problem>) {
    let here = || table.monitor.as_ref().map_or(0..0, Spanned::span);
    let written = [
        ("board", table.board.as_ref().map(Spanned::span)),
        ("csum", table.csum.map(|_| here())),
        ("tso", table.tso.as_ref().map(Spanned::span)),
        ("ufo", table.ufo.as_ref().map(Spanned::span)),
        ("gro", table.gro.as_ref().map(Spanned::span)),
        ("mrg-rxbuf", table.mrg_rxbuf.map(|_| here())),
        ("rx-ring", table.rx_ring.as_ref().map(Spanned::span)),
        ("tx-ring", table.tx_ring.as_ref().map(Spanned::span)),
        ("cpus", table.cpus.first().map(Spanned::span)),
        ("monitor-cpus", table.monitor_cpus.first().map(Spanned::span)),
    ];
    for (name, place) in written.into_iter().filter_map(|(name, place)| Some((name, place?))) {
        let message = format!("`{name}` is not supported by Firecracker");
        problems.push(Problem::new(place, message, "QEMU only").help(format!("remove `{name}`")));
    }
}

fn sizes(table: &VmTable, problems: &mut Vec<Problem>) {
    if let Some(vhost) = table.vhost.as_ref().filter(|vhost| vhost.is_on()) {
        let message = "Firecracker processes packets itself and does not support vhost-net";
        problems.push(Problem::new(vhost.span(), message, "cannot be on").help("remove `vhost`"));
    }
    if let Some(queues) = table.queues.as_ref().filter(|queues| ***queues > 1) {
        let message = format!("{ONE_QUEUE}, not {queues}");
        problems.push(Problem::new(queues.span(), message, "too many").help("remove `queues`"));
    }
    if let Some(vcpus) = table.vcpus.as_ref().filter(|vcpus| ***vcpus > MOST_VCPUS) {
        let message = format!("Firecracker guests have 1 to {MOST_VCPUS} CPUs, not {vcpus}");
        problems.push(Problem::new(vcpus.span(), message, "too many"));
    }
}
