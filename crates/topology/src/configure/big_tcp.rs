//! BIG TCP, i.e. the maximum packet size of segmentation and receive offload.
//!
//! IPv4 has had separate attributes since Linux 6.3. Before that, one size applied to both families.

use std::fmt;

use nlink::netlink::{MessageBuilder, types::link::IflaAttr};
use scenario::{DeviceSettingKind, DeviceSettings};
use units::Bytes;

use super::{DeviceSetting, Kernel, mtu::out_of_bounds, unsupported};
use crate::{
    devices::Device,
    error::ConfigureError,
    message::change_link,
    read_back::Sizes,
    scratch,
    trial::{Attempt, Trial},
};

/// `GSO_MAX_SIZE` in linux/netdevice.h.
const LARGEST: Bytes = Bytes(8 * 65_535);

pub(super) struct BigTcp;

impl DeviceSetting for BigTcp {
    type State = Sizes;

    const KIND: DeviceSettingKind = DeviceSettingKind::BigTcp;
    const TRIAL: Option<Trial> = Some(Trial {
        name: "big-tcp",
        done: "set the packet size of a device to 512 KiB",
        needed_for: "packets above 64 KiB (BIG TCP)",
        remedy: "Linux 6.3 or later",
        required: false,
        attempt: Attempt::Lab(|| {
            scratch::configured_wire(DeviceSettings { big_tcp: Some(LARGEST), ..DeviceSettings::default() })
        }),
    });

    fn read(kernel: &mut Kernel<'_>, device: &Device) -> Result<Sizes, ConfigureError> {
        Ok(kernel.link(device)?.sizes)
    }

    fn target(
        device: &Device,
        original: &Sizes,
        requested: &DeviceSettings,
    ) -> Result<Sizes, ConfigureError> {
        let Some(Bytes(bytes)) = requested.big_tcp else { return Ok(*original) };
        let most = original.most;
        let allowed = u32::try_from(bytes).ok().filter(|bytes| *bytes <= most);
        allowed.map(|bytes| Sizes::all(bytes, most)).ok_or_else(|| {
            let setting = format!("packets of {bytes} bytes");
            unsupported(device, Self::KIND, setting, format!("the device supports at most {most} bytes"))
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

    /// Reads the sizes back, because kernels before 6.3 ignore the IPv4 attributes.
    fn verify(
        kernel: &mut Kernel<'_>,
        device: &Device,
        original: &Sizes,
        requested: &DeviceSettings,
    ) -> Result<(), ConfigureError> {
        let (target, found) = (Self::target(device, original, requested)?, Self::read(kernel, device)?);
        if found == target {
            return Ok(());
        }
        Err(unsupported(device, Self::KIND, target, format!("the kernel set {found} instead")))
    }
}

impl Sizes {
    pub(crate) fn all(bytes: u32, most: u32) -> Self {
        Self { gso: bytes, gro: bytes, gso_ipv4: bytes, gro_ipv4: bytes, most }
    }

    pub(crate) fn ipv4_sizes(&self) -> (u32, u32) {
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

/// The IPv4 sizes come last, because the kernel overwrites them when it sets the others to 64 KiB or less
/// (net/core/dev.h).
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
    fn uses_common_sizes_without_ipv4_ones() {
        let common = Sizes { gso: 65_536, gro: 60_000, ..Sizes::default() };
        assert_eq!(common.ipv4_sizes(), (65_536, 60_000));
        let own = Sizes { gso_ipv4: 131_072, gro_ipv4: 65_536, ..common };
        assert_eq!(own.ipv4_sizes(), (131_072, 65_536));
    }
}
