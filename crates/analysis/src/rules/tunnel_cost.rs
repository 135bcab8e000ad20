//! `tunnel-cost`: the cost of a tunnel at the best measured settings, and how to reduce it.

use findings::{Comparison, CostBreakdown, CostStep, Difference};
use workload::Metric;

use super::{prelude::*, significance};

pub(crate) const RULE: Rule = Rule::symptom("tunnel-cost", look);

struct Tunnel {
    layer: &'static str,
    name: &'static str,
    /// The NIC feature (`ethtool -k`) for packets inside the tunnel, and what it does to them.
    feature: Option<&'static str>,
}

const UDP: Option<&str> = Some("tx-udp_tnl-segmentation to segment");
const GRE: Option<&str> = Some("tx-gre-segmentation to segment");
const TUNNELS: [Tunnel; 6] = [
    Tunnel { layer: "vxlan", name: "VXLAN", feature: UDP },
    Tunnel { layer: "geneve", name: "GENEVE", feature: UDP },
    Tunnel { layer: "gre", name: "GRE", feature: GRE },
    Tunnel { layer: "gretap", name: "GRETAP", feature: GRE },
    Tunnel { layer: "wireguard", name: "WireGuard", feature: None },
    Tunnel { layer: "esp", name: "IPsec", feature: Some("esp-hw-offload to encrypt") },
];

pub(super) fn uses_ipsec(result: &ResultSummary) -> bool {
    result.layers.iter().any(|layer| layer == "esp")
}

struct Cost<'a> {
    tunnel: &'static Tunnel,
    breakdown: &'a CostBreakdown,
    step: &'a CostStep,
    cost: &'a Comparison,
    worse: f64,
}

/// Makes one finding per workload and kind of tunnel, about the setting with the lowest cost. Additional losses at other
/// settings are due to these settings.
fn look(context: &Context<'_>) -> Vec<Claim> {
    let costs: Vec<Cost<'_>> = context
        .findings
        .cost_breakdowns
        .iter()
        .flat_map(|breakdown| breakdown.steps.iter().filter_map(move |step| cost(breakdown, step)))
        .collect();
    let group = |cost: &Cost<'_>| (cost.breakdown.workload.clone(), cost.tunnel.layer);
    let mut groups: Vec<(String, &str)> = Vec::new();
    for cost in &costs {
        if !groups.contains(&group(cost)) {
            groups.push(group(cost));
        }
    }
    let of_group =
        |wanted: &(String, &str)| costs.iter().filter(|cost| group(cost) == *wanted).collect::<Vec<_>>();
    groups.iter().filter_map(|wanted| finding(&of_group(wanted), context)).collect()
}

fn cost<'a>(breakdown: &'a CostBreakdown, step: &'a CostStep) -> Option<Cost<'a>> {
    let cost = step.cost.as_ref()?;
    let tunnel = TUNNELS.iter().find(|it| step.adds.iter().any(|layer| layer == it.layer))?;
    let worse = match (breakdown.metric, cost.verdict) {
        (Metric::Throughput, Difference::Lower) => cost.ratio.recip(),
        (Metric::RoundTrip, Difference::Higher) => cost.ratio,
        _ => return None,
    };
    Some(Cost { tunnel, breakdown, step, cost, worse })
}

fn finding(own: &[&Cost<'_>], context: &Context<'_>) -> Option<Claim> {
    let least = own.iter().smallest(|one| one.worse)?;
    let Tunnel { layer, name, .. } = least.tunnel;
    let others: Vec<&str> = least.step.adds.iter().map(String::as_str).filter(|it| it != layer).collect();
    let together =
        if others.is_empty() { String::new() } else { format!(" (together with {})", list(&others)) };
    let (change, of) = match least.breakdown.metric {
        Metric::RoundTrip => (phrase!["adds ", least.cost], "to"),
        _ => (phrase!["costs ", least.cost.loss()], "of"),
    };
    let below = least.step.below.as_deref().unwrap_or("the path below");
    let settings = settings(least, own.len());
    Some(
        Claim::new(
            Severity::Note,
            phrase![
                format!("The {name} layer{together} "),
                change,
                format!(" {of} {}", least.breakdown.workload)
            ],
        )
        .detail(format!("{} vs {below}{settings}", least.step.path))
        .with_results(own.iter().map(|cost| cost.step.result.clone()))
        .with_evidence(own.iter().map(|cost| evidence(cost)))
        .with_limits(limitations(own))
        .with_remedy(remedy(least.tunnel, context)),
    )
}

/// The cheapest of several settings may be the cheapest by chance.
fn limitations(own: &[&Cost<'_>]) -> Vec<String> {
    let layer = "The cost of a layer is the difference between two paths and includes everything else that differs \
         (hosts, MTU, queues).";
    [layer.to_owned()].into_iter().chain(significance::of_many(own.len())).collect()
}

fn settings(cost: &Cost<'_>, settings: usize) -> String {
    let mut parts: Vec<String> =
        cost.breakdown.levels.iter().map(|(factor, level)| format!("{factor}={level}")).collect();
    if settings > 1 {
        parts.push(format!("the cheapest of {settings} settings"));
    }
    if parts.is_empty() { String::new() } else { format!(" ({})", parts.join(", ")) }
}

fn evidence(cost: &Cost<'_>) -> Evidence {
    let levels: Vec<String> =
        cost.breakdown.levels.iter().map(|(factor, level)| format!(", {factor}={level}")).collect();
    let below = cost.step.below.as_deref().unwrap_or("the path below");
    Evidence::new(format!("{} vs {below} ({}{})", cost.step.path, cost.breakdown.workload, levels.concat()))
        .ratio(cost.cost)
}

/// The underlay's devices are unknown here, but the environment section lists all settings.
fn remedy(Tunnel { name, feature, .. }: &Tunnel, context: &Context<'_>) -> Remedy {
    let nic = feature.map(|feature| format!("A NIC needs {feature} packets inside the tunnel. "));
    let nic = nic.unwrap_or_default();
    Remedy::manual(
        format!(
            "Check that segmentation, checksum and receive offloads are on for the {name} device and its underlay"
        ),
        context.commands().section("environment").into_iter().collect(),
    )
    .explained(format!(
        "{nic}If every switch supports it, raise the underlay's MTU, so that fewer packets cross the tunnel."
    ))
}

#[cfg(test)]
pub(super) mod tests {
    use findings::Severity;

    use crate::rules::tests::{Case, made};

    pub(in crate::rules) const CASE: Case = Case {
        triggers: || made::nested(8.5e9),
        spares: || made::nested(10e9),
        severity: Severity::Note,
        says: &["costs 15.0 %", "vs plain", "tx-udp_tnl-segmentation", "--section environment"],
        change: None,
    };
}
