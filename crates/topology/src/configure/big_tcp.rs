//! BIG TCP: how large a packet segmentation and receive offload may build, as attributes of the link.
//!
//! The sizes for IPv4 have attributes of their own since Linux 6.3; before, one size was for both.

use std::fmt;

use nlink::netlink::{MessageBuilder, types::link::IflaAttr};
use scenario::{DeviceSettingKind, DeviceSettings};
use units::Bytes;

use super::{DeviceSetting, Kernel, mtu::out_of_bounds, unsupported};
use crate::{
    devices::Device,
    error::ConfigureError,
    message::change_link,
    probe::{self, Trial},
    read_back::Sizes,
};

/// `GSO_MAX_SIZE` of linux/netdevice.h: eight segments of the old largest size.
const LARGEST: Bytes = Bytes(8 * 65_535);

pub(super) struct BigTcp;

impl DeviceSetting for BigTcp {
    type State = Sizes;

    const KIND: DeviceSettingKind = DeviceSettingKind::BigTcp;
    const TRIAL: Option<Trial> = Some(Trial {
        name: "big-tcp",
        done: "let a device build packets of 512 KiB",
        needed_for: "packets above 64 KiB (BIG TCP)",
        remedy: "Linux 6.3 or later",
        required: false,
        attempt: || probe::wire_with(DeviceSettings { big_tcp: Some(LARGEST), ..DeviceSettings::default() }),
    });

    fn read(kernel: &mut Kernel<'_>, device: &Device) -> Result<Sizes, ConfigureError> {
        Ok(kernel.link(device)?.sizes)
    }

    fn target(device: &Device, made: &Sizes, asked: &DeviceSettings) -> Result<Sizes, ConfigureError> {
        let Some(Bytes(bytes)) = asked.big_tcp else { return Ok(*made) };
        let most = made.most;
        let allowed = u32::try_from(bytes).ok().filter(|bytes| *bytes <= most);
        allowed.map(|bytes| Sizes::all(bytes, most)).ok_or_else(|| {
            let setting = format!("packets of {bytes} bytes");
            unsupported(device, Self::KIND, setting, format!("it takes at most {most} bytes"))
        })
    }

    fn change(
        kernel: &mut Kernel<'_>,
        device: &Device,
        _now: &Sizes,
        target: &Sizes,
    ) -> Result<(), ConfigureError> {
        let mut message = change_link(device.index);
        append(&mut message, *target);
        let setting = || format!("packets of {} bytes", target.gso);
        let changed = kernel.change_link(device, message);
        changed.map_err(|refusal| out_of_bounds(device, Self::KIND, setting(), refusal))
    }

    /// Kernels before 6.3 pass over the attributes for IPv4 that they do not know.
    fn verify(
        kernel: &mut Kernel<'_>,
        device: &Device,
        made: &Sizes,
        asked: &DeviceSettings,
    ) -> Result<(), ConfigureError> {
        let (target, found) = (Self::target(device, made, asked)?, Self::read(kernel, device)?);
        if found == target {
            return Ok(());
        }
        Err(unsupported(device, Self::KIND, target, format!("the kernel made {found} of it")))
    }
}

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
fn append(message: &mut MessageBuilder, sizes: Sizes) {
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
