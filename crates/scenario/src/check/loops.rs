//! Loops: of hosts that are behind each other, and of bridges and wires in which a frame would circle for ever.

use std::collections::BTreeMap;

use crate::{
    diagnosis::Problem,
    document::{Document, Entry, GuestTable},
    names::DeviceRef,
    resolve::Draft,
};

/// Guests behind a bridge that is, in the end, inside themselves.
pub(super) fn hosts(document: &Document, problems: &mut Vec<Problem>) {
    for guest in document.attached() {
        if let Some(chain) = chain_back_to(document, guest) {
            let message =
                format!("`{}` is behind itself: {}", guest.name(), chain.join(", which is behind "));
            let help = "attach one of them to a bridge of another host";
            problems.push(Problem::new(guest.table.bridge.span(), message, "a cycle of hosts").help(help));
        }
    }
}

/// The hosts from the guest's own back to itself, if its bridge's host leads there.
fn chain_back_to(document: &Document, guest: &Entry<GuestTable>) -> Option<Vec<String>> {
    let mut chain = vec![format!("`{}`", guest.name())];
    let mut at = guest;
    for _ in document.attached() {
        let host = document.links.bridges.get(at.table.bridge.get_ref())?.table.host.get_ref();
        chain.push(format!("`{host}`"));
        if host == guest.name() {
            return Some(chain);
        }
        at = document.attached().find(|other| other.name() == host)?;
    }
    None
}

/// Bridges, wires and overlays that form a loop below routing.
pub(super) fn segments(draft: &Draft, problems: &mut Vec<Problem>) {
    let mut groups = Groups::default();
    for (port, bridge, place) in edges(draft) {
        if !groups.join(&port, &bridge) {
            let message = format!("`{port}` closes a loop of bridges: frames would circle in it for ever");
            let help = "take one wire, port or overlay out of the loop; bridges here run no spanning tree";
            problems.push(Problem::new(place, message, "closes the loop").help(help));
        }
    }
}

/// Pairs that a frame passes between without routing, and the place that is to blame for each: the devices of a link are
/// on one segment, and so is each with what stands on it.
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

/// Things that are connected, as sets that grow together.
#[derive(Default)]
struct Groups {
    leaders: BTreeMap<String, String>,
}

impl Groups {
    /// Joins two; false if they were connected before.
    fn join(&mut self, one: &str, other: &str) -> bool {
        let (one, other) = (self.leader(one), self.leader(other));
        let apart = one != other;
        if apart {
            self.leaders.insert(one, other);
        }
        apart
    }

    fn leader(&self, of: &str) -> String {
        let mut at = of;
        while let Some(next) = self.leaders.get(at) {
            at = next;
        }
        at.to_owned()
    }
}
