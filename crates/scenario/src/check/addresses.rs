//! Checks that addresses are valid, unique and in the benchmark range.

use std::{collections::BTreeMap, net::Ipv4Addr, ops::Range};

use ipnet::Ipv4Net;

use crate::{diagnosis::Problem, document::Document, names::DeviceName, resolve::Draft};

/// The range reserved for benchmarks of network devices (RFC 2544, appendix C.2.2).
const BENCHMARK: Ipv4Net = Ipv4Net::new_assert(Ipv4Addr::new(198, 18, 0, 0), 15);

pub(super) fn check(document: &Document, draft: &Draft, problems: &mut Vec<Problem>) {
    for (_, address, place) in &draft.places.addresses {
        problems.extend(unusable(*address, place));
    }
    for gateway in document.gateways.iter() {
        let address = &gateway.table.address;
        problems.extend(outside(address.get_ref().0, &address.span()));
    }
    clashes(document, draft, problems);
    overlaps(draft, problems);
}

fn outside(address: Ipv4Addr, place: &Range<usize>) -> Option<Problem> {
    let message = format!("{address} is outside {BENCHMARK}, the range reserved for benchmarks");
    let help = "use an address between 198.18.0.1 and 198.19.255.254";
    let problem = Problem::new(place.clone(), message, "outside").help(help);
    (!BENCHMARK.contains(&address)).then_some(problem)
}

fn unusable(address: Ipv4Net, place: &Range<usize>) -> Option<Problem> {
    if let Some(problem) = outside(address.addr(), place) {
        return Some(problem);
    }
    let ends = address.prefix_len() <= 30
        && (address.addr() == address.network() || address.addr() == address.broadcast());
    let message = match (address.prefix_len() < BENCHMARK.prefix_len(), ends) {
        (true, _) => format!("the network {} is larger than {BENCHMARK}", address.trunc()),
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
        (address.get_ref().0, format!("the gateway `{}`", gateway.name()), address.span())
    });
    let mut first: BTreeMap<Ipv4Addr, String> = BTreeMap::new();
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
    let mut hosts: BTreeMap<_, Vec<(&DeviceName, Ipv4Net)>> = BTreeMap::new();
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
