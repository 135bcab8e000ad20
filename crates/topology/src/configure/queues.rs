//! Queues of a device: its channels, by ethtool over generic netlink. A device has them in pairs that serve both
//! directions, or in two counts that are set alike here.

use std::time::Duration;

use nlink::netlink::genl::ethtool::{Channels, ChannelsBuilder};
use scenario::DeviceSettings;

use super::{Original, refused};
use crate::{
    devices::{Device, Devices},
    error::{ConfigureError, ReadError},
    missing::Element,
    namespaces::Namespaces,
    offload::Reader,
    read_back::{self, LinkFacts},
};

/// How often it is looked whether links carry again, and what is left between two looks: 2 s in all.
const LOOKS: usize = 200;
const LOOK_AGAIN_AFTER: Duration = Duration::from_millis(10);

/// Queues of a device, each direction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Queues {
    /// Those that it uses.
    pub(super) now: u32,
    /// The most that it could.
    most: u32,
    /// Whether one serves both directions.
    combined: bool,
}

impl Queues {
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

    fn builder(self, queues: u32, builder: ChannelsBuilder) -> ChannelsBuilder {
        if self.combined { builder.combined(queues) } else { builder.rx(queues).tx(queues) }
    }
}

/// The queues of a device.
pub(super) fn read(reader: &mut Reader<'_>, device: &Device) -> Result<Queues, ConfigureError> {
    let cannot = |reason: String| unsupported(device, "queues".to_owned(), reason);
    match reader.channels(&device.at) {
        Ok(channels) => Queues::of(&channels).ok_or_else(|| cannot("it has no channels".to_owned())),
        Err(refusal) if refusal.is_unsupported() => Err(cannot(refusal.to_string())),
        Err(refusal) => Err(ReadError::Refused {
            host: device.at.host.clone(),
            what: format!("the channels of `{}`", device.at.device),
            refusal,
        }
        .into()),
    }
}

/// Sets what differs; whether anything did.
pub(super) fn set(
    reader: &mut Reader<'_>,
    device: &Device,
    original: &Original,
    wanted: &DeviceSettings,
) -> Result<bool, ConfigureError> {
    let Some(target) = target(original, wanted) else { return Ok(false) };
    let queues = read(reader, device)?;
    if queues.now == target {
        return Ok(false);
    }
    let setting = format!("{target} queues");
    if target > queues.most {
        return Err(unsupported(device, setting, format!("it has at most {}", queues.most)));
    }
    let set = reader.set_channels(&device.at, |builder| queues.builder(target, builder));
    set.map(|()| true)
        .map_err(|refusal| refused(device, Element::Queues(device.at.clone()), setting, refusal))
}

/// Compares what was read back.
pub(super) fn verify(
    reader: &mut Reader<'_>,
    device: &Device,
    original: &Original,
    wanted: &DeviceSettings,
) -> Result<(), ConfigureError> {
    let Some(target) = target(original, wanted) else { return Ok(()) };
    let found = read(reader, device)?.now;
    if found == target {
        return Ok(());
    }
    Err(ConfigureError::Differs {
        device: device.at.clone(),
        setting: "queues".into(),
        wanted: target.to_string().into(),
        found: found.to_string().into(),
    })
}

/// Waits until every pair carries again: its ends lose their carrier while the queues of one are changed.
pub(super) fn settle(namespaces: &Namespaces, devices: &Devices) -> Result<(), ConfigureError> {
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

fn target(original: &Original, wanted: &DeviceSettings) -> Option<u32> {
    wanted.queues.or(original.queues)
}

fn unsupported(device: &Device, setting: String, reason: String) -> ConfigureError {
    ConfigureError::Unsupported { element: Element::Queues(device.at.clone()), setting, reason }
}
