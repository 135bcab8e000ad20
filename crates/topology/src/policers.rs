//! The nftables rules that police devices: `limit rate over ... drop`.

use std::collections::BTreeMap;

use nlink::netlink::nftables::{
    ChainInfo, CmpOp, Family, LimitExpr, LimitKind, LimitUnit,
    MetaKey::{self, Iif, IifName, Oif, OifName},
    RuleExpr, Verdict, parse_expressions,
};
use samples::PolicerCounters;
use scenario::HostName;
use units::Bytes;

use crate::{
    namespaces::Namespaces,
    read_back::{self, LinkFacts},
};

/// `NF_NETDEV_EGRESS`.
const EGRESS: u32 = 1;
/// `NF_INET_LOCAL_OUT` and `NF_INET_POST_ROUTING`, which bridges use too.
const LEAVING: [u32; 2] = [3, 4];

/// Returns one policer per device, preferring those with a counter, then the lowest rate. Rules that name no device
/// are attributed to `first`, the host's first device on the path.
pub(crate) fn read(
    namespaces: &Namespaces,
    host: &HostName,
    links: &BTreeMap<u32, LinkFacts>,
    first: &str,
) -> BTreeMap<String, PolicerCounters> {
    let read = || {
        let connection = namespaces.nftables(host).ok()?;
        let chains = namespaces.wait(connection.list_chains()).ok()?;
        let mut found: BTreeMap<String, PolicerCounters> = BTreeMap::new();
        for ChainInfo { table, name, family, device, devices, hook, .. } in chains {
            let Some(hook) = hook.filter(|_| family != Family::Arp) else { continue };
            let rules = namespaces.wait(connection.list_rules(&table, family)).ok()?;
            let of_chain = rules.iter().filter(|rule| rule.table == table && rule.chain == name);
            // Kernels before 5.5 report a single device only.
            let mut bound = if devices.is_empty() { device.into_iter().collect() } else { devices };
            if bound.is_empty() && family != Family::Netdev {
                bound.push(first.to_owned());
            }
            let leaves = if family == Family::Netdev { hook == EGRESS } else { LEAVING.contains(&hook) };
            for rule in of_chain {
                let expressions = parse_expressions(&rule.expression_bytes);
                let Some((named, policer)) = policer(&expressions, links) else { continue };
                let (devices, leaving) = named
                    .map_or_else(|| (bound.clone(), leaves), |(device, leaving)| (vec![device], leaving));
                for device in devices {
                    let policer = PolicerCounters { leaving, ..policer };
                    let known = found.entry(device).or_insert(policer);
                    let order = |policer: &PolicerCounters| (policer.uncounted, policer.bits_per_second);
                    if order(&policer) < order(known) {
                        *known = policer;
                    }
                }
            }
        }
        Some(found)
    };
    read().unwrap_or_default()
}

/// A device, and whether the rule matches packets that leave through it.
type Matched = (String, bool);

/// Returns `None` if the rule is not a policer, or if its devices are unknown. A rule without a counter must apply to
/// all of the device's packets, and its bucket must hold no more than about a second of traffic.
fn policer(
    expressions: &[RuleExpr],
    links: &BTreeMap<u32, LinkFacts>,
) -> Option<(Option<Matched>, PolicerCounters)> {
    let (mut named, mut limit, mut counted, mut drops, mut selects) = (None, None, None, false, false);
    let mut expressions = expressions.iter();
    while let Some(expression) = expressions.next() {
        match expression {
            RuleExpr::Meta { key: key @ (IifName | OifName | Iif | Oif), .. } => {
                let device = device(*key, expressions.next()?, links)?;
                named.get_or_insert(device);
            }
            RuleExpr::Limit(found) if found.over && found.kind == LimitKind::Bytes => limit = Some(found),
            // A counter before the limit also counts the packets that pass.
            RuleExpr::Counter { packets, bytes, .. } => counted = limit.map(|_| (*packets, *bytes)),
            RuleExpr::Verdict(Verdict::Drop) => drops = true,
            _ => selects = true,
        }
    }
    let limit = limit.filter(|_| drops)?;
    if counted.is_none() && (selects || !holds_a_second(limit)) {
        return None;
    }
    let (dropped, bytes) = counted.unwrap_or_default();
    let policer = PolicerCounters {
        bits_per_second: bits_per_second(limit),
        leaving: false,
        uncounted: counted.is_none(),
        dropped,
        dropped_bytes: Bytes(bytes),
    };
    Some((named, policer))
}

/// Returns `None` if the rule matches e.g. a set of devices, all devices except one, or a name prefix.
fn device(key: MetaKey, comparison: &RuleExpr, links: &BTreeMap<u32, LinkFacts>) -> Option<Matched> {
    let RuleExpr::Cmp { op: CmpOp::Eq, data, .. } = comparison else { return None };
    let name = if matches!(key, Iif | Oif) {
        links.get(&read_back::u32_at(data)?)?.name.clone()
    } else {
        // A prefix has no terminating zero.
        data.contains(&0).then(|| read_back::text(data))?
    };
    Some((name, matches!(key, Oif | OifName)))
}

/// Returns whether the token bucket holds about a second of traffic. The bucket holds the traffic of one time
/// unit plus the burst (`nft_limit_init` in net/netfilter/nft_limit.c).
fn holds_a_second(limit: &LimitExpr) -> bool {
    limit.unit == LimitUnit::Second && u64::from(limit.burst) <= limit.rate / 10
}

fn bits_per_second(limit: &LimitExpr) -> u64 {
    limit.rate.saturating_mul(8) / limit.unit.to_u64().max(1)
}
