//! `stalled`: the stream carried data at its start and then only retransmitted, e.g. because of an MTU black hole.

use findings::{Evidence, Remedy, Severity, phrase};
use units::Bytes;
use workload::Measurement;

use super::{Claim, Rule, SingleTrial};
use crate::{rules::stalled::stall, words::count};

pub(super) const RULE: Rule = Rule::cause("stalled", |trial| look(trial).into_iter().collect()).over(&[
    "retransmits",
    "slow-congestion-control",
    "small-buffers",
]);

fn look(trial: &SingleTrial<'_>) -> Option<Claim> {
    let Measurement::Stream(data) = trial.single.measurement else { return None };
    let stall = stall(&data.flows)?;
    let sent: Bytes = data.flows.iter().map(|flow| flow.sender.bytes()).sum();
    let retransmits = count(stall.retransmits, "retransmit");
    let claim = Claim::new(Severity::Serious, format!("The stream stopped after {sent}"))
        .detail(phrase!["no data in the remaining ", stall.still, ", only ", retransmits])
        .further(
            "The path probably loses full-size packets, because its MTU is smaller than the sender assumes.",
        )
        .with_evidence([
            Evidence::new("data accepted from the sender").text(format!("{sent} within {}", stall.carried))
        ])
        .with_limits(["A receiver that stops reading looks the same as a path that fails."])
        .with_remedy(Remedy::manual(
            "Find the largest packet that passes: `plumb ping` reports it if larger messages are lost",
            vec!["plumb ping SERVER -m 1472".to_owned(), "tracepath -n SERVER".to_owned()],
        ));
    Some(claim)
}
