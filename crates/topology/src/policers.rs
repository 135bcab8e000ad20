//! The nftables rules that police devices: `limit rate over ... counter drop`.

use std::collections::BTreeMap;

use nlink::netlink::nftables::{ChainInfo, LimitExpr, LimitKind, RuleExpr, Verdict, parse_expressions};
use samples::PolicerCounters;
use scenario::HostName;
use units::Bytes;

use crate::namespaces::Namespaces;

/// `NF_NETDEV_EGRESS`.
const EGRESS: u32 = 1;

/// Returns the policer with the lowest rate for each device.
pub(crate) fn read(namespaces: &Namespaces, host: &HostName) -> BTreeMap<String, PolicerCounters> {
    let read = || {
        let connection = namespaces.nftables(host).ok()?;
        let chains = namespaces.wait(connection.list_chains()).ok()?;
        let mut found: BTreeMap<String, PolicerCounters> = BTreeMap::new();
        for ChainInfo { table, name, family, device, hook, .. } in chains {
            let Some(device) = device else { continue };
            let rules = namespaces.wait(connection.list_rules(&table, family)).ok()?;
            let of_chain = rules.iter().filter(|rule| rule.table == table && rule.chain == name);
            let policers = of_chain.filter_map(|rule| policer(&parse_expressions(&rule.expression_bytes)));
            let leaving = hook == Some(EGRESS);
            for policer in policers.map(|policer| PolicerCounters { leaving, ..policer }) {
                let known = found.entry(device.clone()).or_insert(policer);
                if policer.bits_per_second < known.bits_per_second {
                    *known = policer;
                }
            }
        }
        Some(found)
    };
    read().unwrap_or_default()
}

fn policer(expressions: &[RuleExpr]) -> Option<PolicerCounters> {
    let limit = expressions.iter().find_map(|expression| match expression {
        RuleExpr::Limit(limit) if limit.over && limit.kind == LimitKind::Bytes => {
            Some(bits_per_second(limit))
        }
        _ => None,
    })?;
    let drops = expressions.iter().any(|expression| matches!(expression, RuleExpr::Verdict(Verdict::Drop)));
    let counted = expressions.iter().find_map(|expression| match expression {
        RuleExpr::Counter { packets, bytes, .. } => Some((*packets, *bytes)),
        _ => None,
    });
    let (dropped, bytes) = counted.filter(|_| drops)?;
    Some(PolicerCounters { bits_per_second: limit, leaving: false, dropped, dropped_bytes: Bytes(bytes) })
}

fn bits_per_second(limit: &LimitExpr) -> u64 {
    limit.rate.saturating_mul(8) / limit.unit.to_u64().max(1)
}
