//! The settings that are attributes of the link: MTU and BIG TCP sizes.

use nlink::netlink::types::link::IflaAttr;
use scenario::DeviceSettings;

use super::Original;
use crate::{
    big_tcp,
    devices::Device,
    error::ConfigureError,
    message::change_link,
    missing::Element,
    namespaces::Namespaces,
    read_back::{LinkFacts, Sizes},
    refusal::{Refusal, errno},
};

/// Sets what differs.
pub(super) fn set(
    namespaces: &Namespaces,
    device: &Device,
    original: &Original,
    link: &LinkFacts,
    wanted: &DeviceSettings,
) -> Result<(), ConfigureError> {
    let mtu = wanted.mtu.unwrap_or(original.mtu);
    if mtu != link.mtu {
        let mut message = change_link(device.index);
        message.append_attr_u32(IflaAttr::Mtu as u16, mtu);
        let refusal = carry_out(namespaces, device, message);
        refused(refusal, device, Element::Mtu(device.at.clone()), format!("MTU {mtu}"), errno::EINVAL)?;
    }
    let sizes = sizes(device, original, wanted)?;
    if sizes != link.sizes {
        let mut message = change_link(device.index);
        big_tcp::append(&mut message, sizes);
        let refusal = carry_out(namespaces, device, message);
        let setting = format!("packets of {} bytes", sizes.gso);
        refused(refusal, device, Element::BigTcp(device.at.clone()), setting, errno::EINVAL)?;
    }
    Ok(())
}

/// Compares what was read back.
pub(super) fn verify(
    device: &Device,
    original: &Original,
    link: &LinkFacts,
    wanted: &DeviceSettings,
) -> Result<(), ConfigureError> {
    let mtu = wanted.mtu.unwrap_or(original.mtu);
    if mtu != link.mtu {
        return Err(ConfigureError::Differs {
            device: device.at.clone(),
            setting: "MTU".into(),
            wanted: mtu.to_string().into(),
            found: link.mtu.to_string().into(),
        });
    }
    let sizes = sizes(device, original, wanted)?;
    if sizes == link.sizes {
        return Ok(());
    }
    // Kernels before 6.3 pass over the attributes for IPv4 that they do not know.
    let element = Element::BigTcp(device.at.clone());
    let reason = format!("the kernel made {} of it", link.sizes);
    Err(ConfigureError::Unsupported { element, setting: sizes.to_string(), reason })
}

fn sizes(device: &Device, original: &Original, wanted: &DeviceSettings) -> Result<Sizes, ConfigureError> {
    let Some(bytes) = wanted.big_tcp else { return Ok(original.sizes) };
    let most = original.sizes.most;
    match u32::try_from(bytes.0) {
        Ok(bytes) if bytes <= most => Ok(Sizes::all(bytes, most)),
        _ => {
            let element = Element::BigTcp(device.at.clone());
            let setting = format!("packets of {} bytes", bytes.0);
            Err(ConfigureError::Unsupported {
                element,
                setting,
                reason: format!("it takes at most {most} bytes"),
            })
        }
    }
}

fn carry_out(
    namespaces: &Namespaces,
    device: &Device,
    message: nlink::netlink::MessageBuilder,
) -> Option<Refusal> {
    match namespaces.channel(&device.at.host).transact([message]) {
        Ok(verdicts) => verdicts.into_iter().flatten().next(),
        Err(refusal) => Some(refusal),
    }
}

fn refused(
    refusal: Option<Refusal>,
    device: &Device,
    element: Element,
    setting: String,
    cannot: i32,
) -> Result<(), ConfigureError> {
    match refusal {
        None => Ok(()),
        // The kernel answers a size that the device cannot have with "invalid argument".
        Some(refusal) if refusal.errno() == cannot => {
            Err(ConfigureError::Unsupported { element, setting, reason: refusal.to_string() })
        }
        Some(refusal) => Err(super::refused(device, element, setting, refusal)),
    }
}
