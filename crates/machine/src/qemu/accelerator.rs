//! What runs a guest's instructions: the CPU itself, or QEMU instruction by instruction.

use super::error::QemuError;

/// What runs a guest's instructions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Accelerator {
    /// The CPU's own virtualisation.
    Kvm,
    /// Emulation: what it counts holds, its times do not compare with hardware.
    Tcg,
}

impl Accelerator {
    /// The fastest that this machine has; with the reason when that is emulation. Takes up to ten seconds.
    #[must_use]
    pub fn best() -> (Self, Option<String>) {
        match sys::kvm::try_run() {
            Ok(()) => (Self::Kvm, None),
            Err(error) => (Self::Tcg, Some(error.to_string())),
        }
    }

    /// This one, where the machine has it. Takes up to ten seconds.
    ///
    /// # Errors
    /// When it is KVM and no guest could be run in it.
    pub fn checked(self) -> Result<Self, QemuError> {
        match self {
            Self::Kvm => sys::kvm::try_run().map(|()| self).map_err(QemuError::NoKvm),
            Self::Tcg => Ok(self),
        }
    }

    /// QEMU's word for it.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Kvm => "kvm",
            Self::Tcg => "tcg",
        }
    }
}
