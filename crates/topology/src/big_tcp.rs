//! BIG TCP: how large a packet segmentation and receive offload may build.
//!
//! The sizes for IPv4 have attributes of their own since Linux 6.3; before, one size was for both.

use std::fmt;

use nlink::netlink::{MessageBuilder, types::link::IflaAttr};

use crate::read_back::Sizes;

impl Sizes {
    /// `bytes` for everything, on a device that takes `most`.
    pub(crate) fn all(bytes: u32, most: u32) -> Self {
        Self { gso: bytes, gro: bytes, gso_ipv4: bytes, gro_ipv4: bytes, most }
    }

    /// Those of segmentation and receive offload for IPv4, as they are in effect: a kernel that has none of their own
    /// says nothing of them.
    pub(crate) fn of_ipv4(&self) -> (u32, u32) {
        let or = |own: u32, both: u32| if own == 0 { both } else { own };
        (or(self.gso_ipv4, self.gso), or(self.gro_ipv4, self.gro))
    }
}

impl fmt::Display for Sizes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { gso, gro, gso_ipv4, gro_ipv4, .. } = self;
        write!(f, "gso {gso}, gro {gro}, IPv4 gso {gso_ipv4}, IPv4 gro {gro_ipv4} bytes")
    }
}

/// Adds the sizes to a message that changes a link. The sizes for IPv4 come last: the kernel drags them along
/// when it sets the others to 64 KiB or less (net/core/dev.h).
pub(crate) fn append(message: &mut MessageBuilder, sizes: Sizes) {
    message.append_attr_u32(IflaAttr::GsoMaxSize as u16, sizes.gso);
    message.append_attr_u32(IflaAttr::GroMaxSize as u16, sizes.gro);
    message.append_attr_u32(IflaAttr::GsoIpv4MaxSize as u16, sizes.gso_ipv4);
    message.append_attr_u32(IflaAttr::GroIpv4MaxSize as u16, sizes.gro_ipv4);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_kernel_without_sizes_for_ipv4_has_the_common_ones_there() {
        let common = Sizes { gso: 65_536, gro: 60_000, ..Sizes::default() };
        assert_eq!(common.of_ipv4(), (65_536, 60_000));
        let own = Sizes { gso_ipv4: 131_072, gro_ipv4: 65_536, ..common };
        assert_eq!(own.of_ipv4(), (131_072, 65_536));
    }
}
