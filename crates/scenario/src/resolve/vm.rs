//! Resolves a kind of virtual machine.

use crate::{
    document::{Spanned, Switch, VmTable},
    vm::{VirtioNet, Vm},
};

pub(crate) fn vm(table: &VmTable) -> Vm {
    let usual = Vm::default();
    let number = |written: &Option<Spanned<u32>>, usual| written.as_ref().map_or(usual, |n| **n);
    Vm {
        monitor: table.monitor.as_ref().map_or(usual.monitor, |word| **word),
        kernel: table.kernel.as_deref().map_or(usual.kernel, |kernel| {
            let Ok(kernel) = kernel.parse();
            kernel
        }),
        board: table.board.as_ref().map_or(usual.board, |word| **word),
        vcpus: number(&table.vcpus, usual.vcpus),
        memory: table.memory.as_ref().map_or(usual.memory, |memory| memory.0),
        balloon: table.balloon.as_deref().copied(),
        slow: usual.slow,
        queues: number(&table.queues, usual.queues),
        vhost: table.vhost.as_ref().map_or(usual.vhost, |vhost| vhost.is_on()),
        virtio: virtio(table),
        cpus: cpus(&table.cpus),
        monitor_cpus: cpus(&table.monitor_cpus),
    }
}

/// Disabling checksum offload also disables packets larger than the MTU, because they depend on it (VIRTIO 1.2,
/// section 5.1.3.1).
fn virtio(table: &VmTable) -> VirtioNet {
    let csum = table.csum.map(Switch::is_on);
    let needs_csum = |switch: &Option<Spanned<Switch>>| {
        let written = switch.as_ref().map(|switch| switch.is_on());
        written.or(csum.filter(|on| !on))
    };
    VirtioNet {
        csum,
        tso: needs_csum(&table.tso),
        ufo: needs_csum(&table.ufo),
        gro: needs_csum(&table.gro),
        mrg_rxbuf: table.mrg_rxbuf.map(Switch::is_on),
        rx_ring: table.rx_ring.as_deref().copied(),
        tx_ring: table.tx_ring.as_deref().copied(),
    }
}

fn cpus(written: &[Spanned<u32>]) -> Vec<u32> {
    written.iter().map(|cpu| **cpu).collect()
}
