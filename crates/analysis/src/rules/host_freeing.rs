//! `host-freeing`: the fraction of time that QEMU spends freeing memory on the host. This limits the gain from faster
//! freeing.

use findings::BalloonSummary;
use samples::SyscallCount;
use units::Nanos;
use workload::Work;

use super::prelude::*;
use crate::words::number;

pub(crate) const RULE: Rule = Rule::symptom("host-freeing", look);

/// System calls with which QEMU frees guest memory (ram_block_discard_range in softmmu/physmem.c).
const FREEING: [&str; 2] = ["fallocate", "madvise"];
const LEAST: f64 = 0.1;

fn look(context: &Context<'_>) -> Vec<Claim> {
    let parts = context.findings.results.iter().filter_map(FreeingShare::of);
    let largest = parts.largest(|one| one.share);
    largest.map(|largest| largest.finding()).into_iter().collect()
}

struct FreeingShare<'a> {
    result: &'a ResultSummary,
    balloon: &'a BalloonSummary,
    time: Nanos,
    calls: u64,
    share: f64,
}

impl<'a> FreeingShare<'a> {
    fn of(result: &'a ResultSummary) -> Option<Self> {
        let balloon = BalloonSummary::of_shrink(result)?;
        let taken =
            result.probed.as_ref()?.calls.as_ref().filter(|calls| calls.work == Work::Memory)?.carried;
        let freeing = || result.syscalls.iter().filter(|count| FREEING.contains(&count.call.as_str()));
        let time: Nanos = freeing().filter_map(|count: &SyscallCount| count.running.or(count.total)).sum();
        let calls = freeing().map(|count| count.calls).sum();
        let (unit, _) = Work::Memory.for_calls();
        let share = time.seconds() / taken * (result.value.estimate / unit);
        (LEAST..1.0).contains(&share).then_some(Self { result, balloon, time, calls, share })
    }

    fn finding(&self) -> Claim {
        let Self { result, balloon, time, calls, share } = self;
        let rate = |rate: f64| value(result.metric, rate);
        let gain = (1.0 - share).recip();
        let each = Nanos(time.0 / calls.max(&1));
        Claim::new(
            Severity::Note,
            phrase![
                "Freeing on the host takes ",
                percent(*share),
                format!(
                    " of the time that {} needs to take memory from {}",
                    balloon.method.word(),
                    result.path
                ),
            ],
        )
        .further(phrase![
            "Without it, memory would move at ",
            rate(result.value.estimate * gain),
            " instead of ",
            rate(result.value.estimate),
            ", so faster freeing can gain at most ",
            number(gain, 3, Unit::Ratio, "x"),
            ".",
        ])
        .with_results([result.id.clone()])
        .with_evidence([
            Evidence::new("share of the time").share(*share),
            Evidence::new(format!("{} of QEMU", FREEING.join(" and ")))
                .count(*calls)
                .text(" calls, ")
                .time(each)
                .text(" each"),
        ])
        .with_limits(vec![
            "The times come from probed trials and include the probe's cost per call.".to_owned(),
        ])
    }
}

#[cfg(test)]
pub(super) mod tests {
    use findings::Severity;

    use crate::rules::tests::{Case, made};

    pub(in crate::rules) const CASE: Case = Case {
        triggers: || made::freeing(0.2),
        spares: || made::freeing(0.04),
        severity: Severity::Note,
        says: &[
            "40.0 % of the time that virtio-balloon needs",
            "3.33 GiB/s instead of 2.00 GiB/s, so faster freeing can gain at most 1.67x",
            "524288 calls, 381 ns",
        ],
        change: None,
    };
}
