//! A machine's process, processor, memory and cgroup.

use samples::{VmAccelerator, VmFacts};
use units::significant;

use crate::{
    page::{self, *},
    phrases,
};

pub(super) fn section(vm: &VmFacts) -> Section {
    let pairs = [
        ("Processor", Some(processor(vm))),
        ("Board", vm.board.clone()),
        ("Memory", memory(vm)),
        ("Control group", control_group(vm)),
        ("Monitor", monitor(vm)),
    ];
    let pairs = pairs.into_iter().filter_map(|(name, value)| Some((name.to_owned(), Text::from(value?))));
    let unread = vm.unread.iter().map(|unread| {
        let phrase = format!("Not read: {}: {}.", unread.what, unread.reason);
        Block::Paragraph(Text::doubtful(phrase))
    });
    let blocks = [Block::KeyValues(pairs.collect())].into_iter().chain(unread);
    page::section("Virtual machine", blocks.collect())
}

fn processor(vm: &VmFacts) -> String {
    let cpus = vm.cpus.map(|cpus| phrases::count(cpus, "CPU"));
    let model = vm.cpu.as_ref().map(|cpu| format!("model {cpu}"));
    let runs = match vm.accelerator {
        Some(VmAccelerator::Kvm) => "run by KVM",
        Some(VmAccelerator::Emulation) => "emulated",
        None => "accelerator unknown",
    };
    let parts = [cpus, model, Some(runs.to_owned())];
    parts.into_iter().flatten().collect::<Vec<_>>().join(", ")
}

fn memory(vm: &VmFacts) -> Option<String> {
    let resident = vm.resident.map(|resident| format!("{resident} resident"));
    let parts = [vm.memory.map(|memory| memory.to_string()), resident];
    let phrase: Vec<String> = parts.into_iter().flatten().collect();
    (!phrase.is_empty()).then(|| phrase.join(", "))
}

fn control_group(vm: &VmFacts) -> Option<String> {
    let path = vm.control_group.clone()?;
    let limit = vm.cpu_limit.map_or_else(
        || "no own CPU limit".to_owned(),
        |limit| format!("at most {} CPUs", significant(limit, 3)),
    );
    Some(format!("{path}, {limit}"))
}

fn monitor(vm: &VmFacts) -> Option<String> {
    let monitor = vm.monitor.as_ref()?;
    let threads = match &monitor.io_threads[..] {
        [] => String::new(),
        names => format!(", I/O threads {}", names.join(", ")),
    };
    Some(format!("QEMU {}, {}{threads}", monitor.version, monitor.status))
}
