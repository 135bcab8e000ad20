//! Overlays: identifiers in range and unique where they could be mixed up, and tunnels whose ends reach each other.

use std::collections::BTreeMap;

use ipnet::Ipv4Net;

use crate::{
    diagnosis::Problem,
    document::{Document, Entry, VxlanTable},
    lab::{Vxlan, VxlanMember},
    names::{DeviceRef, HostName},
    reach::World,
    resolve::Draft,
};

pub(super) fn check(document: &Document, draft: &Draft, problems: &mut Vec<Problem>) {
    let before = problems.len();
    for (entry, vxlan) in document.vxlans.iter().zip(&draft.lab.vxlans) {
        identifiers(entry, problems);
        without_local(entry, vxlan, problems);
        networks(entry, problems);
    }
    duplicates(document, problems);
    if problems.len() == before {
        let world = World::new(&draft.lab);
        for (entry, vxlan) in document.vxlans.iter().zip(&draft.lab.vxlans) {
            underlay(&world, entry, vxlan, problems);
        }
    }
}

fn identifiers(entry: &Entry<VxlanTable>, problems: &mut Vec<Problem>) {
    let (vni, table) = (*entry.table.vni.get_ref(), &entry.table);
    if !(1..1 << 24).contains(&vni) {
        let message = format!("{vni} is not a VXLAN network identifier");
        problems.push(
            Problem::new(table.vni.span(), message, "out of range").help("take one from 1 to 16777215"),
        );
    }
    if let Some(port) = table.port.as_ref().filter(|port| *port.get_ref() == 0) {
        problems.push(Problem::new(port.span(), "a UDP port is not 0", "out of range").help("4789 is usual"));
    }
    if table.members.0.len() < 2 {
        let message = format!("the overlay `{}` has fewer than two members", entry.name());
        let help = format!("add `[vxlans.{}.members.HOST]` for each host that it connects", entry.name());
        problems.push(Problem::new(entry.name.span(), message, "nobody to talk to").help(help));
    }
}

fn without_local(entry: &Entry<VxlanTable>, vxlan: &Vxlan, problems: &mut Vec<Problem>) {
    for member in vxlan.members.iter().filter(|member| member.local.is_unspecified()) {
        let Some(written) = entry.table.members.get(member.at.host.as_str()) else { continue };
        let message =
            format!("`{}:{}` has no address for the tunnel to end at", member.at.host, member.underlay);
        let help = "an overlay stands on a wire's end or a bridge that has an address";
        problems.push(Problem::new(written.table.over.span(), message, "no address").help(help));
    }
}

fn networks(entry: &Entry<VxlanTable>, problems: &mut Vec<Problem>) {
    let mut first: Option<Ipv4Net> = None;
    for address in entry.table.members.iter().filter_map(|member| member.table.address.as_ref()) {
        let network = address.get_ref().0.trunc();
        if *first.get_or_insert(network) != network {
            let message = format!("the members of `{}` are in different networks", entry.name());
            let help = "an overlay is one network: give all members addresses of one prefix";
            problems.push(Problem::new(address.span(), message, "another network").help(help));
        }
    }
}

/// Two overlays with one identifier on one port of a host could not be told apart (and the kernel refuses them).
fn duplicates(document: &Document, problems: &mut Vec<Problem>) {
    let mut taken: BTreeMap<(&str, u16, u32), &str> = BTreeMap::new();
    for entry in document.vxlans.iter() {
        let (vni, port) =
            (*entry.table.vni.get_ref(), entry.table.port.as_ref().map_or(4789, |p| *p.get_ref()));
        let hosts = entry.table.members.names();
        let clash = hosts.filter_map(|host| taken.insert((host, port, vni), entry.name())).next();
        if let Some(other) = clash {
            let message = format!("VNI {vni} on port {port} is taken by `{other}` in a host that both have");
            problems
                .push(Problem::new(entry.table.vni.span(), message, "the same VNI").help("take another VNI"));
        }
    }
}

/// Every member must reach every other over the underlay.
fn underlay(world: &World<'_>, entry: &Entry<VxlanTable>, vxlan: &Vxlan, problems: &mut Vec<Problem>) {
    for near in &vxlan.members {
        let others = vxlan.members.iter().filter(|far| far.at != near.at);
        let stop = others.filter_map(|far| Some((&far.at.host, unreachable(world, near, far)?))).next();
        let written = entry.table.members.get(near.at.host.as_str());
        if let (Some((far, why)), Some(written)) = (stop, written) {
            let message = format!("the tunnel `{}` of `{}` cannot reach `{far}`", vxlan.name, near.at.host);
            problems.push(Problem::new(written.table.over.span(), message, "this underlay").help(why));
        }
    }
}

fn unreachable(world: &World<'_>, near: &VxlanMember, far: &VxlanMember) -> Option<String> {
    let host: &HostName = &near.at.host;
    let over = DeviceRef { host: host.clone(), device: near.underlay.clone() };
    let stop = world.under((&over, near.local), far.local).err()?;
    Some(format!("following a packet to {}, {stop}", far.local))
}
