//! `page-balloon`: memory is reclaimed from a virtual machine page by page, and another method is faster.

use findings::{BalloonSummary, Comparison};
use workload::BalloonMethod;

use super::{prelude::*, significance};

pub(crate) const RULE: Rule = Rule::cause("page-balloon", look);

/// Minimum speed-up that justifies switching devices.
const MUCH: f64 = 2.0;

fn look(context: &Context<'_>) -> Vec<Claim> {
    let slow = context.results().filter(|(result, _)| method(result) == Some(BalloonMethod::VirtioBalloon));
    let pairs = slow.flat_map(|(result, measured)| {
        let others = context.results().filter(|(other, _)| {
            other.workload == result.workload
                && method(other).is_some_and(|it| it != BalloonMethod::VirtioBalloon)
        });
        others.filter_map(move |(other, faster)| {
            let change = context.compare(measured, faster)?;
            (change.ratio.recip() >= MUCH).then_some(Pair { result, other, change })
        })
    });
    let worst = pairs.smallest(|one| one.change.ratio);
    worst.map(|worst| finding(&worst)).into_iter().collect()
}

struct Pair<'a> {
    result: &'a ResultSummary,
    other: &'a ResultSummary,
    change: Comparison,
}

fn method(result: &ResultSummary) -> Option<BalloonMethod> {
    BalloonSummary::of_shrink(result).map(|balloon| balloon.method)
}

fn finding(Pair { result, other, change }: &Pair<'_>) -> Claim {
    let weighed = significance::weigh(change);
    let is_sure = weighed.is_some_and(|weighed| weighed.sure);
    let word = method(other).map_or("another method", BalloonMethod::word);
    let rate = |result: &ResultSummary| value(result.metric, result.value.estimate);
    let calls = [*result, *other].into_iter().filter_map(|result| {
        let calls = result.probed.as_ref()?.calls.as_ref()?.all;
        Some(Evidence::new(format!("system calls per GiB: {}", result.label)).count(calls.round() as u64))
    });
    let against = Evidence::new(format!("{} vs {}", result.label, other.label)).ratio(change);
    Claim::new(
        Severity::warning_if(is_sure),
        phrase!["virtio-balloon returns memory at ", rate(result), format!(", {word} at "), rate(other)],
    )
    .further("It passes single pages of 4 KiB, and QEMU frees each one with a system call.")
    .with_results([result.id.clone(), other.id.clone()])
    .with_evidence([against].into_iter().chain(calls))
    .with_limits(weighed.and_then(|weighed| weighed.limitation))
    .with_remedy(Remedy::manual(
        "Start the machine with a virtio-mem device for the memory to be moved, or \
             let its agent use huge pages",
        vec![
            "-m BASE,maxmem=ALL".into(),
            "-object memory-backend-memfd,id=pluggable,size=REST".into(),
            "-device virtio-mem-pci,id=balloon,memdev=pluggable,requested-size=REST".into(),
            "memhp_default_state=online_movable  # on the guest's kernel command line".into(),
        ],
    ))
}

#[cfg(test)]
pub(super) mod tests {
    use findings::Severity;

    use crate::rules::tests::{Case, made};

    pub(in crate::rules) const CASE: Case = Case {
        triggers: || made::balloons(5.0),
        spares: || made::balloons(1.5),
        severity: Severity::Warning,
        says: &["409 MiB/s, virtio-mem at 1.99 GiB/s", "0.20", "-device virtio-mem-pci"],
        change: None,
    };
}
