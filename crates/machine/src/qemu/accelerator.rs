//! Selects KVM or emulation for a guest.

use super::error::QemuError;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Accelerator {
    Kvm,
    /// Emulation. Counts are valid, but times cannot be compared with real hardware.
    Tcg,
}

impl Accelerator {
    #[must_use]
    pub fn best() -> (Self, Option<String>) {
        match sys::kvm::try_run() {
            Ok(()) => (Self::Kvm, None),
            Err(error) => (Self::Tcg, Some(error.to_string())),
        }
    }

    /// Tests KVM, which takes up to 10 s. Fails if KVM was requested but is unavailable.
    pub fn checked(self) -> Result<Self, QemuError> {
        match self {
            Self::Kvm => sys::kvm::try_run().map(|()| self).map_err(QemuError::NoKvm),
            Self::Tcg => Ok(self),
        }
    }

    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Kvm => "kvm",
            Self::Tcg => "tcg",
        }
    }
}
