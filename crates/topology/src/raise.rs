//! The order in which a lab comes to stand, and what is done with a refusal.
//!
//! Each step is one batch of messages per namespace. A refusal that means "this kernel cannot" makes the
//! element missing, and whatever needs its devices is left out with it; any other ends the raise.

mod verdict;
mod verify;

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Mutex,
};

use scenario::{Gateway, HostName, Lab};

use crate::{
    address, bridge,
    configure::{self, Originals},
    devices::{Device, Devices},
    error::{ConfigureError, RaiseError},
    gateway,
    message::{Request, link_up},
    missing::{Element, Missing},
    namespaces::Namespaces,
    rate, route, snat,
    topology::Topology,
    veth,
    virtio::{self, Taps},
    vxlan,
};

/// Raises `lab`: see [`Topology::raise`].
pub(crate) fn raise(lab: &Lab) -> Result<Topology, RaiseError> {
    let outside = lab.outside();
    let by_name = virtio::opened_by_name(lab);
    Raising { by_name, ..Raising::outside(&outside)? }.complete()
}

/// Dresses a guest: see [`Topology::inside`].
pub(crate) fn inside(lab: &Lab, host: &HostName) -> Result<Topology, RaiseError> {
    Raising::inside(lab, host)?.complete()
}

struct Raising<'a> {
    lab: &'a Lab,
    devices: Devices,
    namespaces: Namespaces,
    taps: Taps,
    /// Guests whose monitors open their tap devices by name.
    by_name: BTreeSet<HostName>,
    missing: Vec<Missing>,
}

impl<'a> Raising<'a> {
    /// In namespaces of its own, for each host of the lab.
    fn outside(lab: &'a Lab) -> Result<Self, RaiseError> {
        let devices = Devices::of(lab)?;
        check_hosts(lab)?;
        let namespaces = Namespaces::create(lab)?;
        let (taps, by_name, missing) = (Taps::new(), BTreeSet::new(), Vec::new());
        Ok(Self { lab, devices, namespaces, taps, by_name, missing })
    }

    /// In the namespace of this process, which is the guest `host`.
    fn inside(lab: &'a Lab, host: &HostName) -> Result<Self, RaiseError> {
        let mut devices = Devices::of(lab)?;
        let namespaces = Namespaces::own(lab)?;
        virtio::find(lab, host, &mut devices, &namespaces)?;
        let (taps, by_name, missing) = (Taps::new(), BTreeSet::new(), Vec::new());
        Ok(Self { lab, devices, namespaces, taps, by_name, missing })
    }

    fn complete(mut self) -> Result<Topology, RaiseError> {
        self.make_pairs_and_bridges()?;
        self.make_taps()?;
        self.make_tunnels()?;
        self.wire_up()?;
        self.limit_rates()?;
        self.route()?;
        self.translate()?;
        self.verify()?;
        self.finish()
    }

    fn make_pairs_and_bridges(&mut self) -> Result<(), RaiseError> {
        let mut requests = Vec::new();
        for bridge in &self.lab.bridges {
            requests.extend(bridge::create(bridge, &self.devices)?);
        }
        for link in &self.lab.links {
            requests.extend(veth::create(link, &self.lab.devices, &self.devices, &self.namespaces)?);
        }
        self.carry_out(requests)
    }

    /// Tap devices are not made by messages. A guest's own device is there already.
    fn make_taps(&mut self) -> Result<(), RaiseError> {
        let (lab, mut requests) = (self.lab, Vec::new());
        for nic in &lab.nics {
            let element = Element::Nic(nic.name.clone());
            if let Some(tap) = self.devices.find(&nic.port).cloned() {
                let queues = nic.queues;
                let by_name = self.by_name.contains(&nic.at.host);
                match virtio::create(nic, by_name, &self.devices, &self.namespaces) {
                    Ok(files) => drop(self.taps.insert(nic.port.clone(), files)),
                    Err(refusal) => {
                        let operation = format!("make the tap device `{}` with {queues} queues", nic.port);
                        self.refused(element, operation, refusal)?;
                        continue;
                    }
                }
                requests.push(virtio::dress(nic, &tap, &element));
            } else if let Some(device) = self.devices.find(&nic.at) {
                requests.push(virtio::dress(nic, device, &element));
            }
        }
        self.carry_out(requests)
    }

    fn make_tunnels(&mut self) -> Result<(), RaiseError> {
        let mut requests = Vec::new();
        for vxlan in &self.lab.vxlans {
            requests.extend(vxlan::create(vxlan, &self.devices)?);
        }
        self.carry_out(requests)
    }

    /// Ports, addresses and tunnel ends first, so that nothing is sent before everything is in place; then up.
    fn wire_up(&mut self) -> Result<(), RaiseError> {
        let mut requests = Vec::new();
        for bridge in &self.lab.bridges {
            requests.extend(bridge::enslave(bridge, &self.devices)?);
        }
        for vxlan in &self.lab.vxlans {
            requests.extend(vxlan::forward(vxlan, &self.devices)?);
        }
        for (at, address) in self.lab.addresses() {
            // The address of a guest is its own kernel's business.
            let Some(device) = self.devices.find(at) else { continue };
            requests.push(address::add(device, address, &device.element));
        }
        for gateway in &self.lab.gateways {
            requests.extend(gateway::address(gateway, self.lab, &self.devices)?);
        }
        requests.extend(self.lab.hosts.iter().map(|host| loopback_up(&host.name)));
        requests.extend(self.devices.all().map(up));
        self.carry_out(requests)
    }

    fn limit_rates(&mut self) -> Result<(), RaiseError> {
        let mut requests = Vec::new();
        for link in &self.lab.links {
            requests.extend(rate::limit(link, &self.devices)?);
        }
        self.carry_out(requests)
    }

    fn route(&mut self) -> Result<(), RaiseError> {
        let mut requests: Vec<Request> = self.lab.routes.iter().map(route::create_route).collect();
        for (number, gateway) in (0..).zip(&self.lab.gateways) {
            requests.extend(gateway::divert(gateway, number, &self.devices)?);
        }
        self.carry_out(requests)
    }

    fn translate(&mut self) -> Result<(), RaiseError> {
        let mut of_egress: BTreeMap<&HostName, Vec<&Gateway>> = BTreeMap::new();
        let lab = self.lab;
        for gateway in &lab.gateways {
            if !self.is_missing(&Element::Gateway(gateway.name.clone())) {
                of_egress.entry(&gateway.egress).or_default().push(gateway);
            }
        }
        for (host, gateways) in of_egress {
            let Err(refusal) = snat::translate(&self.namespaces, &gateways) else { continue };
            for gateway in gateways {
                let element = Element::Gateway(gateway.name.clone());
                let operation = format!("translate source addresses in host `{host}` with nftables");
                self.refused(element, operation, refusal.clone())?;
            }
        }
        Ok(())
    }

    fn finish(mut self) -> Result<Topology, RaiseError> {
        let mut originals = Originals::default();
        let mut settings = configure::of_standing(&self.lab.devices, &self.missing);
        // Each round leaves out one setting that the kernel lacks.
        while let Err(error) =
            configure::configure(&self.namespaces, &self.devices, &mut originals, &settings)
        {
            let ConfigureError::Unsupported { element, setting, reason } = error else {
                return Err(error.into());
            };
            configure::leave_out(&mut settings, &element);
            let reason = format!("cannot set {setting}: {reason}");
            let devices = element.device().cloned().into_iter().collect();
            self.missing.push(Missing { element, devices, reason });
        }
        Ok(Topology {
            namespaces: self.namespaces,
            devices: self.devices,
            gateways: self.lab.gateways.clone(),
            nics: self.lab.nics.clone(),
            taps: self.taps,
            missing: self.missing,
            originals: Mutex::new(originals),
        })
    }
}

fn check_hosts(lab: &Lab) -> Result<(), RaiseError> {
    let routes = lab.routes.iter().map(|route| (route::element(route), &route.host));
    let gateways = lab.gateways.iter().flat_map(|gateway| {
        let element = Element::Gateway(gateway.name.clone());
        [(element.clone(), &gateway.node), (element, &gateway.egress)]
    });
    for (element, host) in routes.chain(gateways) {
        if lab.host(host).is_none() {
            return Err(RaiseError::Unknown { element, what: format!("host `{host}`") });
        }
    }
    Ok(())
}

fn loopback_up(host: &HostName) -> Request {
    /// The kernel makes `lo` first in every namespace.
    const LOOPBACK: u32 = 1;
    Request {
        host: host.clone(),
        element: Element::Host(host.clone()),
        needs: vec![],
        operation: "bring `lo` up".into(),
        message: link_up(LOOPBACK),
    }
}

fn up(device: &Device) -> Request {
    Request {
        host: device.at.host.clone(),
        element: device.element.clone(),
        needs: vec![device.at.clone()],
        operation: format!("bring `{}` up", device.at),
        message: link_up(device.index),
    }
}

#[cfg(test)]
mod tests {
    use scenario::{DeviceName, DeviceRef, Route};

    use super::*;
    use crate::probe::scratch;

    /// A bridge with the wire and a tunnel as its ports, and a route through the tunnel.
    fn lab() -> Lab {
        let mut lab = Lab { vxlans: scratch::vxlan().vxlans, ..scratch::bridge() };
        lab.vxlans[0].members[1].address = Some("198.18.9.2/24".parse().unwrap());
        lab.bridges[0].ports.push(DeviceName::new("vxlan"));
        let (to, via) = ("198.19.0.0/16".parse().unwrap(), "198.18.9.1".parse().unwrap());
        lab.routes.push(Route { host: HostName::new("far"), to, via });
        lab.devices.insert(DeviceRef::new("far", "vxlan"), scenario::DeviceSettings::default());
        lab
    }

    #[test]
    fn what_leads_through_a_missing_tunnel_is_left_out_and_the_rest_stands() {
        if !scratch::can_raise("what_leads_through_a_missing_tunnel_is_left_out_and_the_rest_stands") {
            return;
        }
        let lab = lab();
        let mut raising = Raising::outside(&lab).unwrap();
        let tunnel = Element::Vxlan("vxlan".into());
        raising.note(tunnel.clone(), "pretended".into());
        let topology = raising.complete().unwrap();
        let missing: Vec<_> = topology.missing().iter().map(|missing| &missing.element).collect();
        assert_eq!(missing, [&tunnel, &route::element(&lab.routes[0])]);
        let devices = ["near", "far"].map(|host| DeviceRef::new(host, "vxlan"));
        assert!(devices.iter().all(|device| topology.missing()[0].devices.contains(device)));
        let bridge = DeviceRef::new("near", "br0");
        assert_eq!(
            topology.device_states(std::slice::from_ref(&bridge)).unwrap()[0].device,
            bridge.to_string()
        );
        topology.configure(&lab.devices).unwrap();
    }

    #[test]
    fn a_lab_that_names_what_it_does_not_have_is_refused_before_anything_is_made() {
        let mut lab = scratch::wire();
        lab.routes.push(Route {
            host: HostName::new("nowhere"),
            to: "198.19.0.0/16".parse().unwrap(),
            via: "198.18.0.1".parse().unwrap(),
        });
        let Err(error) = Raising::outside(&lab) else { panic!("the lab has no host `nowhere`") };
        assert!(error.to_string().contains("names host `nowhere`"), "{error}");
    }
}
