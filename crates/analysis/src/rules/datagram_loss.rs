//! `datagram-loss`: many datagrams of a UDP stream did not arrive.

use findings::{DatagramSummary, StreamSummary};

use super::prelude::*;
use crate::commands::Commands;

pub(crate) const RULE: Rule = Rule::cause("datagram-loss", look);

/// A loss of 1 % is audible in a call and halves the rate of a loss-based congestion control.
const WORTH_A_WARNING: f64 = 0.01;
/// Above 10 %, the sent rate says little about the path.
const SERIOUS: f64 = 0.1;
/// Fewer losses may be due to chance.
const FEWEST: u64 = 10;

struct Lossy<'a> {
    result: &'a ResultSummary,
    stream: &'a StreamSummary,
    datagrams: DatagramSummary,
}

fn look(context: &Context<'_>) -> Vec<Claim> {
    let results = context.findings.results.iter().filter(|result| is_lossy(result));
    let found: Vec<Lossy<'_>> = results
        .filter_map(|result| {
            let stream = StreamSummary::of(result)?;
            Some(Lossy { result, stream, datagrams: stream.datagrams? })
        })
        .collect();
    strongest(found, |it| it.datagrams.loss, |worst, all| finding(worst, all, &context.commands()))
}

pub(super) fn is_lossy(result: &ResultSummary) -> bool {
    let summary = StreamSummary::of(result).and_then(|stream| stream.datagrams);
    summary.is_some_and(|it| it.lost >= FEWEST && it.loss >= WORTH_A_WARNING)
}

fn finding(worst: &Lossy<'_>, found: &[Lossy<'_>], commands: &Commands<'_>) -> Claim {
    let others = match found.len() {
        1 => Phrase::default(),
        results => phrase![count(results, "result"), " lose datagrams."],
    };
    Claim::new(
        Severity::serious_if(worst.datagrams.loss >= SERIOUS),
        phrase![worst.result, " lost ", percent(worst.datagrams.loss), " of its datagrams"],
    )
    .detail(rates(worst))
    .further(others)
    .about(found, |lossy| lossy.result)
    .with_evidence(found.iter().map(evidence))
    .with_limits(["A test without a rate limit, or above the path's capacity, is expected to lose \
             datagrams; the received rate is then the path's capacity under that load."])
    .with_remedy(
        Remedy::manual(
            "Send at a rate that the path can carry and raise it until losses occur",
            commands.at_sender(
                &worst.result.path,
                &["nstat -az UdpRcvbufErrors UdpInErrors", "ip -s -s link", "tc -s qdisc"],
            ),
        )
        .explained(format!("Check for full queues and small receive buffers on {}.", worst.result.path)),
    )
}

/// `99.8 Mbit/s sent, 29.0 Mbit/s received`.
fn rates(lossy: &Lossy<'_>) -> Phrase {
    let rate = |estimate: findings::Estimate| value(lossy.result.metric, estimate.estimate);
    let sent = lossy.stream.sent.map(|sent| phrase![rate(sent), " sent"]);
    let received = lossy.stream.received.map(|received| phrase![rate(received), " received"]);
    let gap = if sent.is_some() && received.is_some() { ", " } else { "" };
    phrase![sent.unwrap_or_default(), gap, received.unwrap_or_default()]
}

fn evidence(lossy: &Lossy<'_>) -> Evidence {
    let DatagramSummary { received, lost, loss, .. } = lossy.datagrams;
    Evidence::new(format!("datagrams lost, {}", lossy.result.label))
        .count(lost)
        .text(" of ")
        .count(received.saturating_add(lost))
        .text(", ")
        .share(loss)
        .text(format!("; {}", rates(lossy)))
}

#[cfg(test)]
pub(super) mod tests {
    use findings::Severity;

    use crate::rules::tests::{Case, made};

    pub(in crate::rules) const CASE: Case = Case {
        triggers: || made::losing(250),
        spares: || made::losing(9),
        severity: Severity::Serious,
        says: &["lost 20.0 % of its datagrams", "250 of 1250", "nstat -az UdpRcvbufErrors"],
        change: None,
    };
}
