//! A resolved virtual machine: the guest's hardware, and how its packets are processed.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use units::Bytes;
use workload::BalloonMethod;

use crate::guest_kernel::GuestKernel;

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Vm {
    #[serde(default)]
    pub monitor: Monitor,
    #[serde(default, skip_serializing_if = "is_newest")]
    pub kernel: GuestKernel,
    pub board: Board,
    pub vcpus: u32,
    pub memory: Bytes,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub balloon: Option<BalloonMethod>,
    /// The size of a second NUMA node without CPUs that emulates slow memory, or 0 for none.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub slow: Bytes,
    pub queues: u32,
    pub vhost: bool,
    pub virtio: VirtioNet,
    /// The host CPUs to pin the guest's CPU threads to, reused in order if there are too few. If empty, threads are
    /// not pinned.
    pub cpus: Vec<u32>,
    pub monitor_cpus: Vec<u32>,
}

impl Vm {
    /// The largest number that every board supports (288 in QEMU's hw/i386/microvm.c; 255 on q35 without an IOMMU).
    pub const MOST_VCPUS: u32 = 255;
    /// The minimum memory for the kernel, the image and a measurement.
    pub const LEAST_MEMORY: Bytes = Bytes(192 << 20);
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

fn is_newest(kernel: &GuestKernel) -> bool {
    *kernel == GuestKernel::Newest
}

fn is_zero(memory: &Bytes) -> bool {
    memory.0 == 0
}

impl Default for Vm {
    fn default() -> Self {
        Self {
            monitor: Monitor::Qemu,
            kernel: GuestKernel::Newest,
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

/// Features of a guest's network device. `None` leaves the monitor's default. Source: Virtual I/O Device (VIRTIO)
/// 1.2, section 5.1.3.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct VirtioNet {
    pub csum: Option<bool>,
    pub tso: Option<bool>,
    pub ufo: Option<bool>,
    pub gro: Option<bool>,
    pub mrg_rxbuf: Option<bool>,
    pub rx_ring: Option<u32>,
    pub tx_ring: Option<u32>,
}

impl VirtioNet {
    /// The powers of two from VIRTIO_NET_RX_QUEUE_MIN_SIZE to VIRTQUEUE_MAX_SIZE (include/hw/virtio/virtio-net.h of
    /// QEMU).
    pub const RINGS: [u32; 3] = [256, 512, 1024];

    /// Returns the features to set or clear, with the names from linux/virtio_net.h in lower case. A feature
    /// may depend on earlier ones.
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
    /// Firecracker has a single board and one queue pair, processes packets itself, and needs KVM.
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

    /// Whether the monitor opens tap devices by name, in their network namespace, instead of inheriting
    /// descriptors.
    #[must_use]
    pub fn opens_taps(self) -> bool {
        self == Self::Firecracker
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Board {
    Q35,
    /// QEMU's minimal machine without PCI. Its devices use virtio-mmio, like Firecracker's.
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
