//! Source NAT in nftables: adds gateway rules with counters, and reads the ports of any rule.

use std::net::IpAddr;

use nlink::netlink::{
    Connection, Nftables,
    nftables::{
        BaseChain, Chain, ChainType, Family, NatHook, NatType, Priority, Rule, RuleExpr, parse_expressions,
    },
};
use scenario::{Gateway, HostName};

use crate::{namespaces::Namespaces, refusal::Refusal};

const TABLE: &str = "plumb";
const CHAIN: &str = "egress";

pub(crate) fn translate(namespaces: &Namespaces, gateways: &[&Gateway]) -> Result<(), Refusal> {
    for (family, of_family) in by_family(gateways) {
        let connection = namespaces.nftables(&of_family[0].egress)?;
        let base = BaseChain::nat(NatHook::Postrouting, Priority::SrcNat);
        let chain = Chain::new(TABLE, CHAIN)?.family(family).base(base);
        let table = connection.transaction().add_table(TABLE, family).add_chain(chain);
        let rules = of_family.iter().fold(table, |table, gateway| table.add_rule(rule(gateway)));
        namespaces.wait(rules.commit(&connection))?;
    }
    Ok(())
}

/// Groups the gateways by family, because the kernel refuses to create a family's table twice.
fn by_family<'g>(gateways: &[&'g Gateway]) -> Vec<(Family, Vec<&'g Gateway>)> {
    let of_family = |wanted| gateways.iter().copied().filter(|gateway| family(gateway) == wanted).collect();
    let all = [Family::Ip, Family::Ip6].map(|family| (family, of_family(family)));
    all.into_iter().filter(|(_, gateways): &(_, Vec<_>)| !gateways.is_empty()).collect()
}

pub(crate) fn packets(namespaces: &Namespaces, gateway: &Gateway) -> Option<u64> {
    let connection: Connection<Nftables> = namespaces.nftables(&gateway.egress).ok()?;
    let rules = namespaces.wait(connection.list_rules(TABLE, family(gateway))).ok()?;
    let own = rules.iter().find(|rule| rule.comment_text.as_deref() == Some(&gateway.name))?;
    counter(&parse_expressions(&own.expression_bytes))
}

pub(crate) fn port_range(namespaces: &Namespaces, host: &HostName) -> Option<[u16; 2]> {
    let connection: Connection<Nftables> = namespaces.nftables(host).ok()?;
    let chains = namespaces.wait(connection.list_chains()).ok()?;
    let mut ranges = Vec::new();
    for chain in chains.into_iter().filter(|chain| chain.chain_type == Some(ChainType::Nat)) {
        let rules = namespaces.wait(connection.list_rules(&chain.table, chain.family)).ok()?;
        let of_chain = rules.iter().filter(|rule| rule.table == chain.table && rule.chain == chain.name);
        ranges.extend(of_chain.filter_map(|rule| ports(&parse_expressions(&rule.expression_bytes))));
    }
    ranges.into_iter().min_by_key(|[first, last]| last.saturating_sub(*first))
}

fn ports(expressions: &[RuleExpr]) -> Option<[u16; 2]> {
    let registers = expressions.iter().find_map(|expression| match expression {
        RuleExpr::Masq { proto, .. } | RuleExpr::Nat { nat_type: NatType::Snat, proto, .. } => *proto,
        _ => None,
    });
    let (first, last) = registers?;
    let port = |register| {
        expressions.iter().rev().find_map(|expression| match expression {
            RuleExpr::Immediate { dreg, data, .. } if *dreg == register => {
                Some(u16::from_be_bytes(data.get(..2)?.try_into().ok()?))
            }
            _ => None,
        })
    };
    Some([port(first)?, port(last)?])
}

fn rule(gateway: &Gateway) -> Rule {
    let Gateway { sources, destinations, .. } = gateway;
    let rule = Rule::new(TABLE, CHAIN)
        .family(family(gateway))
        .match_saddr(sources.network(), sources.prefix_len())
        .match_daddr(destinations.network(), destinations.prefix_len())
        .match_oif(gateway.egress_device.as_str())
        .counter();
    let rule = match gateway.egress_address {
        IpAddr::V4(address) => rule.snat(address, None),
        IpAddr::V6(address) => rule.snat_v6(address, None),
    };
    rule.comment(&gateway.name)
}

fn family(gateway: &Gateway) -> Family {
    if gateway.egress_address.is_ipv4() { Family::Ip } else { Family::Ip6 }
}

fn counter(expressions: &[RuleExpr]) -> Option<u64> {
    expressions.iter().find_map(|expression| match expression {
        RuleExpr::Counter { packets, .. } => Some(*packets),
        _ => None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scratch;

    #[test]
    fn each_family_has_one_table() {
        let ipv4 = scratch::gateway();
        let ipv6 = Gateway { egress_address: "2001:2::1".parse().unwrap(), ..scratch::gateway() };
        let tables = by_family(&[&ipv4, &ipv6, &ipv4]);
        let sizes: Vec<_> = tables.iter().map(|(family, gateways)| (*family, gateways.len())).collect();
        assert_eq!(sizes, [(Family::Ip, 2), (Family::Ip6, 1)]);
        assert!(by_family(&[&ipv6]).iter().all(|(family, _)| *family == Family::Ip6));
    }
}
