//! Checks virtual machines and the workloads in them.

use units::Bytes;
use workload::{BalloonSettings, Placement};

use super::virtio_net;
use crate::{
    diagnosis::Problem,
    document::{Document, Entry, Spanned, VmTable},
    names::{DeviceRef, HostName},
    resolve::{self, Draft},
    scenario::Scenario,
    vm::Vm,
};

const VCPUS: std::ops::RangeInclusive<u32> = 1..=Vm::MOST_VCPUS;
/// Every ballooning method moves memory in units of this size.
const BLOCK: u64 = 2 << 20;
const MOST_MEMORY: Bytes = Bytes(1 << 40);

pub(super) fn check(document: &Document, draft: &Draft, problems: &mut Vec<Problem>) {
    for entry in document.vms.iter() {
        sizes(entry, problems);
        virtio_net::check(&entry.table, problems);
    }
    let is_own = |at: &DeviceRef| {
        let mut inside = draft.lab.links.iter().filter(|link| link.is_inside(&at.host));
        inside.any(|link| link.devices().iter().any(|device| device.at == at))
    };
    for (at, place) in &draft.places.devices {
        if draft.lab.vm(&at.host).is_some() && !is_own(at) {
            let message = format!("`{}` is a virtual machine and cannot have additional devices", at.host);
            let help = "attach bridges, wires and overlays to hosts";
            problems.push(Problem::new(place.clone(), message, "not possible here").help(help));
        }
    }
}

fn sizes(entry: &Entry<VmTable>, problems: &mut Vec<Problem>) {
    let table = &entry.table;
    for (name, number) in [("vcpus", &table.vcpus), ("queues", &table.queues)] {
        if let Some(number) = number.as_ref().filter(|number| !VCPUS.contains(number)) {
            let message = format!("`{name}` is {}, not {} to {}", number, VCPUS.start(), VCPUS.end());
            problems.push(Problem::new(number.span(), message, "out of range"));
        }
    }
    if let Some(kernel) = table.kernel.as_ref().filter(|kernel| kernel.trim().is_empty()) {
        let help = "use `newest`, a release such as `6.12`, or a file";
        problems.push(Problem::new(kernel.span(), "`kernel` is empty", "no kernel").help(help));
    }
    if let Some(memory) = &table.memory {
        let requested = memory.0;
        let least = Vm::LEAST_MEMORY;
        if !(least..=MOST_MEMORY).contains(&requested) {
            let message = format!("{requested} of guest memory is out of range");
            let help = format!("use {least} to {MOST_MEMORY}");
            problems.push(Problem::new(memory.span(), message, "out of range").help(help));
        }
    }
    let vm = resolve::vm(table);
    if let Some((method, reason)) = table.balloon.as_ref().zip(vm.why_no_balloon()) {
        let message = format!("`balloon = \"{}\"` is not supported here: {reason}", method.word());
        problems.push(
            Problem::new(method.span(), message, "not supported").help("use QEMU with `board = \"q35\"`"),
        );
    }
    if let Some(queues) = table.queues.as_ref().filter(|_| vm.queues > vm.vcpus) {
        problems.push(too_many_queues(queues, &vm));
    }
}

fn too_many_queues(place: &Spanned<u32>, vm: &Vm) -> Problem {
    let message = format!("the guest has more queues ({}) than CPUs ({})", vm.queues, vm.vcpus);
    let help = format!("a guest uses at most one queue per CPU; raise `vcpus` to {}", vm.queues);
    Problem::new(place.span(), message, "too many").help(help)
}

fn balloons(document: &Document, scenario: &Scenario) -> Vec<Problem> {
    let of_workload = |workload: &crate::workload::Workload| -> Vec<Problem> {
        let Some(load) = BalloonSettings::of(&workload.load) else { return Vec::new() };
        let Some(table) = document.workloads.get(workload.name.as_str()).map(|entry| &entry.table) else {
            return Vec::new();
        };
        let problem = |host: &Spanned<String>| {
            let name = host.get_ref();
            let vm = scenario.lab.vm(&HostName::new(name));
            let Some((vm, method)) = vm.and_then(|vm| Some((vm, vm.balloon?))) else {
                let message = format!("`{name}` does not support ballooning");
                let help =
                    "name a virtual machine with a `balloon` method, e.g. `balloon = \"virtio-balloon\"`";
                return Some(Problem::new(host.span(), message, "not supported").help(help));
            };
            let most = Bytes(vm.most_to_take(method).0 / BLOCK * BLOCK);
            (load.memory > most).then(|| {
                let message = format!("`{name}` cannot give up {} with {}", load.memory, method.word());
                let help = format!("use {most} or less, or give it more memory than {}", vm.memory);
                Problem::new(host.span(), message, "too much").help(help)
            })
        };
        table.hosts.iter().filter_map(problem).collect()
    };
    scenario.workloads.iter().flat_map(of_workload).collect()
}

pub(crate) fn fit(document: &Document, scenario: &Scenario) -> Vec<Problem> {
    let in_vm = |path: &&crate::path::Path| {
        [&path.from.host, &path.to.host].into_iter().any(|host| scenario.lab.vm(host).is_some())
    };
    let mut problems = Vec::new();
    for workload in scenario.workloads.iter().filter(|workload| workload.placement != Placement::Free) {
        let path = scenario.paths.iter().filter(in_vm).find(|path| workload.paths.contains(&path.name));
        let (Some(path), Some(entry)) = (path, document.workloads.get(workload.name.as_str())) else {
            continue;
        };
        let message = format!(
            "`{}` sets `placement`, but the path `{}` ends in a virtual machine with its own CPUs",
            workload.name, path.name
        );
        let help = "remove `placement`, or restrict the workload with `paths`";
        let place = entry.table.placement.as_ref().map_or_else(|| entry.name.span(), Spanned::span);
        problems.push(Problem::new(place, message, "placed").help(help));
    }
    problems.extend(balloons(document, scenario));
    for host in &scenario.lab.hosts {
        let Some(vm) = host.vm.as_ref().filter(|vm| vm.queues > vm.vcpus) else { continue };
        let guest = document.attached().find(|guest| guest.name() == host.name.as_str());
        let named = guest.and_then(|guest| guest.table.vm.as_ref());
        let place = named.map_or(0..0, Spanned::span);
        problems.push(too_many_queues(&Spanned::new(place, vm.queues), vm));
    }
    problems
}
