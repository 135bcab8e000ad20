//! A resolved virtual machine: the guest's hardware, and how its packets are processed. Does not start it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use units::Bytes;
use workload::BalloonMethod;

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Vm {
    #[serde(default)]
    pub monitor: Monitor,
    pub board: Board,
    pub vcpus: u32,
    pub memory: Bytes,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub balloon: Option<BalloonMethod>,
    /// Size of a second NUMA node without CPUs, which emulates slow memory; 0 for none.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub slow: Bytes,
    pub queues: u32,
    /// Whether the host kernel (vhost-net) processes its packets instead of the monitor.
    pub vhost: bool,
    pub virtio: VirtioNet,
    /// Host CPUs for the guest's CPU threads, one each, reused in order if there are fewer. Empty means any.
    pub cpus: Vec<u32>,
    /// Host CPUs for the monitor's other threads and the vhost thread. Empty means any.
    pub monitor_cpus: Vec<u32>,
}

impl Vm {
    /// Supported by all boards (288 in QEMU's hw/i386/microvm.c; 255 on q35 without an IOMMU).
    pub const MOST_VCPUS: u32 = 255;
    /// Minimum for kernel, image and a measurement.
    pub const LEAST_MEMORY: Bytes = Bytes(192 << 20);
    /// Block size in which a guest kernel onlines hotplugged memory.
    const MEMORY_BLOCK: u64 = 128 << 20;

    #[must_use]
    pub fn pluggable(&self) -> Bytes {
        Bytes(if self.balloon == Some(BalloonMethod::VirtioMem) {
            self.memory.0 / 2 / Self::MEMORY_BLOCK * Self::MEMORY_BLOCK
        } else {
            0
        })
    }

    #[must_use]
    pub fn why_no_balloon(&self) -> Option<&'static str> {
        match (self.monitor, self.board, self.balloon?) {
            (Monitor::Firecracker, ..) => Some("only QEMU supports ballooning"),
            (_, Board::Microvm, BalloonMethod::VirtioMem) => Some("virtio-mem needs PCI"),
            _ => None,
        }
    }

    #[must_use]
    pub fn most_to_take(&self, method: BalloonMethod) -> Bytes {
        match method {
            BalloonMethod::VirtioMem => self.pluggable(),
            BalloonMethod::VirtioBalloon | BalloonMethod::Agent => {
                Bytes(self.memory.0.saturating_sub(Self::LEAST_MEMORY.0))
            }
        }
    }
}

fn is_zero(memory: &Bytes) -> bool {
    memory.0 == 0
}

impl Default for Vm {
    fn default() -> Self {
        Self {
            monitor: Monitor::Qemu,
            board: Board::Q35,
            vcpus: 1,
            memory: Bytes(512 << 20),
            balloon: None,
            slow: Bytes(0),
            queues: 1,
            vhost: false,
            virtio: VirtioNet::default(),
            cpus: Vec::new(),
            monitor_cpus: Vec::new(),
        }
    }
}

/// Features of a guest's network device, offered by the monitor and accepted by the driver. `None` keeps the monitor's
/// default. Source: Virtual I/O Device (VIRTIO) 1.2, section 5.1.3.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct VirtioNet {
    /// Checksum offload, in both directions.
    pub csum: Option<bool>,
    /// The guest may send TCP packets larger than the MTU.
    pub tso: Option<bool>,
    /// UDP packets larger than the MTU pass unsegmented, in both directions.
    pub ufo: Option<bool>,
    /// The guest may receive TCP packets larger than the MTU.
    pub gro: Option<bool>,
    /// A received packet may span several buffers.
    pub mrg_rxbuf: Option<bool>,
    pub rx_ring: Option<u32>,
    pub tx_ring: Option<u32>,
}

impl VirtioNet {
    /// Valid ring sizes: the powers of two between VIRTIO_NET_RX_QUEUE_MIN_SIZE and VIRTQUEUE_MAX_SIZE in QEMU's
    /// include/hw/virtio/virtio-net.h.
    pub const RINGS: [u32; 3] = [256, 512, 1024];

    /// Features to set or clear, named as in linux/virtio_net.h but lower-case and without `VIRTIO_NET_F_`. Each
    /// depends on those before it.
    #[must_use]
    pub fn features(&self) -> Vec<(&'static str, bool)> {
        let all = [
            ("csum", self.csum),
            ("guest_csum", self.csum),
            ("guest_tso4", self.gro),
            ("guest_tso6", self.gro),
            ("guest_ufo", self.ufo),
            ("host_tso4", self.tso),
            ("host_tso6", self.tso),
            ("host_ufo", self.ufo),
            ("mrg_rxbuf", self.mrg_rxbuf),
        ];
        all.into_iter().filter_map(|(name, on)| Some((name, on?))).collect()
    }
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Monitor {
    #[default]
    Qemu,
    /// One board and one queue pair; processes packets itself. Needs KVM.
    Firecracker,
}

impl Monitor {
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Qemu => "qemu",
            Self::Firecracker => "firecracker",
        }
    }

    #[must_use]
    pub fn has_boards(self) -> bool {
        self == Self::Qemu
    }

    #[must_use]
    pub fn sizes_rings(self) -> bool {
        self == Self::Qemu
    }

    /// A monitor opens a tap device by name in the tap's network namespace, or inherits file descriptors.
    #[must_use]
    pub fn opens_taps(self) -> bool {
        self == Self::Firecracker
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Board {
    /// A PC with PCI Express, as in cloud machines and Proxmox guests.
    Q35,
    /// QEMU's minimal machine without PCI: devices on virtio-mmio, like Firecracker.
    Microvm,
}

impl Board {
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Q35 => "q35",
            Self::Microvm => "microvm",
        }
    }
}
