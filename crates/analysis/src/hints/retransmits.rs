//! `retransmits`: a meaningful share of the segments was sent again.

use findings::{SingleMeasurement, SingleStream};

use super::{Advice, Hint};
use crate::{
    rules::retransmits::{FEWEST, Kind, WORTH_A_WARNING, severity, share_of},
    single_measurement::Single,
    words::percent,
};

pub(crate) const HINT: Hint = Hint { id: "retransmits", look };

fn look(_: &Single<'_>, solo: &SingleMeasurement) -> Option<Advice> {
    let stream = SingleStream::of(solo)?;
    let tcp = stream.tcp.filter(|tcp| tcp.retransmits >= FEWEST)?;
    let bytes = stream.sent.as_ref().unwrap_or(&stream.received).rate / 8.0 * stream.elapsed.seconds();
    let share = share_of(&tcp, &solo.sockets, bytes).filter(|share| *share >= WORTH_A_WARNING)?;
    let kind = Kind::of(&tcp);
    Some(Advice {
        severity: severity(share, kind),
        claim: format!("{} of the segments were sent again; {}.", percent(share), kind.in_words(&tcp)),
        evidence: vec![("segments sent again".into(), tcp.retransmits.to_string())],
        caveats: vec!["The share is of full-sized segments; smaller ones would make it less."],
        action: kind.remedy().into(),
        commands: vec!["ip -s link".into(), "tc -s qdisc".into()],
    })
}
