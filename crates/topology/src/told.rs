//! What the kernel says of devices, in the words in which it is kept and sent. Must not know who asked.

use samples::{
    CpuSpread, DeviceCounters, DeviceState, HostCounters, Interrupt, PathCounters, QdiscCounters,
    QueueCounters, RxTx,
};
use units::Bytes;

use crate::{
    queue_counts::QueueCount,
    reading::{DeviceReading, HostReading, PathReading, QdiscReading},
    spread, state,
};

impl From<&state::DeviceState> for DeviceState {
    fn from(state: &state::DeviceState) -> Self {
        Self {
            device: state.at.to_string(),
            kind: state.kind.word().to_owned(),
            mtu: state.mtu,
            features: state.features.clone(),
            gso_max_size: Some(Bytes(state.gso_ipv4_max_size.into())),
            gro_max_size: Some(Bytes(state.gro_ipv4_max_size.into())),
            queues: state.queues.map(both),
            rings: state.rings.map(both),
            spread: state.spread.as_ref().map(CpuSpread::from),
            virtio: state.virtio.clone(),
        }
    }
}

impl From<&spread::CpuSpread> for CpuSpread {
    fn from(spread: &spread::CpuSpread) -> Self {
        let interrupt = |interrupt: &spread::Interrupt| Interrupt {
            number: interrupt.number,
            name: interrupt.name.clone(),
            cpus: interrupt.cpus.clone(),
        };
        Self {
            rps: spread.rps.clone(),
            xps: spread.xps.clone(),
            interrupts: spread.interrupts.iter().map(interrupt).collect(),
        }
    }
}

fn both(ways: state::RxTx) -> RxTx {
    RxTx { rx: ways.rx, tx: ways.tx }
}

/// Counted since the devices were made.
impl From<&PathReading> for PathCounters {
    fn from(reading: &PathReading) -> Self {
        Self {
            devices: reading.devices.iter().map(DeviceCounters::from).collect(),
            hosts: reading.hosts.iter().map(HostCounters::from).collect(),
            softnet: None,
        }
    }
}

impl From<&DeviceReading> for DeviceCounters {
    fn from(reading: &DeviceReading) -> Self {
        let counters = &reading.counters;
        let queues = |queues: &[QueueCount]| queues.iter().map(QueueCounters::from).collect();
        Self {
            device: reading.at.to_string(),
            rx_packets: counters.rx_packets,
            rx_bytes: Bytes(counters.rx_bytes),
            rx_dropped: counters.rx_dropped,
            rx_errors: counters.rx_errors,
            tx_packets: counters.tx_packets,
            tx_bytes: Bytes(counters.tx_bytes),
            tx_dropped: counters.tx_dropped,
            tx_errors: counters.tx_errors,
            qdisc: reading.qdisc.as_ref().map(QdiscCounters::from),
            rx_queues: queues(&reading.queues.rx),
            tx_queues: queues(&reading.queues.tx),
        }
    }
}

impl From<&QueueCount> for QueueCounters {
    fn from(queue: &QueueCount) -> Self {
        Self { packets: queue.packets, bytes: Bytes(queue.bytes), dropped: queue.dropped }
    }
}

impl From<&QdiscReading> for QdiscCounters {
    fn from(reading: &QdiscReading) -> Self {
        Self {
            kind: reading.kind.clone(),
            drops: reading.drops.into(),
            overlimits: reading.overlimits.into(),
            requeues: reading.requeues.into(),
        }
    }
}

impl From<&HostReading> for HostCounters {
    fn from(reading: &HostReading) -> Self {
        Self { host: reading.host.to_string(), tracked: reading.tracked, translated: reading.translated }
    }
}
