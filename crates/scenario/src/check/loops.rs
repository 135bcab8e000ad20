//! Finds guests nested in themselves, and layer-2 loops of bridges, wires and overlays.

use std::collections::BTreeMap;

use crate::{
    diagnosis::Problem,
    document::{Document, Entry, GuestTable},
    names::DeviceRef,
    resolve::Draft,
};

pub(super) fn hosts(document: &Document, problems: &mut Vec<Problem>) {
    for guest in document.attached() {
        if let Some(chain) = chain_back_to(document, guest) {
            let message = format!(
                "`{}` is attached to itself: {}",
                guest.name(),
                chain.join(", which is attached to ")
            );
            let help = "attach one of them to a bridge on another host";
            problems.push(Problem::new(guest.table.bridge.span(), message, "cycle of hosts").help(help));
        }
    }
}

fn chain_back_to(document: &Document, guest: &Entry<GuestTable>) -> Option<Vec<String>> {
    let mut chain = vec![format!("`{}`", guest.name())];
    let mut at = guest;
    for _ in document.attached() {
        let host = document.links.bridges.get(&at.table.bridge)?.table.host.get_ref();
        chain.push(format!("`{host}`"));
        if host == guest.name() {
            return Some(chain);
        }
        at = document.attached().find(|other| other.name() == host)?;
    }
    None
}

pub(super) fn segments(draft: &Draft, problems: &mut Vec<Problem>) {
    let mut groups = Groups::default();
    for (port, bridge, place) in edges(draft) {
        if !groups.join(&port, &bridge) {
            let message = format!("`{port}` closes a layer-2 loop: frames would circulate forever");
            let help =
                "remove one wire, port or overlay from the loop; lab bridges do not run a spanning tree";
            problems.push(Problem::new(place, message, "closes the loop").help(help));
        }
    }
}

fn edges(draft: &Draft) -> Vec<(String, String, std::ops::Range<usize>)> {
    let place = |at: &DeviceRef| draft.places.segments.get(at).cloned().unwrap_or(0..0);
    let mut edges = Vec::new();
    for (number, link) in draft.lab.links.iter().enumerate() {
        let hub = format!("link {number}");
        let devices = link.devices();
        edges.extend(devices.iter().map(|device| (device.at.to_string(), hub.clone(), place(device.at))));
        let above = link.kind().above();
        edges.extend(above.iter().map(|(under, own)| (under.to_string(), own.to_string(), place(under))));
    }
    edges.sort_by_key(|(.., place)| place.start);
    edges
}

#[derive(Default)]
struct Groups {
    leaders: BTreeMap<String, String>,
}

impl Groups {
    fn join(&mut self, one: &str, other: &str) -> bool {
        let (one, other) = (self.leader(one), self.leader(other));
        let differ = one != other;
        if differ {
            self.leaders.insert(one, other);
        }
        differ
    }

    fn leader(&self, name: &str) -> String {
        let mut at = name;
        while let Some(next) = self.leaders.get(at) {
            at = next;
        }
        at.to_owned()
    }
}
