//! `vhost-slower`: a path is slower with vhost than without it.

use super::{
    prelude::*,
    vhost_pairs::{self, MUCH, VhostPair, shown},
};

pub(crate) const RULE: Rule = Rule::symptom("vhost-slower", look);

fn look(context: &Context<'_>) -> Vec<Claim> {
    let pairs = vhost_pairs::all(context);
    let slower = pairs.iter().filter(|pair| pair.loses());
    let worst =
        slower.min_by(|one, other| other.is_sure().cmp(&one.is_sure()).then(one.gain.total_cmp(&other.gain)));
    worst.map(|worst| finding(worst, &pairs)).into_iter().collect()
}

fn finding(worst: &VhostPair<'_>, pairs: &[VhostPair<'_>]) -> Claim {
    let slower: Vec<&VhostPair<'_>> = pairs.iter().filter(|pair| pair.loses()).collect();
    let mut limitations = worst.limitations(pairs.len());
    limitations
        .push("Rates do not show the reason; check the CPU of the vhost thread and its other load.".into());
    Claim::new(severity(worst), phrase![worst.on, " is slower with vhost"])
        .detail(phrase![
            shown(worst.on),
            " with it, ",
            shown(worst.off),
            " without (",
            worst.change(true),
            format!("), in {} of ", slower.len()),
            count(pairs.len(), "comparison"),
        ])
        .with_results(slower.iter().flat_map(|pair| [pair.on.id.clone(), pair.off.id.clone()]))
        .with_evidence(pairs.iter().map(VhostPair::evidence))
        .with_limits(limitations)
        .with_remedy(remedy())
}

fn severity(worst: &VhostPair<'_>) -> Severity {
    Severity::graded(worst.is_sure(), worst.gain < MUCH)
}

fn remedy() -> Remedy {
    Remedy::manual(
        "Give each vhost thread a dedicated CPU on the NUMA node of its guest's \
             memory, and measure again",
        vec![
            "ps -eLo tid,comm,psr,pcpu | grep vhost-".into(),
            "taskset -cp CPU THREAD".into(),
            "ethtool -k DEVICE  # in each guest".into(),
        ],
    )
    .explained("Also compare the offloads of both guests' devices.")
}

#[cfg(test)]
pub(super) mod tests {
    use findings::Severity;

    use crate::rules::tests::{Case, imported};

    pub(in crate::rules) const CASE: Case = Case {
        triggers: || imported::vhost(|_, path| path == "vm1-to-vm0"),
        spares: || imported::vhost(|_, path| path == "host-to-vm"),
        severity: Severity::Serious,
        says: &["6.35 Gbit/s with it, 16.0 Gbit/s without", "1 of 1 comparison", "single trials"],
        change: None,
    };
}
