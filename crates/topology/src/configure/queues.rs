//! Queues of a device: its channels, by ethtool over generic netlink. A device has them in pairs that serve both
//! directions, or in two counts that are set alike here.

use std::{fmt, time::Duration};

use nlink::netlink::genl::ethtool::{Channels, ChannelsBuilder};
use scenario::{DeviceSettingKind, DeviceSettings};

use super::{DeviceSetting, Kernel, refused, unread, unsupported};
use crate::{
    devices::{Device, Devices},
    error::ConfigureError,
    probe::{self, Trial},
    read_back::{self, LinkFacts},
};

/// How often it is looked whether links carry again, and what is left between two looks: 2 s in all.
const LOOKS: usize = 200;
const LOOK_AGAIN_AFTER: Duration = Duration::from_millis(10);

pub(super) struct Queues;

/// Queues of a device, each direction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Count {
    /// Those that it uses.
    now: u32,
    /// The most that it could.
    most: u32,
    /// Whether one serves both directions.
    combined: bool,
}

impl fmt::Display for Count {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.now.fmt(f)
    }
}

impl Count {
    fn of(channels: &Channels) -> Option<Self> {
        let pairs = channels.combined_max.filter(|most| *most > 0);
        if let Some(most) = pairs {
            return Some(Self { now: channels.combined_count.unwrap_or(0), most, combined: true });
        }
        let most = channels.rx_max?.min(channels.tx_max?);
        // Where the two differ, neither is what was set.
        let now = if channels.rx_count == channels.tx_count { channels.rx_count? } else { 0 };
        Some(Self { now, most, combined: false })
    }

    fn builder(self, builder: ChannelsBuilder) -> ChannelsBuilder {
        if self.combined { builder.combined(self.now) } else { builder.rx(self.now).tx(self.now) }
    }
}

impl DeviceSetting for Queues {
    type State = Count;

    const KIND: DeviceSettingKind = DeviceSettingKind::Queues;
    const TRIAL: Option<Trial> = Some(Trial {
        name: "queues",
        done: "gave a device of a pair two queues and read them back",
        needed_for: "devices with several queues",
        remedy: "a kernel with CONFIG_ETHTOOL_NETLINK, and a veth with channels (Linux 5.13)",
        required: true,
        attempt: || probe::wire_with(DeviceSettings { queues: Some(2), ..DeviceSettings::default() }),
    });

    fn read(kernel: &mut Kernel<'_>, device: &Device) -> Result<Count, ConfigureError> {
        let channels = kernel.ethtool(device, async |ethtool, name| ethtool.get_channels_by_name(name).await);
        let channels = channels.map_err(|refusal| unread(device, Self::KIND, refusal))?;
        Count::of(&channels)
            .ok_or_else(|| unsupported(device, Self::KIND, Self::KIND.noun(), "it has no channels"))
    }

    fn target(_device: &Device, made: &Count, asked: &DeviceSettings) -> Result<Count, ConfigureError> {
        Ok(Count { now: asked.queues.unwrap_or(made.now), ..*made })
    }

    fn change(
        kernel: &mut Kernel<'_>,
        device: &Device,
        _now: &Count,
        target: &Count,
    ) -> Result<(), ConfigureError> {
        let setting = || format!("{target} queues");
        if target.now > target.most {
            let reason = format!("it has at most {}", target.most);
            return Err(unsupported(device, Self::KIND, setting(), reason));
        }
        let set = kernel.ethtool(device, async |ethtool, name| {
            ethtool.set_channels_by_name(name, |builder| target.builder(builder)).await
        });
        set.map_err(|refusal| refused(device, Self::KIND, setting(), refusal))
    }

    /// Waits until every pair carries again: its ends lose their carrier while the queues of one are changed.
    fn settle(kernel: &Kernel<'_>, devices: &Devices) -> Result<(), ConfigureError> {
        let namespaces = kernel.namespaces;
        for (host, _) in namespaces.iter() {
            for _ in 0..LOOKS {
                let links = read_back::links(namespaces, host, false)?;
                let carries = |device: &Device| links.get(&device.index).is_none_or(LinkFacts::carries);
                let silent: Vec<u32> = devices
                    .of_host(host)
                    .filter(|device| device.kind.tells_state() && !carries(device))
                    .map(|device| device.index)
                    .collect();
                if silent.is_empty() {
                    break;
                }
                // A question makes the kernel do what its work queue has still to do.
                let _ = namespaces.channel(host).transact(read_back::questions(&silent));
                namespaces.channel(host).pause(LOOK_AGAIN_AFTER);
            }
        }
        Ok(())
    }
}
