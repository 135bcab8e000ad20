//! Interrupt coalescing over ethtool netlink.

use nlink::netlink::{
    AttrIter, MessageBuilder, NlMsgType,
    genl::ethtool::CoalesceBuilder,
    message::{NLM_F_CREATE, NLM_F_EXCL, NLM_F_REQUEST},
    types::route::{RtMsg, RtaAttr},
};
use samples::Coalescing;
use scenario::{DeviceSettingKind, DeviceSettings};

use super::{DeviceSetting, Kernel, mtu::out_of_bounds, unread, unsupported};
use crate::{
    device_kind::DeviceKind,
    devices::Device,
    error::ConfigureError,
    message::{INET, link_header, link_up},
    read_back,
    refusal::{Refusal, errno},
    trial::Trial,
};

/// Source: `virtnet_set_coalesce` in drivers/net/virtio_net.c.
const OF_VIRTIO: &str = "a virtio device supports only rx-frames 1 and tx-frames 0 or 1, unless its monitor \
                         offers coalescing (VIRTIO_NET_F_NOTF_COAL); QEMU does not";

/// `IFF_UP`.
const UP: u32 = 1;

pub(super) struct Interrupts;

impl DeviceSetting for Interrupts {
    type State = Coalescing;

    const KIND: DeviceSettingKind = DeviceSettingKind::Coalescing;
    /// Veth devices do not support coalescing, and a guest's device can only be tested in the guest.
    const TRIAL: Option<Trial> = None;

    fn read(kernel: &mut Kernel<'_>, device: &Device) -> Result<Coalescing, ConfigureError> {
        let found = kernel.ethtool(device, async |ethtool, name| ethtool.get_coalesce_by_name(name).await);
        Ok(read_back::coalescing(&found.map_err(|refusal| unread(device, Self::KIND, refusal))?))
    }

    fn target(
        device: &Device,
        original: &Coalescing,
        requested: &DeviceSettings,
    ) -> Result<Coalescing, ConfigureError> {
        let (requested, originals) = (requested.coalescing, original);
        for ((word, requested), (_, original)) in requested.each().into_iter().zip(original.each()) {
            if let (Some(value), None) = (requested, original) {
                let reason = format!("its driver supports {}", parameters(originals));
                return Err(unsupported(device, Self::KIND, format!("{word} {value}"), reason));
            }
        }
        Ok(requested.or(*originals))
    }

    fn change(
        kernel: &mut Kernel<'_>,
        device: &Device,
        now: &Coalescing,
        target: &Coalescing,
    ) -> Result<(), ConfigureError> {
        let set = |kernel: &mut Kernel<'_>| {
            kernel.ethtool(device, async |ethtool, name| {
                ethtool.set_coalesce_by_name(name, |builder| changes(builder, now, target)).await
            })
        };
        // The driver reclaims sent packets differently with and without tx-frames, and cannot switch while the device
        // is up.
        let swaps = (now.tx_frames == Some(0)) != (target.tx_frames == Some(0));
        let is_virtio = device.kind == DeviceKind::Virtio;
        let done = if is_virtio && swaps { while_down(kernel, device, set) } else { set(kernel) };
        done.map_err(|refusal| match refusal.errno() {
            errno::EINVAL | errno::EOPNOTSUPP if is_virtio => {
                unsupported(device, Self::KIND, target, OF_VIRTIO)
            }
            _ => out_of_bounds(device, Self::KIND, target.to_string(), refusal),
        })
    }
}

fn parameters(original: &Coalescing) -> String {
    let words: Vec<&str> =
        original.each().into_iter().filter_map(|(word, value)| value.map(|_| word)).collect();
    match words.as_slice() {
        [] => "none".to_owned(),
        [only] => format!("only {only}"),
        [before @ .., last] => format!("{} and {last}", before.join(", ")),
    }
}

/// Unchanged parameters are omitted, because the driver may not support them.
fn changes(builder: CoalesceBuilder, now: &Coalescing, target: &Coalescing) -> CoalesceBuilder {
    fn if_other<T: PartialEq>(
        builder: CoalesceBuilder,
        (now, target): (Option<T>, Option<T>),
        set: fn(CoalesceBuilder, T) -> CoalesceBuilder,
    ) -> CoalesceBuilder {
        match target {
            Some(value) if now.as_ref() != Some(&value) => set(builder, value),
            _ => builder,
        }
    }
    let builder = if_other(builder, (now.rx_usecs, target.rx_usecs), CoalesceBuilder::rx_usecs);
    let builder = if_other(builder, (now.rx_frames, target.rx_frames), CoalesceBuilder::rx_max_frames);
    let builder = if_other(builder, (now.tx_usecs, target.tx_usecs), CoalesceBuilder::tx_usecs);
    let builder = if_other(builder, (now.tx_frames, target.tx_frames), CoalesceBuilder::tx_max_frames);
    let builder = if_other(builder, (now.adaptive_rx, target.adaptive_rx), CoalesceBuilder::use_adaptive_rx);
    if_other(builder, (now.adaptive_tx, target.adaptive_tx), CoalesceBuilder::use_adaptive_tx)
}

fn while_down(
    kernel: &mut Kernel<'_>,
    device: &Device,
    work: impl FnOnce(&mut Kernel<'_>) -> Result<(), Refusal>,
) -> Result<(), Refusal> {
    let routes = routes_by(kernel, device)?;
    let mut down = link_header(device.index);
    down.ifi_change = UP;
    let mut message = MessageBuilder::new(NlMsgType::RTM_NEWLINK, NLM_F_REQUEST);
    message.append(&down);
    kernel.change_link(device, message)?;
    let done = work(kernel);
    kernel.change_link(device, link_up(device.index))?;
    // Ignore errors, because the kernel has already recreated the routes of the device's own addresses.
    kernel.namespaces.channel(&device.at.host).transact(routes.iter().map(|route| restore(route)))?;
    done
}

/// Returns the routes as messages that can be sent back to the kernel, as `ip route restore` does.
fn routes_by(kernel: &Kernel<'_>, device: &Device) -> Result<Vec<Vec<u8>>, Refusal> {
    let mut request = MessageBuilder::new(NlMsgType::RTM_GETROUTE, NLM_F_REQUEST);
    request.append(&RtMsg { rtm_family: INET, ..RtMsg::default() });
    let mut routes = kernel.namespaces.channel(&device.at.host).dump(request)?;
    routes.retain(|route| {
        let mut attributes = AttrIter::new(route.get(RtMsg::SIZE..).unwrap_or_default());
        attributes.any(|(attribute, value)| {
            attribute == RtaAttr::Oif as u16 && value == device.index.to_ne_bytes().as_slice()
        })
    });
    Ok(routes)
}

fn restore(route: &[u8]) -> MessageBuilder {
    let mut message = MessageBuilder::new(NlMsgType::RTM_NEWROUTE, NLM_F_REQUEST | NLM_F_CREATE | NLM_F_EXCL);
    message.append_bytes(route);
    message
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use scenario::{HostName, Route};

    use super::*;
    use crate::{scratch, topology::Topology};

    #[test]
    fn restores_routes_after_device_was_down() {
        if !scratch::can_create_namespaces("restores_routes_after_device_was_down") {
            return;
        }
        let mut lab = scratch::wire();
        let to = "198.18.9.0/24".parse().unwrap();
        lab.routes = vec![Route { host: HostName::new("near"), to, via: scratch::FAR }];
        let topology = Topology::create(&lab).unwrap();
        let mut kernel = Kernel::new(&topology.namespaces);
        let device = topology.devices.find(&scratch::near()).unwrap();
        let routes =
            |kernel: &Kernel<'_>| routes_by(kernel, device).unwrap().into_iter().collect::<BTreeSet<_>>();
        let before = routes(&kernel);
        assert!(before.len() > 2, "routes of the address and of the lab");
        let mut while_down_routes = None;
        while_down(&mut kernel, device, |kernel| {
            while_down_routes = Some(routes(kernel));
            Ok(())
        })
        .unwrap();
        let remaining = while_down_routes.expect("the routes were read");
        assert!(before.difference(&remaining).count() > 1, "the kernel removes routes to other hosts");
        assert_eq!(routes(&kernel), before);
    }
}
