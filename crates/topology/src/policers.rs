//! The nftables rules that police devices: `limit rate over ... drop`.

use std::collections::BTreeMap;

use nlink::netlink::nftables::{
    ChainInfo, CmpOp, LimitExpr, LimitKind, MetaKey, RuleExpr, Verdict, parse_expressions,
};
use samples::PolicerCounters;
use scenario::HostName;
use units::Bytes;

use crate::namespaces::Namespaces;

/// `NF_NETDEV_EGRESS`.
const EGRESS: u32 = 1;
/// `NF_INET_LOCAL_OUT` and `NF_INET_POST_ROUTING`, which bridges use too.
const LEAVING: [u32; 2] = [3, 4];

/// Returns one policer for each device: one with a counter if there is any, and of those the one with the lowest rate.
/// Rules that name no device are those of `first`, the host's first device on the path.
pub(crate) fn read(
    namespaces: &Namespaces,
    host: &HostName,
    first: &str,
) -> BTreeMap<String, PolicerCounters> {
    let read = || {
        let connection = namespaces.nftables(host).ok()?;
        let chains = namespaces.wait(connection.list_chains()).ok()?;
        let mut found: BTreeMap<String, PolicerCounters> = BTreeMap::new();
        for ChainInfo { table, name, family, device, hook, .. } in chains {
            let rules = namespaces.wait(connection.list_rules(&table, family)).ok()?;
            let of_chain = rules.iter().filter(|rule| rule.table == table && rule.chain == name);
            let leaves = hook.is_some_and(|hook| match device {
                Some(_) => hook == EGRESS,
                None => LEAVING.contains(&hook),
            });
            for rule in of_chain {
                let expressions = parse_expressions(&rule.expression_bytes);
                let Some(policer) = policer(&expressions) else { continue };
                let (named, leaving) = match named_device(&expressions) {
                    Some((name, leaving)) => (name, leaving),
                    None => (device.clone().unwrap_or_else(|| first.to_owned()), leaves),
                };
                let policer = PolicerCounters { leaving, ..policer };
                let known = found.entry(named).or_insert(policer);
                let order = |policer: &PolicerCounters| (policer.uncounted, policer.bits_per_second);
                if order(&policer) < order(known) {
                    *known = policer;
                }
            }
        }
        Some(found)
    };
    read().unwrap_or_default()
}

fn policer(expressions: &[RuleExpr]) -> Option<PolicerCounters> {
    let mut expressions = expressions.iter();
    let limit = expressions.find_map(|expression| match expression {
        RuleExpr::Limit(limit) if limit.over && limit.kind == LimitKind::Bytes => {
            Some(bits_per_second(limit))
        }
        _ => None,
    })?;
    let drops = expressions.clone().any(|expression| matches!(expression, RuleExpr::Verdict(Verdict::Drop)));
    // A counter before the limit also counts the packets that pass.
    let counted = expressions.find_map(|expression| match expression {
        RuleExpr::Counter { packets, bytes, .. } => Some((*packets, *bytes)),
        _ => None,
    });
    let (dropped, bytes) = counted.unwrap_or_default();
    drops.then_some(PolicerCounters {
        bits_per_second: limit,
        leaving: false,
        uncounted: counted.is_none(),
        dropped,
        dropped_bytes: Bytes(bytes),
    })
}

/// Returns the device of `iifname DEVICE` or `oifname DEVICE`, and whether the packets leave it.
fn named_device(expressions: &[RuleExpr]) -> Option<(String, bool)> {
    expressions.windows(2).find_map(|pair| {
        let [RuleExpr::Meta { key, .. }, RuleExpr::Cmp { op: CmpOp::Eq, data, .. }] = pair else {
            return None;
        };
        let name = data.split(|byte| *byte == 0).next().unwrap_or_default();
        let name = String::from_utf8_lossy(name).into_owned();
        match key {
            MetaKey::IifName => Some((name, false)),
            MetaKey::OifName => Some((name, true)),
            _ => None,
        }
    })
}

fn bits_per_second(limit: &LimitExpr) -> u64 {
    limit.rate.saturating_mul(8) / limit.unit.to_u64().max(1)
}
