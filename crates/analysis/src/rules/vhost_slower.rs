//! `vhost-slower`: a path is slower with vhost than without.

use findings::{Finding, Remedy, Severity};

use super::{
    Context, Rule,
    vhost_pairs::{self, MUCH, VhostPair, shown},
};
use crate::words::count;

pub(crate) const RULE: Rule = Rule { id: "vhost-slower", look };

fn look(context: &Context<'_>) -> Vec<Finding> {
    let pairs = vhost_pairs::all(context);
    let slower = pairs.iter().filter(|pair| pair.loses());
    let worst =
        slower.min_by(|one, other| other.is_sure().cmp(&one.is_sure()).then(one.gain.total_cmp(&other.gain)));
    worst.map(|worst| finding(worst, &pairs)).into_iter().collect()
}

fn finding(worst: &VhostPair<'_>, pairs: &[VhostPair<'_>]) -> Finding {
    let slower: Vec<&VhostPair<'_>> = pairs.iter().filter(|pair| pair.loses()).collect();
    let mut limitations = worst.limitations(pairs.len());
    limitations
        .push("Rates do not show the reason; check the CPU of the vhost thread and its other load.".into());
    Finding {
        id: String::new(),
        severity: severity(worst),
        claim: format!(
            "{} is slower with vhost: {} with it, {} without ({}), in {} of {}.",
            worst.on.id,
            shown(worst.on),
            shown(worst.off),
            worst.change(true),
            slower.len(),
            count(pairs.len(), "comparison"),
        ),
        results: slower.iter().flat_map(|pair| [pair.on.id.clone(), pair.off.id.clone()]).collect(),
        evidence: pairs.iter().map(VhostPair::evidence).collect(),
        limitations,
        remedy: Some(remedy()),
    }
}

fn severity(worst: &VhostPair<'_>) -> Severity {
    match worst.gain {
        _ if !worst.is_sure() => Severity::Note,
        keeps if keeps < MUCH => Severity::Serious,
        _ => Severity::Warning,
    }
}

fn remedy() -> Remedy {
    Remedy::manual(
        "Give each vhost thread a dedicated CPU on the NUMA node of its guest's memory, and measure again. Also \
         compare the offloads of both guests' devices."
            .into(),
        vec![
            "ps -eLo tid,comm,psr,pcpu | grep vhost-".into(),
            "taskset -cp CPU THREAD".into(),
            "ethtool -k DEVICE  # in each guest".into(),
        ],
    )
}
