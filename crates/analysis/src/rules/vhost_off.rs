//! `vhost-off`: a virtual machine's packets pass through its process in user space, which costs time.

use super::{
    prelude::*,
    vhost_pairs::{self, MUCH, VhostPair, shown},
};

pub(crate) const RULE: Rule = Rule::cause("vhost-off", look);

fn look(context: &Context<'_>) -> Vec<Claim> {
    let pairs = vhost_pairs::all(context);
    let costly = pairs.iter().filter(|pair| pair.gains());
    let worst =
        costly.max_by(|one, other| one.is_sure().cmp(&other.is_sure()).then(one.gain.total_cmp(&other.gain)));
    worst.map(|worst| finding(worst, &pairs)).into_iter().collect()
}

fn finding(worst: &VhostPair<'_>, pairs: &[VhostPair<'_>]) -> Claim {
    let costly: Vec<&VhostPair<'_>> = pairs.iter().filter(|pair| pair.gains()).collect();
    let against = pairs.iter().filter(|pair| pair.loses()).smallest(|one| one.gain);
    let against = against.map(|pair| {
        let (on, off) = (shown(pair.on), shown(pair.off));
        phrase!["Except in ", pair.on, ": ", on, " with vhost, ", off, " without."]
    });
    Claim::new(severity(worst), phrase!["vhost is off in ", worst.off, ", which costs performance"])
        .detail(phrase![
            shown(worst.off),
            " instead of ",
            shown(worst.on),
            " with vhost (",
            worst.change(false),
            format!("), in {} of ", costly.len()),
            count(pairs.len(), "comparison"),
        ])
        .further(against.unwrap_or_default())
        .about(&costly, |pair| pair.off)
        .with_evidence(pairs.iter().map(VhostPair::evidence))
        .with_limits(worst.limitations(pairs.len()))
        .with_remedy(remedy())
}

fn severity(worst: &VhostPair<'_>) -> Severity {
    Severity::graded(worst.is_sure(), worst.gain.recip() < MUCH)
}

fn remedy() -> Remedy {
    Remedy::manual(
        "Let the kernel move the packets: enable vhost for the tap of each virtual \
             machine",
        Vec::new(),
    )
    .explained("The CPU time then appears in the vhost-PID threads instead of the VMM.")
}

#[cfg(test)]
pub(super) mod tests {
    use findings::Severity;

    use crate::rules::tests::{Case, imported};

    pub(in crate::rules) const CASE: Case = Case {
        triggers: || imported::vhost(|_, path| path == "host-to-vm"),
        // Between the two guests, vhost is slower: 6.35 Gbit/s with vhost, 16.0 without it.
        spares: || imported::vhost(|_, path| path == "vm1-to-vm0"),
        severity: Severity::Warning,
        says: &["16.2 Gbit/s instead of 27.4 Gbit/s", "1 of 1 comparison", "vhost=on", "single trials"],
        change: None,
    };
}
