//! A virtual machine as meant: what its guest sees of it, and how its packets leave it. Says nothing of how it is run.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use units::Bytes;
use workload::BalloonMethod;

/// A virtual machine.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Vm {
    /// What runs it.
    #[serde(default)]
    pub monitor: Monitor,
    /// Its board, where its monitor has more than one.
    pub board: Board,
    /// CPUs that its guest sees.
    pub vcpus: u32,
    /// Memory that its guest sees.
    pub memory: Bytes,
    /// How memory can be taken from it while it runs; `None` where it cannot.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub balloon: Option<BalloonMethod>,
    /// Memory of a second node of its guest, which has no CPUs and stands for slow memory; none: it has one node.
    #[serde(default, skip_serializing_if = "is_nothing")]
    pub slow: Bytes,
    /// Queues of each direction that its network device has.
    pub queues: u32,
    /// Whether the host's kernel moves its packets (vhost-net); otherwise its monitor does.
    pub vhost: bool,
    /// What its network device can do.
    pub virtio: VirtioNet,
    /// CPUs of the host that the threads of its own CPUs run on, one each, from the first again where there are fewer;
    /// none: wherever there is room.
    pub cpus: Vec<u32>,
    /// CPUs of the host that its monitor's other threads run on, and the kernel's thread that moves its packets; none:
    /// wherever there is room.
    pub monitor_cpus: Vec<u32>,
}

impl Vm {
    /// The most CPUs that each of the boards takes (hw/i386/microvm.c of QEMU has 288, q35 255 without more ado).
    pub const MOST_VCPUS: u32 = 255;
    /// With less memory, a guest has no room for kernel, image and a measurement.
    pub const LEAST_MEMORY: Bytes = Bytes(192 << 20);
    /// A guest's kernel takes in memory that is plugged in by such blocks.
    const MEMORY_BLOCK: u64 = 128 << 20;

    /// Of its memory, what a virtio-mem device has: half of it, in whole blocks of the guest's kernel.
    #[must_use]
    pub fn pluggable(&self) -> Bytes {
        Bytes(if self.balloon == Some(BalloonMethod::VirtioMem) {
            self.memory.0 / 2 / Self::MEMORY_BLOCK * Self::MEMORY_BLOCK
        } else {
            0
        })
    }

    /// Why its memory cannot be taken by the method that it names, if it cannot.
    #[must_use]
    pub fn why_no_balloon(&self) -> Option<&'static str> {
        match (self.monitor, self.board, self.balloon?) {
            (Monitor::Firecracker, ..) => Some("only QEMU's memory is moved"),
            (_, Board::Microvm, BalloonMethod::VirtioMem) => Some("a virtio-mem device is one of PCI"),
            _ => None,
        }
    }

    /// What can be taken from it by this method.
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

fn is_nothing(memory: &Bytes) -> bool {
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

/// What a guest's network device can do: what its monitor offers, and its guest's driver is to accept. What is `None`
/// is left to the monitor. Source: Virtual I/O Device (VIRTIO) 1.2, section 5.1.3.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct VirtioNet {
    /// Packets pass without their checksums, both ways.
    pub csum: Option<bool>,
    /// The guest hands out TCP packets larger than the MTU.
    pub tso: Option<bool>,
    /// UDP packets larger than the MTU pass whole, both ways.
    pub ufo: Option<bool>,
    /// The guest takes in TCP packets larger than the MTU.
    pub gro: Option<bool>,
    /// A packet that comes in may take several buffers.
    pub mrg_rxbuf: Option<bool>,
    /// Places in the ring of each receive queue.
    pub rx_ring: Option<u32>,
    /// Places in the ring of each transmit queue.
    pub tx_ring: Option<u32>,
}

impl VirtioNet {
    /// Places that a ring can have: VIRTIO_NET_RX_QUEUE_MIN_SIZE and VIRTQUEUE_MAX_SIZE of QEMU's
    /// include/hw/virtio/virtio-net.h; every power of two from the first to the last.
    pub const RINGS: [u32; 3] = [256, 512, 1024];

    /// Its features in both directions, by their names in linux/virtio_net.h without `VIRTIO_NET_F_`, in lower case, and
    /// whether each is to be there. Each needs those before it.
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

/// What runs a virtual machine.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Monitor {
    #[default]
    Qemu,
    /// Firecracker: one board, one queue each way, and packets that it moves itself. It needs KVM.
    Firecracker,
}

impl Monitor {
    /// The word for it in scenarios and reports.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Qemu => "qemu",
            Self::Firecracker => "firecracker",
        }
    }

    /// Whether it has more than one board.
    #[must_use]
    pub fn has_boards(self) -> bool {
        self == Self::Qemu
    }

    /// Whether its network devices can have rings of other sizes than its own.
    #[must_use]
    pub fn sizes_rings(self) -> bool {
        self == Self::Qemu
    }

    /// Whether it opens a tap device by its name, in the network namespace that has it; one that does not inherits the
    /// device's descriptors.
    #[must_use]
    pub fn opens_taps(self) -> bool {
        self == Self::Firecracker
    }
}

/// What a virtual machine's devices are attached to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Board {
    /// A PC with PCI Express, as cloud machines and Proxmox guests have.
    Q35,
    /// QEMU's minimal machine without PCI: devices on virtio-mmio, as Firecracker has them. It is not Firecracker.
    Microvm,
}

impl Board {
    /// The word for it in scenarios and reports; also QEMU's.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Q35 => "q35",
            Self::Microvm => "microvm",
        }
    }
}
