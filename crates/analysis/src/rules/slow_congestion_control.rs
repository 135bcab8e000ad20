//! `slow-congestion-control`: BBR paces although the path is fast enough for bursts.

use findings::FactorEffect;
use samples::WorkloadSource;
use workload::Metric;

use super::{
    link_rate,
    prelude::*,
    significance::{self, Side},
};

pub(crate) const RULE: Rule = Rule::cause("slow-congestion-control", look);

pub(crate) fn paces(name: &str) -> bool {
    name.starts_with("bbr")
}

struct PacingResult<'a> {
    result: &'a ResultSummary,
    name: String,
    against: Option<(&'a FactorEffect, bool)>,
}

fn look(context: &Context<'_>) -> Vec<Claim> {
    let mut found: Vec<PacingResult<'_>> =
        context.results().filter_map(|(result, measured)| paced(result, measured, context)).collect();
    found.sort_by_key(|paced| std::cmp::Reverse(paced.against.map(|(_, sure)| sure)));
    found.first().map(|worst| finding(worst, &found)).into_iter().collect()
}

fn paced<'a>(
    result: &'a ResultSummary,
    measured: &Observations<'_>,
    context: &Context<'a>,
) -> Option<PacingResult<'a>> {
    if result.metric != Metric::Throughput {
        return None;
    }
    let name = sender(result, measured).filter(|name| paces(name))?;
    let compared: Vec<&FactorEffect> =
        context.findings.effects.iter().filter(|effect| other_name(effect, result)).collect();
    if compared.is_empty() {
        // If the link is the bottleneck, congestion control is not the cause.
        if link_rate::of(result, measured).is_some() {
            return None;
        }
        return Some(PacingResult { result, name, against: None });
    }
    let slower = |effect: &&'a FactorEffect| {
        let own_is_lower = if effect.result == result.id { Side::Lower } else { Side::Higher };
        let weighed = significance::weigh(&effect.change)?;
        (weighed.side == own_is_lower).then_some((*effect, weighed.sure))
    };
    let against = compared.iter().filter_map(slower).max_by_key(|(_, sure)| *sure)?;
    Some(PacingResult { result, name, against: Some(against) })
}

fn sender(result: &ResultSummary, measured: &Observations<'_>) -> Option<String> {
    let socket =
        result.sockets.iter().find(|end| end.end == "sender").and_then(|end| end.socket.congestion.clone());
    socket.or_else(|| match &measured.record.sent {
        WorkloadSource::Imported(imported) => imported.congestion.clone(),
        WorkloadSource::Load(_) => None,
    })
}

fn other_name(effect: &FactorEffect, result: &ResultSummary) -> bool {
    let (own, other) = match (effect.result == result.id, effect.reference_result == result.id) {
        (true, _) => (&effect.level, &effect.reference),
        (_, true) => (&effect.reference, &effect.level),
        _ => return false,
    };
    paces(own) && !paces(other)
}

fn finding(worst: &PacingResult<'_>, found: &[PacingResult<'_>]) -> Claim {
    let sure = worst.against.is_some_and(|(_, sure)| sure);
    let cost = match worst.against {
        Some((effect, _)) => phrase![
            format!(
                "with {}={} instead of {}, throughput is ",
                effect.factor, effect.level, effect.reference
            ),
            &effect.change,
        ],
        None => {
            "it paces, so on fast paths with short round trips it may be slower than cubic and use more CPU"
                .into()
        }
    };
    let evidence = found.iter().map(|paced| {
        let name =
            Evidence::new(format!("sender's congestion control, {}", paced.result.label)).text(&paced.name);
        match paced.against {
            Some((effect, _)) => name.text(format!("; {} ", effect.result)).ratio(&effect.change),
            None => name,
        }
    });
    let mut limitations = vec!["On long lossy paths bbr may be faster and the better choice.".to_owned()];
    if worst.against.is_none() {
        limitations
            .push("No two results differ only in congestion control, so its cost was not measured.".into());
    }
    Claim::new(
        Severity::warning_if(sure),
        phrase!["The senders of ", worst.result, format!(" used {}", worst.name)],
    )
    .detail(cost)
    .about(found, |paced| paced.result)
    .affected()
    .with_evidence(evidence)
    .with_limits(limitations)
    .with_remedy(remedy())
}

fn remedy() -> Remedy {
    Remedy {
        change: Some(Change::Congestion { name: "cubic".into() }),
        ..Remedy::manual(
            "Measure with cubic, and if it is faster, make it the default or set it for \
             one route",
            vec![
                "plumb client HOST -C cubic".into(),
                "sysctl -w net.ipv4.tcp_congestion_control=cubic".into(),
                "ip route change PREFIX via GATEWAY congctl cubic".into(),
            ],
        )
    }
}

#[cfg(test)]
pub(super) mod tests {
    use findings::Severity;

    use crate::rules::tests::{Case, made};

    pub(in crate::rules) const CASE: Case = Case {
        triggers: || made::paced(6.2e9),
        spares: || made::paced(10e9),
        severity: Severity::Warning,
        says: &["used bbr", "0.62", "congctl cubic"],
        change: Some("congestion"),
    };
}
