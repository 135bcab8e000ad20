//! `retransmits`: many segments were retransmitted.

use findings::{Evidence, SingleStream, phrase};

use super::{Claim, Rule, SingleTrial};
use crate::{
    rules::retransmits::{FEWEST, Kind, WORTH_A_WARNING, severity, share_of},
    words::percent,
};

pub(super) const RULE: Rule = Rule::cause("retransmits", |trial| look(trial).into_iter().collect());

fn look(trial: &SingleTrial<'_>) -> Option<Claim> {
    let stream = SingleStream::of(trial.summary)?;
    let tcp = stream.tcp.filter(|tcp| tcp.retransmits >= FEWEST)?;
    let bytes = stream.sent.as_ref().unwrap_or(&stream.received).rate / 8.0 * stream.elapsed.seconds();
    let share = share_of(&tcp, &trial.summary.sockets, bytes).filter(|share| *share >= WORTH_A_WARNING)?;
    let kind = Kind::of(&tcp);
    let finding = Claim::new(
        severity(share, kind),
        phrase![percent(share), " of the segments were retransmitted; ", kind.in_words(&tcp)],
    )
    .with_evidence([Evidence::new("segments retransmitted").count(tcp.retransmits)])
    .with_limits(["The share assumes full-sized segments; with smaller ones it is lower."])
    .with_remedy(kind.remedy(vec!["ip -s link".into(), "tc -s qdisc".into()]));
    Some(finding)
}
