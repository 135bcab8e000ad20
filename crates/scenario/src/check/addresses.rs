//! Checks that addresses are valid, unique and in the benchmark range.

use std::{collections::BTreeMap, net::IpAddr, ops::Range};

use ipnet::IpNet;

use crate::{diagnosis::Problem, document::Document, family::Family, names::DeviceName, resolve::Draft};

pub(super) fn check(document: &Document, draft: &Draft, problems: &mut Vec<Problem>) {
    for (_, address, place) in &draft.places.addresses {
        problems.extend(unusable(*address, place));
    }
    for gateway in document.gateways.iter() {
        let address = &gateway.table.address;
        problems.extend(outside(address.0, &address.span()));
    }
    clashes(document, draft, problems);
    overlaps(draft, problems);
}

fn outside(address: IpAddr, place: &Range<usize>) -> Option<Problem> {
    if matches!(address, IpAddr::V6(address) if address.is_unicast_link_local()) {
        let message = format!("{address} is a link-local address and ambiguous without a device");
        let problem = Problem::new(place.clone(), message, "link-local");
        return Some(problem.help("use an address in 2001:2::/48"));
    }
    let range = Family::of(address).benchmark();
    let message = format!("{address} is outside {range}, the range reserved for benchmarks");
    let help = match address {
        IpAddr::V4(_) => "use an address between 198.18.0.1 and 198.19.255.254",
        IpAddr::V6(_) => {
            "use an address that starts with 2001:2:0:, or 2001:2::198.18.0.1 to 2001:2::198.19.255.254"
        }
    };
    let problem = Problem::new(place.clone(), message, "outside").help(help);
    (!range.contains(&address)).then_some(problem)
}

fn unusable(address: IpNet, place: &Range<usize>) -> Option<Problem> {
    if let Some(problem) = outside(address.addr(), place) {
        return Some(problem);
    }
    let range = Family::of(address.addr()).benchmark();
    let has_ends = address.prefix_len() <= address.max_prefix_len() - 2;
    let is_last = address.addr().is_ipv4() && address.addr() == address.broadcast();
    let ends = has_ends && (address.addr() == address.network() || is_last);
    let message = match (address.prefix_len() < range.prefix_len(), ends) {
        (true, _) => format!("the network {} is larger than {range}", address.trunc()),
        (_, true) if address.addr().is_ipv6() => {
            format!("{} is the anycast address of the network's routers", address.addr())
        }
        (_, true) => format!("{} is a network or broadcast address", address.addr()),
        _ => return None,
    };
    Some(Problem::new(place.clone(), message, "not a host address"))
}

fn clashes(document: &Document, draft: &Draft, problems: &mut Vec<Problem>) {
    let assigned = draft.places.addresses.iter();
    let assigned = assigned.map(|(at, address, place)| (address.addr(), at.to_string(), place.clone()));
    let egress = document.gateways.iter().map(|gateway| {
        let address = &gateway.table.address;
        (address.0, format!("the gateway `{}`", gateway.name()), address.span())
    });
    let mut first: BTreeMap<IpAddr, String> = BTreeMap::new();
    for (address, owner, place) in assigned.chain(egress) {
        if let Some(before) = first.get(&address) {
            let message = format!("{address} is already used by {before}");
            problems.push(
                Problem::new(place, message, "duplicate address").help("give each device its own address"),
            );
        } else {
            first.insert(address, owner);
        }
    }
}

fn overlaps(draft: &Draft, problems: &mut Vec<Problem>) {
    let mut hosts: BTreeMap<_, Vec<(&DeviceName, IpNet)>> = BTreeMap::new();
    for (at, address, place) in &draft.places.addresses {
        let others = hosts.entry(&at.host).or_default();
        let network = address.trunc();
        let overlapping = others.iter().find(|(device, other)| {
            **device != at.device && (network.contains(other) || other.contains(&network))
        });
        if let Some((device, other)) = overlapping {
            let message =
                format!("the networks of `{at}` ({network}) and `{}:{device}` ({other}) overlap", at.host);
            let help = "the host cannot choose between the two devices; use a different prefix";
            problems.push(Problem::new(place.clone(), message, "overlapping network").help(help));
        }
        others.push((&at.device, network));
    }
}
