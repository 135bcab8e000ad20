//! The MTU, a link attribute.

use nlink::netlink::types::link::IflaAttr;
use scenario::{DeviceSettingKind, DeviceSettings};

use super::{DeviceSetting, Kernel, refused, unsupported};
use crate::{
    devices::Device,
    error::ConfigureError,
    message::change_link,
    refusal::{Refusal, errno},
    trial::Trial,
};

pub(super) struct Mtu;

impl DeviceSetting for Mtu {
    type State = u32;

    const KIND: DeviceSettingKind = DeviceSettingKind::Mtu;
    const TRIAL: Option<Trial> = None;

    fn read(kernel: &mut Kernel<'_>, device: &Device) -> Result<u32, ConfigureError> {
        Ok(kernel.link(device)?.mtu)
    }

    fn target(_device: &Device, original: &u32, requested: &DeviceSettings) -> Result<u32, ConfigureError> {
        Ok(requested.mtu.unwrap_or(*original))
    }

    fn change(
        kernel: &mut Kernel<'_>,
        device: &Device,
        _now: &u32,
        target: &u32,
    ) -> Result<(), ConfigureError> {
        let mut message = change_link(device.index);
        message.append_attr_u32(IflaAttr::Mtu as u16, *target);
        let changed = kernel.change_link(device, message);
        changed.map_err(|refusal| out_of_bounds(device, Self::KIND, format!("MTU {target}"), refusal))
    }
}

pub(super) fn out_of_bounds(
    device: &Device,
    kind: DeviceSettingKind,
    setting: String,
    refusal: Refusal,
) -> ConfigureError {
    if refusal.errno() == errno::EINVAL {
        return unsupported(device, kind, setting, refusal.to_string());
    }
    refused(device, kind, setting, refusal)
}
