//! Hosts that exist already: what may be said of one, what can be made on it, and what can be planned there.

use std::net::Ipv4Addr;

use toml::Spanned;
use workload::Placement;

use crate::{
    diagnosis::Problem,
    document::{Document, Entry, HostTable},
    resolve::Draft,
    scenario::Scenario,
};

/// `IFNAMSIZ` in linux/if.h, less the closing zero.
const DEVICE_NAME: usize = 15;

pub(super) fn check(document: &Document, draft: &Draft, problems: &mut Vec<Problem>) {
    for entry in document.hosts.iter() {
        access(entry, problems);
        traffic(entry, problems);
    }
    made(document, draft, problems);
    gateways(document, problems);
}

/// Of what would be made on one: what cannot be, and what could not be told from its own device.
fn made(document: &Document, draft: &Draft, problems: &mut Vec<Problem>) {
    for table in document.links.all() {
        for device in table.devices(document) {
            let host = &device.at.host;
            let Some(existing) = draft.lab.existing(host) else {
                // Of a guest there, only its own device can be made.
                if let Some(seat) = draft.lab.seat(host).filter(|_| !table.follows_bridge()) {
                    let message = format!(
                        "`{host}` is on `{seat}`, which exists already, and `{}` cannot be made there",
                        device.at
                    );
                    let help = "put wires, bridges and overlays into hosts; a guest or pod there has its `eth0` alone";
                    problems.push(Problem::new(device.place, message, "a device of it").help(help));
                }
                continue;
            };
            if !table.fits_existing() {
                let message = format!("`{host}` exists already, and `{}` cannot be made on it", device.at);
                let help = "what can be made there: overlays (`[vxlans]`) over its own network, bridges, and guests and pods \
                            without `vm`";
                problems.push(Problem::new(device.place, message, "a device of it").help(help));
            } else if existing.end(host).device == device.at {
                let message = format!("`{}` is what the own device of `{host}` is called", device.at);
                problems.push(Problem::new(device.place, message, "taken").help("take another name"));
            }
        }
    }
}

fn gateways(document: &Document, problems: &mut Vec<Problem>) {
    for entry in document.gateways.iter() {
        for host in [&entry.table.node, &entry.table.egress] {
            if document.existing(host.get_ref()).is_some() {
                let message =
                    format!("`{}` exists already, and no egress gateway can be on it", host.get_ref());
                let help =
                    "put the gateway and its overlay between hosts without `ssh`, `member` and `local`";
                problems.push(Problem::new(host.span(), message, "not here").help(help));
            }
        }
    }
}

fn access(entry: &Entry<HostTable>, problems: &mut Vec<Problem>) {
    let table = &entry.table;
    if let Some(destination) = &table.ssh {
        let text = destination.get_ref();
        if text.is_empty() || text.starts_with('-') || text.contains(char::is_whitespace) {
            let message = format!("`{text}` is no destination of ssh");
            let help = "write `user@host`, a name of ssh_config, or `ssh://user@host:22`";
            problems.push(Problem::new(destination.span(), message, "not a destination").help(help));
        }
    }
    if let Some(name) = &table.member {
        let text = name.get_ref();
        let sign = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
        if !text.split('.').all(|part| !part.is_empty() && part.chars().all(sign)) {
            let message = format!("`{text}` is no name of a member");
            let help =
                "write it as `plumb fleet list` shows it: letters, digits, `-`, `_`, and dots between them";
            problems.push(Problem::new(name.span(), message, "not a name").help(help));
        }
    }
    match table.ways()[..] {
        [] => without_effect(entry, problems),
        // Both have a way that leads to them, and traffic takes the same when nothing is said.
        [("ssh" | "member", _)] => {}
        [(_, ref place)] if table.address.is_none() && table.interface.is_none() => {
            let message = format!("`{}` does not say where its traffic goes", entry.name());
            let help = "add `address = \"...\"` or `interface = \"...\"`";
            problems.push(Problem::new(place.clone(), message, "no address and no interface").help(help));
        }
        [_] => {}
        [(one, _), (other, ref place), ..] => {
            let message = format!("`{}` has both `{one}` and `{other}`", entry.name());
            problems.push(Problem::new(place.clone(), message, "one too many").help("keep one of the two"));
        }
    }
}

/// What is said of a host that is made.
fn without_effect(entry: &Entry<HostTable>, problems: &mut Vec<Problem>) {
    let table = &entry.table;
    let places = [
        table.address.as_ref().map(|key| ("address", key.span())),
        table.interface.as_ref().map(|key| ("interface", key.span())),
        table.port.as_ref().map(|key| ("port", key.span())),
        table.uplink.as_ref().map(|key| ("uplink", key.span())),
    ];
    for (key, place) in places.into_iter().flatten() {
        let message = format!("`{key}` has no effect: `{}` is made, with addresses of its own", entry.name());
        let help = "say how the host is reached, as in `ssh = \"user@host\"`";
        problems.push(Problem::new(place, message, "no effect").help(help));
    }
}

fn traffic(entry: &Entry<HostTable>, problems: &mut Vec<Problem>) {
    let table = &entry.table;
    if let Some(address) = &table.address {
        let given = address.get_ref().0;
        if given.is_unspecified() || given.is_multicast() || given == Ipv4Addr::BROADCAST {
            let message = format!("{given} is no address of one host");
            problems.push(Problem::new(address.span(), message, "not an address for a host"));
        }
    }
    if let Some(name) = &table.interface {
        let text = name.get_ref();
        if text.is_empty()
            || text.len() > DEVICE_NAME
            || text.contains(|c: char| c == '/' || c.is_whitespace())
        {
            let message = format!("`{text}` cannot be the name of a device");
            let help = "write it as `ip link` shows it, without the part from `@` on";
            problems.push(Problem::new(name.span(), message, "this name").help(help));
        }
    }
    if let Some(port) = table.port.as_ref().filter(|port| *port.get_ref() == 0) {
        problems.push(Problem::new(port.span(), "`port` is 0, not 1 to 65535", "out of range"));
    }
}

/// Threads are placed on CPUs of one kernel.
pub(crate) fn fit(document: &Document, scenario: &Scenario) -> Vec<Problem> {
    let exists = |path: &&crate::path::Path| scenario.lab.seat(&path.from.host).is_some();
    let placed = scenario.workloads.iter().filter(|workload| workload.placement != Placement::Free);
    let problem = |workload: &crate::workload::Workload| {
        let path = scenario.paths.iter().filter(exists).find(|path| workload.paths.contains(&path.name))?;
        let entry = document.workloads.get(workload.name.as_str())?;
        let message = format!(
            "`{}` places its threads, and the ends of the path `{}` are machines with CPUs of their own",
            workload.name, path.name
        );
        let help = "take `placement` out, or confine the workload with `paths`";
        let place = entry.table.placement.as_ref().map_or_else(|| entry.name.span(), Spanned::span);
        Some(Problem::new(place, message, "placed").help(help))
    };
    placed.filter_map(problem).collect()
}
