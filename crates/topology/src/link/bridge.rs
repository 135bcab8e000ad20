//! Bridges and their ports (linux/if_link.h).

use nlink::netlink::link::{BridgeLink, LinkConfig};
use nlink::netlink::types::link::IflaAttr;
use scenario::{
    DeviceName, DeviceRef, Lab, Link,
    link::{Bridge, BridgeKind},
};

use super::{LinkKind, Site, ovs};
use crate::{
    device_kind::DeviceKind,
    error::CreateError,
    message::{Request, change_link, create_link},
    missing_capabilities::Element,
    refusal::Refusal,
    scratch,
    trial::{Attempt, Trial},
};

pub(super) const TRIAL: Trial = Trial {
    name: "bridge",
    done: "created a bridge with a port",
    needed_for: "guests and pods",
    remedy: "modprobe bridge (CONFIG_BRIDGE)",
    required: true,
    attempt: Attempt::Lab(smallest),
};

pub(super) const OVS: Trial = Trial {
    name: "ovs",
    done: "created an Open vSwitch bridge with a port",
    needed_for: "bridges of kind `ovs`",
    remedy: "modprobe openvswitch (CONFIG_OPENVSWITCH, Linux 6.1)",
    required: true,
    attempt: Attempt::Lab(smallest_ovs),
};

pub(super) fn smallest() -> Lab {
    let mut address = None;
    let mut lab = scratch::wire_with(|wire| address = wire.ends[0].address.take());
    let at = DeviceRef::new("near", "br0");
    let bridge = Bridge::new("bridge", at, vec![DeviceName::new("eth0")], scratch::MTU);
    lab.links.push(Bridge { address, ..bridge }.into());
    lab
}

fn smallest_ovs() -> Lab {
    let mut lab = smallest();
    if let Some(Link::Bridge(bridge)) = lab.links.last_mut() {
        bridge.kind = BridgeKind::Ovs;
    }
    lab
}

impl LinkKind for Bridge {
    fn noun(&self) -> &'static str {
        "bridge"
    }

    fn needs(&self) -> Vec<&'static str> {
        match self.kind {
            BridgeKind::Linux => vec![TRIAL.name],
            BridgeKind::Ovs => vec![OVS.name],
        }
    }

    fn device(&self, _: &DeviceRef, _: &Lab) -> Option<DeviceKind> {
        Some(match self.kind {
            BridgeKind::Linux => DeviceKind::Bridge,
            BridgeKind::Ovs => DeviceKind::OpenVswitch,
        })
    }

    fn ports(&self) -> Vec<DeviceRef> {
        self.port_devices().collect()
    }

    /// A bridge's MTU follows its ports until the MTU is first changed (net/bridge/br_device.c). So the bridge is
    /// created with a larger MTU, which is then changed to the intended one.
    fn create(&self, element: &Element, site: &mut Site<'_>) -> Result<Vec<Request>, CreateError> {
        if self.kind == BridgeKind::Ovs {
            return ovs::create(self, element, site);
        }
        let device = site.devices.get(&self.at, element)?;
        let mut message = create_link(device);
        BridgeLink::new(self.at.device.as_str())
            .mtu(device.mtu + 1)
            .address(device.mac)
            .write_to(&mut message, None);
        let mut pin = change_link(device.index);
        pin.append_attr_u32(IflaAttr::Mtu as u16, device.mtu);
        let request = |operation, message| Request {
            host: self.at.host.clone(),
            element: element.clone(),
            needs: vec![],
            operation,
            message,
        };
        Ok(vec![
            request(format!("create bridge `{}`", self.at), message),
            request(format!("set the MTU of bridge `{}` to {}", self.at, device.mtu), pin),
        ])
    }

    /// The request is attributed to the port's element, so that an error does not affect the other ports.
    fn connect(&self, element: &Element, site: &Site<'_>) -> Result<Vec<Request>, CreateError> {
        if self.kind == BridgeKind::Ovs {
            return Ok(vec![]);
        }
        let master = site.devices.get(&self.at, element)?.index;
        let ports = self.port_devices().map(|port| {
            let port = site.devices.get(&port, element)?;
            let mut message = change_link(port.index);
            message.append_attr_u32(IflaAttr::Master as u16, master);
            Ok(Request {
                host: self.at.host.clone(),
                element: port.element.clone(),
                needs: vec![self.at.clone(), port.at.clone()],
                operation: format!("add `{}` to bridge `{}`", port.at.device, self.at),
                message,
            })
        });
        ports.collect()
    }

    fn finish(&self, site: &Site<'_>) -> Result<(), Refusal> {
        match self.kind {
            BridgeKind::Linux => Ok(()),
            BridgeKind::Ovs => ovs::forward(self, site),
        }
    }
}
