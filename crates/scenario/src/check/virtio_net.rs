//! Checks the features, ring sizes and CPU numbers of virtual machines, regardless of the monitor.

use crate::{
    diagnosis::Problem,
    document::{Spanned, Switch, VmTable},
    resolve,
    vm::VirtioNet,
};

/// The upper limit of the kernel's CONFIG_NR_CPUS.
const CPUS: u32 = 8192;

pub(super) fn check(table: &VmTable, problems: &mut Vec<Problem>) {
    needs_csum(table, problems);
    rings(table, problems);
    cpus(table, problems);
}

fn needs_csum(table: &VmTable, problems: &mut Vec<Problem>) {
    if table.csum != Some(Switch::Off) {
        return;
    }
    for (name, switch) in [("tso", &table.tso), ("ufo", &table.ufo), ("gro", &table.gro)] {
        let Some(switch) = switch.as_ref().filter(|switch| switch.is_on()) else { continue };
        let message = format!("`{name}` needs `csum`, which is off");
        let help = format!(
            "remove `{name}`, or `csum = \"off\"`: packets larger than the MTU need checksum offload"
        );
        problems.push(Problem::new(switch.span(), message, "cannot be on").help(help));
    }
}

fn rings(table: &VmTable, problems: &mut Vec<Problem>) {
    for (name, ring) in [("rx-ring", &table.rx_ring), ("tx-ring", &table.tx_ring)] {
        let Some(ring) = ring.as_ref().filter(|ring| !VirtioNet::RINGS.contains(ring)) else {
            continue;
        };
        let message = format!("`{name}` is {ring}, not 256, 512 or 1024");
        problems.push(Problem::new(ring.span(), message, "invalid ring size"));
    }
}

fn cpus(table: &VmTable, problems: &mut Vec<Problem>) {
    for cpu in table.cpus.iter().chain(&table.monitor_cpus).filter(|cpu| ***cpu >= CPUS) {
        let message = format!("CPU {cpu} does not exist; CPUs are numbered from 0");
        problems.push(Problem::new(cpu.span(), message, "no such CPU"));
    }
    let vcpus = resolve::vm(table).vcpus;
    if let Some(cpu) = table.cpus.get(vcpus as usize) {
        problems.push(idle(cpu, vcpus));
    }
}

fn idle(cpu: &Spanned<u32>, vcpus: u32) -> Problem {
    let message = format!("`cpus` lists more CPUs than the guest has ({vcpus})");
    Problem::new(cpu.span(), message, "no guest CPU for this").help("list one host CPU per guest CPU")
}
