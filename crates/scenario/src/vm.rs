//! A virtual machine as meant: what its guest sees of it, and how its packets leave it. Says nothing of how it is run.

use serde::{Deserialize, Serialize};
use units::Bytes;

/// A virtual machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Vm {
    /// Its board.
    pub board: Board,
    /// CPUs that its guest sees.
    pub vcpus: u32,
    /// Memory that its guest sees.
    pub memory: Bytes,
    /// Queues of each direction that its network device has.
    pub queues: u32,
    /// Whether the host's kernel moves its packets (vhost-net); otherwise its monitor does.
    pub vhost: bool,
}

impl Default for Vm {
    fn default() -> Self {
        Self { board: Board::Q35, vcpus: 1, memory: Bytes(512 << 20), queues: 1, vhost: false }
    }
}

/// What a virtual machine's devices are attached to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
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
