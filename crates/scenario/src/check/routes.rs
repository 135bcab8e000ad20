//! Checks that static routes have valid, distinct destinations and reachable next hops.

use std::{collections::BTreeSet, net::IpAddr, ops::Range};

use crate::{diagnosis::Problem, document::Document, family::Family, resolve::Draft};

pub(super) fn check(document: &Document, draft: &Draft, problems: &mut Vec<Problem>) {
    let mut taken = BTreeSet::new();
    for route in &document.routes {
        let (host, to) = (&route.host, route.to.0);
        problems.extend(super::gateways::host_bits(&route.to));
        if Family::of(to.addr()) == Family::of(route.via.0) {
            problems.extend(next_hop(draft, host, route.via.0, route.via.span()));
        } else {
            let message = format!("the next hop {} is not in the address family of {to}", route.via.0);
            problems.push(Problem::new(route.via.span(), message, "other family"));
        }
        if !taken.insert((host.as_str(), to)) {
            let message = format!("duplicate route on `{host}` to {to}");
            problems.push(Problem::new(route.to.span(), message, "repeated here"));
        }
    }
    for guest in document.attached() {
        if let Some(gateway) = &guest.table.gateway {
            problems.extend(next_hop(draft, guest.name(), gateway.0, gateway.span()));
            if taken.contains(&(guest.name(), Family::of(gateway.0).default_route())) {
                let message = format!("`{}` has a gateway and a default route", guest.name());
                problems.push(Problem::new(gateway.span(), message, "conflicts"));
            }
        }
    }
}

fn next_hop(draft: &Draft, host: &str, via: IpAddr, place: Range<usize>) -> Option<Problem> {
    let mut mine = draft.lab.addresses().filter(|(at, _)| at.host.as_str() == host);
    if !mine.any(|(_, network)| network.contains(&via)) {
        let message = format!("`{host}` cannot reach the next hop {via} directly");
        let help = "a next hop must be an address in one of the host's networks";
        return Some(Problem::new(place, message, "not connected").help(help));
    }
    let owner = draft.lab.addresses().find(|(_, address)| address.addr() == via).map(|(at, _)| at);
    match owner {
        None => {
            let message = format!("no device has the address {via}");
            Some(
                Problem::new(place, message, "unknown address")
                    .help("use the address of a device in the lab"),
            )
        }
        Some(at) if at.host.as_str() == host => {
            let message = format!("{via} is an address of `{host}` itself (`{at}`)");
            Some(Problem::new(place, message, "itself").help("use the address of the next host"))
        }
        Some(_) => None,
    }
}
