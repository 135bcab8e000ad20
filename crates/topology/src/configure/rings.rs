//! Ring sizes over ethtool netlink.

use std::fmt;

use nlink::netlink::genl::ethtool::RingsBuilder;
use scenario::{DeviceSettingKind, DeviceSettings};

use super::{DeviceSetting, Kernel, refused, unread, unsupported};
use crate::{devices::Device, error::ConfigureError, refusal::errno, trial::Trial};

/// To resize a ring, the driver resets the queue. The monitor must support this (VIRTIO_F_RING_RESET;
/// `virtqueue_resize` in drivers/virtio/virtio_ring.c).
const NO_RESET: &str =
    "its monitor cannot reset a single queue; use QEMU 7.2 or later with `board = \"q35\"`";

pub(super) struct Rings;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Places {
    rx: Ring,
    tx: Ring,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Ring {
    now: u32,
    most: u32,
}

impl fmt::Display for Places {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "rx {}, tx {}", self.rx.now, self.tx.now)
    }
}

impl Places {
    /// Unchanged sizes are omitted, because a driver may not support both rings.
    fn changes(self, now: &Self, rings: RingsBuilder) -> RingsBuilder {
        let rings = if self.rx == now.rx { rings } else { rings.rx(self.rx.now) };
        if self.tx == now.tx { rings } else { rings.tx(self.tx.now) }
    }
}

impl DeviceSetting for Rings {
    type State = Places;

    const KIND: DeviceSettingKind = DeviceSettingKind::Rings;
    /// Veth devices have no rings, and a guest's device can only be tested in the guest.
    const TRIAL: Option<Trial> = None;

    fn read(kernel: &mut Kernel<'_>, device: &Device) -> Result<Places, ConfigureError> {
        let rings = kernel.ethtool(device, async |ethtool, name| ethtool.get_rings_by_name(name).await);
        let rings = rings.map_err(|refusal| unread(device, Self::KIND, refusal))?;
        let ring = |now: Option<u32>, most: Option<u32>| Ring {
            now: now.unwrap_or_default(),
            most: most.unwrap_or_default(),
        };
        Ok(Places { rx: ring(rings.rx, rings.rx_max), tx: ring(rings.tx, rings.tx_max) })
    }

    fn target(
        device: &Device,
        original: &Places,
        requested: &DeviceSettings,
    ) -> Result<Places, ConfigureError> {
        let (rx, tx) = (requested.rings.rx, requested.rings.tx);
        Ok(Places {
            rx: sized(device, "receive", original.rx, rx)?,
            tx: sized(device, "transmit", original.tx, tx)?,
        })
    }

    fn change(
        kernel: &mut Kernel<'_>,
        device: &Device,
        now: &Places,
        target: &Places,
    ) -> Result<(), ConfigureError> {
        let set = kernel.ethtool(device, async |ethtool, name| {
            ethtool.set_rings_by_name(name, |rings| target.changes(now, rings)).await
        });
        let setting = || format!("ring sizes {target}");
        set.map_err(|refusal| match refusal.errno() {
            errno::ENOENT => unsupported(device, Self::KIND, setting(), NO_RESET),
            _ => refused(device, Self::KIND, setting(), refusal),
        })
    }
}

fn sized(
    device: &Device,
    way: &'static str,
    original: Ring,
    requested: Option<u32>,
) -> Result<Ring, ConfigureError> {
    let now = requested.unwrap_or(original.now);
    if requested.is_none() || now <= original.most {
        return Ok(Ring { now, ..original });
    }
    let reason = match original.most {
        0 => "the device has no such ring".to_owned(),
        most => format!("the device has at most {most}"),
    };
    Err(unsupported(device, Rings::KIND, format!("a {way} ring of {now} entries"), reason))
}
