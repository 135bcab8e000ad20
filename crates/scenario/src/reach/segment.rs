//! Network segments: how a frame gets from one device to another below routing, through links, bridges and tunnels.

use std::{
    collections::{BTreeMap, BTreeSet},
    net::Ipv4Addr,
};

use crate::{
    lab::{Bridge, Lab, Link, LinkRole, Nic, Vxlan, VxlanMember},
    names::DeviceRef,
    path::Layer,
};

/// One thing that a frame meets.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Step<'l> {
    /// A device.
    Device(&'l DeviceRef),
    /// A layer.
    Layer(Layer),
    /// A tunnel's underlay, to be walked as a packet of its own.
    Tunnel {
        /// The device that the tunnel is over.
        over: DeviceRef,
        /// The near end.
        local: Ipv4Addr,
        /// The far end.
        remote: Ipv4Addr,
    },
}

/// What a device leads to.
#[derive(Clone, Copy)]
enum Kind<'l> {
    Link(&'l Link),
    Nic(&'l Nic),
    Bridge(&'l Bridge),
    Vxlan(&'l Vxlan, &'l VxlanMember),
}

/// Every device by what it leads to, and every port by its bridge.
pub(super) struct Segments<'l> {
    devices: BTreeMap<DeviceRef, (&'l DeviceRef, Kind<'l>)>,
    ports: BTreeMap<DeviceRef, &'l Bridge>,
}

impl<'l> Segments<'l> {
    pub(super) fn new(lab: &'l Lab) -> Self {
        let mut devices = BTreeMap::new();
        for link in &lab.links {
            devices.extend(link.ends.iter().map(|end| (end.at.clone(), (&end.at, Kind::Link(link)))));
        }
        for nic in &lab.nics {
            devices.extend([&nic.at, &nic.port].map(|at| (at.clone(), (at, Kind::Nic(nic)))));
        }
        devices
            .extend(lab.bridges.iter().map(|bridge| (bridge.at.clone(), (&bridge.at, Kind::Bridge(bridge)))));
        for vxlan in &lab.vxlans {
            let members = vxlan.members.iter();
            devices
                .extend(members.map(|member| (member.at.clone(), (&member.at, Kind::Vxlan(vxlan, member)))));
        }
        let ports = lab.bridges.iter().flat_map(|bridge| {
            bridge
                .ports
                .iter()
                .map(move |port| (DeviceRef { host: bridge.at.host.clone(), device: port.clone() }, bridge))
        });
        Self { devices, ports: ports.collect() }
    }

    /// The way of a frame sent out of `out` to the device that satisfies `wanted`.
    pub(super) fn way(&self, out: &DeviceRef, wanted: impl Fn(&DeviceRef) -> bool) -> Option<Vec<Step<'l>>> {
        let mut search = Search { segments: self, wanted: &wanted, seen: BTreeSet::new(), way: Vec::new() };
        search.send(out).then_some(search.way)
    }
}

struct Search<'s, 'l, W> {
    segments: &'s Segments<'l>,
    wanted: &'s W,
    seen: BTreeSet<&'l DeviceRef>,
    way: Vec<Step<'l>>,
}

impl<'l, W: Fn(&DeviceRef) -> bool> Search<'_, 'l, W> {
    /// Sends out of a device; true if the frame comes to the wanted one.
    fn send(&mut self, out: &DeviceRef) -> bool {
        let Some((at, kind)) = self.segments.devices.get(out).copied() else { return false };
        if !self.seen.insert(at) {
            return false;
        }
        let mark = self.way.len();
        self.way.push(Step::Device(at));
        let arrived = match kind {
            Kind::Link(link) => self.over_link(at, link),
            Kind::Nic(nic) => self.over_nic(at, nic),
            Kind::Bridge(bridge) => self.out_of_ports(bridge),
            Kind::Vxlan(vxlan, member) => self.through_tunnel(vxlan, member),
        };
        if !arrived {
            self.way.truncate(mark);
        }
        arrived
    }

    fn over_link(&mut self, at: &DeviceRef, link: &'l Link) -> bool {
        let layer = match link.role {
            LinkRole::Wire => Layer::Wire,
            LinkRole::Attachment => Layer::Veth,
        };
        let far = if link.ends[0].at == *at { &link.ends[1].at } else { &link.ends[0].at };
        let mark = self.way.len();
        self.way.push(Step::Layer(layer));
        self.receive_or_undo(far, mark)
    }

    fn over_nic(&mut self, at: &DeviceRef, nic: &'l Nic) -> bool {
        let far = if nic.at == *at { &nic.port } else { &nic.at };
        let mark = self.way.len();
        self.way.push(Step::Layer(Layer::Virtio));
        self.receive_or_undo(far, mark)
    }

    fn out_of_ports(&mut self, bridge: &'l Bridge) -> bool {
        let mark = self.way.len();
        self.way.push(Step::Layer(Layer::Bridge));
        let host = &bridge.at.host;
        let mut ports =
            bridge.ports.iter().map(|port| DeviceRef { host: host.clone(), device: port.clone() });
        let arrived = ports.any(|port| self.send(&port));
        if !arrived {
            self.way.truncate(mark);
        }
        arrived
    }

    fn through_tunnel(&mut self, vxlan: &'l Vxlan, near: &'l VxlanMember) -> bool {
        let over = DeviceRef { host: near.at.host.clone(), device: near.underlay.clone() };
        let others = vxlan.members.iter().filter(|member| member.at != near.at);
        others.into_iter().any(|far| {
            let mark = self.way.len();
            let (local, remote) = (near.local, far.local);
            self.way.push(Step::Layer(Layer::Vxlan));
            self.way.push(Step::Tunnel { over: over.clone(), local, remote });
            self.receive_or_undo(&far.at, mark)
        })
    }

    fn receive_or_undo(&mut self, at: &'l DeviceRef, mark: usize) -> bool {
        let arrived = self.receive(at);
        if !arrived {
            self.way.truncate(mark);
        }
        arrived
    }

    /// A frame comes in by a device: it is for this host, or a bridge passes it on.
    fn receive(&mut self, at: &'l DeviceRef) -> bool {
        if !self.seen.insert(at) {
            return false;
        }
        self.way.push(Step::Device(at));
        let Some(bridge) = self.segments.ports.get(at).copied() else { return (self.wanted)(at) };
        if !self.seen.insert(&bridge.at) {
            return false;
        }
        self.way.push(Step::Layer(Layer::Bridge));
        self.way.push(Step::Device(&bridge.at));
        (self.wanted)(&bridge.at) || self.out_of_ports(bridge)
    }
}
