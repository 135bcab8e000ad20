//! Ring sizes of a device, by ethtool over generic netlink. Only devices with hardware, or a guest's own, have rings.

use std::fmt;

use nlink::netlink::genl::ethtool::RingsBuilder;
use scenario::{DeviceSettingKind, DeviceSettings};

use super::{DeviceSetting, Kernel, refused, unread, unsupported};
use crate::{devices::Device, error::ConfigureError, probe::Trial, refusal::errno};

/// A guest's driver gives a ring another size by a reset of its queue alone, which the monitor has to offer
/// (VIRTIO_F_RING_RESET; `virtqueue_resize` in drivers/virtio/virtio_ring.c).
const NO_RESET: &str =
    "its monitor cannot reset one queue alone: that takes QEMU 7.2 or later, on the board q35";

pub(super) struct Rings;

/// The rings of a device, each queue's alike.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Places {
    rx: Ring,
    tx: Ring,
}

/// Places for packets; none where there is no such ring.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Ring {
    /// Those that it has.
    now: u32,
    /// The most that it could.
    most: u32,
}

impl fmt::Display for Places {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "rx {}, tx {}", self.rx.now, self.tx.now)
    }
}

impl Places {
    /// Only what differs: a driver need not have both.
    fn changes(self, now: &Self, rings: RingsBuilder) -> RingsBuilder {
        let rings = if self.rx == now.rx { rings } else { rings.rx(self.rx.now) };
        if self.tx == now.tx { rings } else { rings.tx(self.tx.now) }
    }
}

impl DeviceSetting for Rings {
    type State = Places;

    const KIND: DeviceSettingKind = DeviceSettingKind::Rings;
    /// A device of a pair has none, and what a guest's can do is known when it runs.
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

    fn target(device: &Device, made: &Places, asked: &DeviceSettings) -> Result<Places, ConfigureError> {
        let (rx, tx) = (asked.rings.rx, asked.rings.tx);
        Ok(Places { rx: sized(device, "receive", made.rx, rx)?, tx: sized(device, "transmit", made.tx, tx)? })
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
        let setting = || format!("rings of {target} places");
        set.map_err(|refusal| match refusal.errno() {
            errno::ENOENT => unsupported(device, Self::KIND, setting(), NO_RESET),
            _ => refused(device, Self::KIND, setting(), refusal),
        })
    }
}

/// The ring with the places that are asked for, or else those that it was made with.
fn sized(device: &Device, way: &'static str, made: Ring, asked: Option<u32>) -> Result<Ring, ConfigureError> {
    let now = asked.unwrap_or(made.now);
    if asked.is_none() || now <= made.most {
        return Ok(Ring { now, ..made });
    }
    let reason = match made.most {
        0 => "it has no such ring".to_owned(),
        most => format!("it has at most {most}"),
    };
    Err(unsupported(device, Rings::KIND, format!("a {way} ring of {now} places"), reason))
}
