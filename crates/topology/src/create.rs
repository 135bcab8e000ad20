//! Creates a lab, using one batch of messages per namespace and step.
//!
//! Elements that the kernel does not support are skipped, along with everything that depends on them.

mod verdict;
mod verify;

use std::collections::{BTreeMap, BTreeSet};

use parking_lot::Mutex;
use scenario::{Gateway, HostName, Lab, Link};

use crate::{
    address,
    configure::{self, Originals},
    devices::{Device, Devices},
    error::{ConfigureError, CreateError},
    gateway,
    link::{self, Site, Taps},
    message::{Request, link_up},
    missing_capabilities::{Element, Missing},
    namespaces::Namespaces,
    route, snat,
    topology::Topology,
};

impl Topology {
    /// Creates and verifies `lab` in new namespaces. [`Topology::missing`] lists unsupported parts.
    pub fn create(lab: &Lab) -> Result<Self, CreateError> {
        let outside = lab.outside();
        let mut creator = Creator::outside(&outside)?;
        creator.site.by_name = link::opened_by_name(lab);
        creator.run()
    }

    /// Creates the part of the lab that belongs to `host`. On an existing host, the calling thread must be in the
    /// host's own namespace.
    pub fn inside(lab: &Lab, host: &HostName) -> Result<Self, CreateError> {
        let lab = lab.inside(host);
        match lab.existing(host) {
            Some(_) => Creator::on_existing(&lab, host)?.run(),
            None => Creator::inside(&lab, host)?.run(),
        }
    }
}

struct Creator<'a> {
    site: Site<'a>,
    missing: Vec<Missing>,
}

impl<'a> Creator<'a> {
    fn outside(lab: &'a Lab) -> Result<Self, CreateError> {
        let devices = Devices::of(lab)?;
        check_hosts(lab)?;
        Ok(Self::at(lab, devices, Namespaces::create(lab)?))
    }

    fn inside(lab: &'a Lab, host: &HostName) -> Result<Self, CreateError> {
        let mut devices = Devices::of(lab)?;
        let namespaces = Namespaces::own(lab)?;
        link::find_own(lab, host, &mut devices, &namespaces)?;
        Ok(Self::at(lab, devices, namespaces))
    }

    fn on_existing(lab: &'a Lab, host: &HostName) -> Result<Self, CreateError> {
        Ok(Self::at(lab, Devices::of(lab)?, Namespaces::on_existing(lab, host)?))
    }

    fn at(lab: &'a Lab, devices: Devices, namespaces: Namespaces) -> Self {
        let gateways = lab.all_gateways().collect();
        let site = Site { lab, gateways, devices, namespaces, taps: Taps::new(), by_name: BTreeSet::new() };
        Self { site, missing: Vec::new() }
    }

    fn run(mut self) -> Result<Topology, CreateError> {
        self.make_links()?;
        self.connect()?;
        self.finish_links()?;
        self.limit_rates()?;
        self.route()?;
        self.translate()?;
        self.verify()?;
        self.finish()
    }

    fn links(&self) -> impl Iterator<Item = &'a Link> {
        let is_local = |link: &&Link| link.devices().iter().any(|device| self.is_local(&device.at.host));
        self.site.lab.links.iter().filter(is_local)
    }

    fn is_local(&self, host: &HostName) -> bool {
        self.site.namespaces.get(host).is_some()
    }

    /// Creates links bottom-up. Both ends of a wire are created in the batch of one host.
    fn make_links(&mut self) -> Result<(), CreateError> {
        let mut by_depth: BTreeMap<usize, Vec<&Link>> = BTreeMap::new();
        for link in self.links() {
            by_depth.entry(self.site.devices.depth_of(link)).or_default().push(link);
        }
        for links in by_depth.into_values() {
            let mut requests = Vec::new();
            for link in links {
                match link::kind(link).create(&link::element(link), &mut self.site) {
                    Ok(more) => requests.extend(more),
                    Err(CreateError::Refused { element, operation, refusal }) => {
                        self.refused(element, operation, refusal)?;
                    }
                    Err(error) => return Err(error),
                }
            }
            self.carry_out(requests)?;
        }
        Ok(())
    }

    /// Brings devices up last, so that nothing is sent before everything is configured.
    fn connect(&mut self) -> Result<(), CreateError> {
        let mut requests = Vec::new();
        for link in self.links() {
            requests.extend(link::kind(link).connect(&link::element(link), &self.site)?);
        }
        for (at, address) in self.site.lab.all_addresses() {
            // The guest's kernel assigns the guest's address.
            let Some(device) = self.site.devices.find(at) else { continue };
            requests.push(address::add(device, address, &device.element));
        }
        for gateway in &self.site.gateways {
            requests.extend(gateway::address(gateway, self.site.lab, &self.site.devices)?);
        }
        requests.extend(self.site.lab.hosts.iter().map(|host| loopback_up(&host.name)));
        // A VLAN device comes up only after the underlying device.
        let mut devices: Vec<&Device> = self.site.devices.all().collect();
        devices.sort_by_key(|device| device.depth);
        requests.extend(devices.into_iter().map(up));
        self.carry_out(requests)
    }

    fn finish_links(&mut self) -> Result<(), CreateError> {
        for link in self.links().collect::<Vec<_>>() {
            let element = link::element(link);
            if self.is_missing(&element) {
                continue;
            }
            if let Err(refusal) = link::kind(link).finish(&self.site) {
                let operation = format!("complete {} `{}`", link::kind(link).noun(), link.name());
                self.refused(element, operation, refusal)?;
            }
        }
        Ok(())
    }

    fn limit_rates(&mut self) -> Result<(), CreateError> {
        let mut requests = Vec::new();
        for link in self.links() {
            requests.extend(link::kind(link).limit(&self.site)?);
        }
        self.carry_out(requests)
    }

    fn route(&mut self) -> Result<(), CreateError> {
        let mut requests: Vec<Request> =
            self.site.lab.all_routes().map(|route| route::create_route(&route)).collect();
        for (number, gateway) in (0..).zip(&self.site.gateways) {
            requests.extend(gateway::divert(gateway, number, &self.site.devices)?);
        }
        self.carry_out(requests)
    }

    fn translate(&mut self) -> Result<(), CreateError> {
        let mut by_egress: BTreeMap<&HostName, Vec<&Gateway>> = BTreeMap::new();
        let gateways = self.site.gateways.clone();
        for gateway in &gateways {
            if !self.is_missing(&Element::Gateway(gateway.name.clone())) {
                by_egress.entry(&gateway.egress).or_default().push(gateway);
            }
        }
        for (host, gateways) in by_egress {
            let Err(refusal) = snat::translate(&self.site.namespaces, &gateways) else { continue };
            for gateway in gateways {
                let element = Element::Gateway(gateway.name.clone());
                let operation = format!("translate source addresses in host `{host}` with nftables");
                self.refused(element, operation, refusal.clone())?;
            }
        }
        Ok(())
    }

    fn finish(mut self) -> Result<Topology, CreateError> {
        let mut originals = Originals::default();
        let mut settings = configure::settings_of_existing(&self.site.lab.devices, &self.missing);
        while let Err(error) =
            configure::configure(&self.site.namespaces, &self.site.devices, &mut originals, &settings)
        {
            let ConfigureError::Unsupported { element, setting, reason } = error else {
                return Err(error.into());
            };
            configure::remove_setting(&mut settings, &element);
            let reason = format!("cannot set {setting}: {reason}");
            let devices = element.device().cloned().into_iter().collect();
            self.missing.push(Missing { element, devices, reason, refusal: None });
        }
        Ok(Topology {
            namespaces: self.site.namespaces,
            devices: self.site.devices,
            gateways: self.site.gateways,
            links: self.site.lab.links.clone(),
            taps: self.site.taps,
            missing: self.missing,
            originals: Mutex::new(originals),
        })
    }
}

fn check_hosts(lab: &Lab) -> Result<(), CreateError> {
    let routes = lab.routes.iter().map(|route| (route::element(route), &route.host));
    let gateways = lab.gateways.iter().flat_map(|gateway| {
        let element = Element::Gateway(gateway.name.clone());
        [(element.clone(), &gateway.node), (element, &gateway.egress)]
    });
    for (element, host) in routes.chain(gateways) {
        if lab.host(host).is_none() {
            return Err(CreateError::Unknown { element, what: format!("host `{host}`") });
        }
    }
    Ok(())
}

fn loopback_up(host: &HostName) -> Request {
    const LOOPBACK: u32 = 1;
    Request {
        host: host.clone(),
        element: Element::Host(host.clone()),
        needs: vec![],
        operation: "bring up `lo`".into(),
        message: link_up(LOOPBACK),
    }
}

fn up(device: &Device) -> Request {
    Request {
        host: device.at.host.clone(),
        element: device.element.clone(),
        needs: vec![device.at.clone()],
        operation: format!("bring up `{}`", device.at),
        message: link_up(device.index),
    }
}

#[cfg(test)]
mod tests {
    use scenario::{DeviceName, DeviceRef, Route, link::Bridge};

    use super::*;
    use crate::scratch;

    fn lab() -> Lab {
        let mut lab = link::smallest_overlay();
        let Some(Link::Vxlan(overlay)) = lab.links.last_mut() else { panic!("the overlay comes last") };
        overlay.members[1].address = Some("198.18.9.2/24".parse().unwrap());
        let ports = vec![DeviceName::new("vxlan")];
        lab.links.push(Bridge::new("bridge", DeviceRef::new("near", "br0"), ports, 1450).into());
        let (to, via) = ("198.19.0.0/16".parse().unwrap(), "198.18.9.1".parse().unwrap());
        lab.routes.push(Route { host: HostName::new("far"), to, via });
        lab.devices.insert(DeviceRef::new("far", "vxlan"), scenario::DeviceSettings::default());
        lab
    }

    #[test]
    fn leaves_out_only_what_depends_on_a_missing_tunnel() {
        if !scratch::can_create_namespaces("leaves_out_only_what_depends_on_a_missing_tunnel") {
            return;
        }
        let lab = lab();
        let mut creator = Creator::outside(&lab).unwrap();
        let tunnel = link::element(&lab.links[1]);
        creator.note(tunnel.clone(), "pretended".into(), None);
        let topology = creator.run().unwrap();
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
    fn rejects_lab_with_unknown_host() {
        let mut lab = scratch::wire();
        lab.routes.push(Route {
            host: HostName::new("nowhere"),
            to: "198.19.0.0/16".parse().unwrap(),
            via: "198.18.0.1".parse().unwrap(),
        });
        let Err(error) = Creator::outside(&lab) else { panic!("the lab has no host `nowhere`") };
        assert!(error.to_string().contains("refers to host `nowhere`"), "{error}");
    }
}
