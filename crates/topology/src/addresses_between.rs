//! Chooses the addresses for traffic between two running namespaces.

use std::{collections::BTreeSet, net::IpAddr, sync::Arc};

use ipnet::IpNet;
use sys::netns::NetNs;
use thiserror::Error;

use crate::{namespaces, read_back, refusal::Refusal, view::View};

#[derive(Debug, Error)]
pub enum AddressError {
    #[error("{0} has no address besides loopback and link-local ones")]
    Unaddressed(&'static str),
    #[error(
        "there is no route between them: the first endpoint has {from}, the second has {to}; \
         connect them to a common network, or add routes"
    )]
    NoRoute { from: String, to: String },
    #[error("cannot read their addresses and routes: {refusal}; {}", refusal.remedy())]
    Refused { refusal: Refusal },
}

impl From<Refusal> for AddressError {
    fn from(refusal: Refusal) -> Self {
        Self::Refused { refusal }
    }
}

/// Returns one address of each namespace, with routes in both directions. A common network is preferred.
pub fn addresses_between(from: &NetNs, to: &NetNs) -> Result<[IpAddr; 2], AddressError> {
    let runtime = Arc::new(namespaces::runtime()?);
    let [from, to] = [View::open(&runtime, from)?, View::open(&runtime, to)?];
    let [near, far] = [addresses(&from)?, addresses(&to)?];
    if near.is_empty() {
        return Err(AddressError::Unaddressed("the first endpoint"));
    }
    if far.is_empty() {
        return Err(AddressError::Unaddressed("the second endpoint"));
    }
    for to_address in by_common_network(&near, &far) {
        let Some(hop) = from.next_hop(to_address)? else { continue };
        let Some(from_address) = hop.source.filter(|source| near.iter().any(|net| net.addr() == *source))
        else {
            continue;
        };
        if to.next_hop(from_address)?.is_some() {
            return Ok([from_address, to_address]);
        }
    }
    Err(AddressError::NoRoute { from: list(&near), to: list(&far) })
}

fn addresses(view: &View) -> Result<Vec<IpNet>, Refusal> {
    let all: BTreeSet<(u32, IpNet)> = view.addresses()?;
    let mut nets: Vec<IpNet> =
        all.into_iter().map(|(_, net)| net).filter(|net| read_back::is_global(net.addr())).collect();
    nets.sort_by_key(|net| net.addr().is_ipv6());
    Ok(nets)
}

fn by_common_network(near: &[IpNet], far: &[IpNet]) -> Vec<IpAddr> {
    let is_common = |net: &&IpNet| {
        near.iter().any(|own| own.contains(&net.addr()) && net.prefix_len() < net.max_prefix_len())
    };
    let (common, others): (Vec<&IpNet>, Vec<&IpNet>) = far.iter().partition(is_common);
    common.into_iter().chain(others).map(IpNet::addr).collect()
}

fn list(nets: &[IpNet]) -> String {
    nets.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prefers_address_in_common_network() {
        let nets = |texts: &[&str]| texts.iter().map(|text| text.parse().unwrap()).collect::<Vec<IpNet>>();
        let near = nets(&["198.18.1.2/24"]);
        let far = nets(&["198.19.0.1/16", "198.18.1.1/24"]);
        let order: Vec<String> = by_common_network(&near, &far).iter().map(IpAddr::to_string).collect();
        assert_eq!(order, ["198.18.1.1", "198.19.0.1"]);
    }
}
