//! Source NAT on a gateway's egress host, using nftables with a counter per rule.

use nlink::netlink::{
    Connection, Nftables,
    nftables::{BaseChain, Chain, Family, NatHook, Priority, Rule, RuleExpr, parse_expressions},
};
use scenario::Gateway;

use crate::{namespaces::Namespaces, refusal::Refusal};

const TABLE: &str = "plumb";
const CHAIN: &str = "egress";

pub(crate) fn translate(namespaces: &Namespaces, gateways: &[&Gateway]) -> Result<(), Refusal> {
    let Some(first) = gateways.first() else { return Ok(()) };
    let connection = namespaces.nftables(&first.egress)?;
    let chain = Chain::new(TABLE, CHAIN)?
        .family(Family::Ip)
        .base(BaseChain::nat(NatHook::Postrouting, Priority::SrcNat));
    let table = connection.transaction().add_table(TABLE, Family::Ip).add_chain(chain);
    let rules = gateways.iter().fold(table, |table, gateway| table.add_rule(rule(gateway)));
    Ok(namespaces.wait(rules.commit(&connection))?)
}

pub(crate) fn packets(namespaces: &Namespaces, gateway: &Gateway) -> Option<u64> {
    let connection: Connection<Nftables> = namespaces.nftables(&gateway.egress).ok()?;
    let rules = namespaces.wait(connection.list_rules(TABLE, Family::Ip)).ok()?;
    let own = rules.iter().find(|rule| rule.comment_text.as_deref() == Some(&gateway.name))?;
    counter(&parse_expressions(&own.expression_bytes))
}

fn rule(gateway: &Gateway) -> Rule {
    let Gateway { sources, destinations, .. } = gateway;
    Rule::new(TABLE, CHAIN)
        .family(Family::Ip)
        .match_saddr_v4(sources.network(), sources.prefix_len())
        .match_daddr_v4(destinations.network(), destinations.prefix_len())
        .match_oif(gateway.egress_device.as_str())
        .counter()
        .snat(gateway.egress_address, None)
        .comment(&gateway.name)
}

fn counter(expressions: &[RuleExpr]) -> Option<u64> {
    expressions.iter().find_map(|expression| match expression {
        RuleExpr::Counter { packets, .. } => Some(*packets),
        _ => None,
    })
}
