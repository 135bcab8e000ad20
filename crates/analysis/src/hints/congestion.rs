//! `slow-congestion-control`: bbr paces what a fast path could carry at once.

use findings::{Severity, SingleMeasurement};

use super::{Advice, Hint, tcp};
use crate::{rules::slow_congestion_control::paces, single_measurement::Single};

pub(crate) const HINT: Hint = Hint { id: "slow-congestion-control", look };

fn look(_: &Single<'_>, solo: &SingleMeasurement) -> Option<Advice> {
    tcp(solo)?;
    let uses = |congestion: &Option<String>| congestion.as_deref().is_some_and(paces);
    let end = solo.sockets.iter().find(|end| end.end == "sender" && uses(&end.socket.congestion))?;
    let chosen = uses(&solo.load.kind().socket()?.congestion);
    let whose = if chosen { "as was asked for" } else { "the machine's default" };
    Some(Advice {
        severity: Severity::Warning,
        claim: format!(
            "The sender used {}, {whose}: it paces, and on fast paths with short round trips carries less at more CPU \
             than cubic.",
            end.socket.congestion.as_deref().unwrap_or("bbr")
        ),
        evidence: Vec::new(),
        caveats: vec!["On long paths that lose packets bbr may carry more; measure both."],
        action: "Measure with cubic beside it: `plumb client HOST -C cubic`. To make it the default:".into(),
        commands: vec!["sysctl -w net.ipv4.tcp_congestion_control=cubic".into()],
    })
}
