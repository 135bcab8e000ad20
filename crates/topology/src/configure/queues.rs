//! Queues, i.e. ethtool channels. Separate receive and transmit channels are set to the same number.

use std::{fmt, time::Duration};

use nlink::netlink::genl::ethtool::{Channels, ChannelsBuilder};
use scenario::{DeviceSettingKind, DeviceSettings};

use super::{DeviceSetting, Kernel, refused, unread, unsupported};
use crate::{
    devices::{Device, Devices},
    error::ConfigureError,
    read_back::{self, LinkFacts},
    scratch,
    trial::{Attempt, Trial},
};

/// How many times to check for link carrier, over 2 s in total.
const LOOKS: usize = 200;
const LOOK_AGAIN_AFTER: Duration = Duration::from_millis(10);

pub(super) struct Queues;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Count {
    now: u32,
    most: u32,
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
        // Use 0 if the numbers differ, so that neither is mistaken for the setting.
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
        done: "set the number of queues of a veth device to two",
        needed_for: "devices with several queues",
        remedy: "a kernel with CONFIG_ETHTOOL_NETLINK and veth channels (Linux 5.13)",
        required: true,
        attempt: Attempt::Lab(|| {
            scratch::configured_wire(DeviceSettings { queues: Some(2), ..DeviceSettings::default() })
        }),
    });

    fn read(kernel: &mut Kernel<'_>, device: &Device) -> Result<Count, ConfigureError> {
        let channels = kernel.ethtool(device, async |ethtool, name| ethtool.get_channels_by_name(name).await);
        let channels = channels.map_err(|refusal| unread(device, Self::KIND, refusal))?;
        Count::of(&channels)
            .ok_or_else(|| unsupported(device, Self::KIND, Self::KIND.noun(), "the device has no channels"))
    }

    fn target(
        _device: &Device,
        original: &Count,
        requested: &DeviceSettings,
    ) -> Result<Count, ConfigureError> {
        Ok(Count { now: requested.queues.unwrap_or(original.now), ..*original })
    }

    fn change(
        kernel: &mut Kernel<'_>,
        device: &Device,
        _now: &Count,
        target: &Count,
    ) -> Result<(), ConfigureError> {
        let setting = || format!("{target} queues");
        if target.now > target.most {
            let reason = format!("the device has at most {}", target.most);
            return Err(unsupported(device, Self::KIND, setting(), reason));
        }
        let set = kernel.ethtool(device, async |ethtool, name| {
            ethtool.set_channels_by_name(name, |builder| target.builder(builder)).await
        });
        set.map_err(|refusal| refused(device, Self::KIND, setting(), refusal))
    }

    /// Waits for link carrier. Both ends lose it while queues change.
    fn settle(kernel: &Kernel<'_>, devices: &Devices) -> Result<(), ConfigureError> {
        let namespaces = kernel.namespaces;
        for (host, _) in namespaces.iter() {
            for _ in 0..LOOKS {
                let links = read_back::links(namespaces, host, false)?;
                let carries = |device: &Device| links.get(&device.index).is_none_or(LinkFacts::carries);
                let down: Vec<u32> = devices
                    .of_host(host)
                    .filter(|device| device.kind.reports_carrier() && !carries(device))
                    .map(|device| device.index)
                    .collect();
                if down.is_empty() {
                    break;
                }
                // Requesting a link makes the kernel process its pending events.
                let _ = namespaces.channel(host).transact(read_back::link_requests(&down));
                namespaces.channel(host).pause(LOOK_AGAIN_AFTER);
            }
        }
        Ok(())
    }
}
