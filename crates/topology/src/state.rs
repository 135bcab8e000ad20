//! What a device is. It must not know how that is read.

/// The kind of a device.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum DeviceKind {
    /// One end of a pair.
    Veth,
    /// A VXLAN tunnel's device.
    Vxlan,
    /// A bridge.
    Bridge,
    /// The host's side of a virtual machine's network device.
    Tap,
    /// The guest's side of it.
    Virtio,
    /// Any other, such as a network card; no lab has one.
    Other,
}

impl DeviceKind {
    /// The word for it in records and reports.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Veth => "veth",
            Self::Vxlan => "vxlan",
            Self::Bridge => "bridge",
            Self::Tap => "tap",
            Self::Virtio => "virtio",
            Self::Other => "other",
        }
    }

    /// The kernel's word for it; it has none for a network card.
    pub(crate) fn kernel_word(self) -> &'static str {
        match self {
            Self::Tap => "tun",
            Self::Virtio => "",
            other => other.word(),
        }
    }

    /// The kind that the kernel has this word for; a network card's is empty.
    pub(crate) fn of_word(word: &str) -> Self {
        let known = [Self::Veth, Self::Vxlan, Self::Bridge, Self::Tap];
        let known = known.into_iter().find(|kind| kind.kernel_word() == word);
        known.unwrap_or(Self::Other)
    }
}
