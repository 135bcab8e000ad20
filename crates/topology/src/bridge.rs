//! Bridges and their ports. Source of the attributes: linux/if_link.h.

use nlink::netlink::link::{BridgeLink, LinkConfig};
use nlink::netlink::types::link::IflaAttr;
use scenario::Bridge;

use crate::{
    devices::Devices,
    error::RaiseError,
    message::{Request, change_link, create_link},
    missing::Element,
};

/// Makes the bridge with an MTU of its own. The kernel lets a bridge's MTU follow its ports until it is once
/// changed to something else than it was (net/bridge/br_device.c), so it is made one byte larger first.
pub(crate) fn create(bridge: &Bridge, devices: &Devices) -> Result<Vec<Request>, RaiseError> {
    let element = Element::Bridge(bridge.name.clone());
    let device = devices.get(&bridge.at, &element)?;
    let mut message = create_link(device);
    BridgeLink::new(bridge.at.device.as_str())
        .mtu(device.mtu + 1)
        .address(device.mac)
        .write_to(&mut message, None);
    let mut pin = change_link(device.index);
    pin.append_attr_u32(IflaAttr::Mtu as u16, device.mtu);
    let request = |operation, message| Request {
        host: bridge.at.host.clone(),
        element: element.clone(),
        needs: vec![],
        operation,
        message,
    };
    Ok(vec![
        request(format!("make bridge `{}`", bridge.at), message),
        request(format!("set the MTU of bridge `{}` to {}", bridge.at, device.mtu), pin),
    ])
}

/// Makes every port a port of the bridge. What a port is made by is what is missing without it: the other
/// ports still have their bridge.
pub(crate) fn enslave(bridge: &Bridge, devices: &Devices) -> Result<Vec<Request>, RaiseError> {
    let element = Element::Bridge(bridge.name.clone());
    let master = devices.get(&bridge.at, &element)?.index;
    let ports = bridge.ports.iter().map(|port| {
        let port = devices.get_in(&bridge.at.host, port, &element)?;
        let mut message = change_link(port.index);
        message.append_attr_u32(IflaAttr::Master as u16, master);
        Ok(Request {
            host: bridge.at.host.clone(),
            element: port.element.clone(),
            needs: vec![bridge.at.clone(), port.at.clone()],
            operation: format!("make `{}` a port of bridge `{}`", port.at.device, bridge.at),
            message,
        })
    });
    ports.collect()
}
