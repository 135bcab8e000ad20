//! `retransmits`: a stream retransmitted many of its segments.

use findings::{EndSocket, StreamSummary, TcpSummary};

use super::{prelude::*, slow_congestion_control::paces};
use crate::{commands::Commands, kind::stream::flows, words::capital};

pub(crate) const RULE: Rule = Rule::cause("retransmits", look);

/// One segment in a thousand is enough to slow down a loss-based congestion control.
pub(crate) const WORTH_A_WARNING: f64 = 0.001;
/// At one in a hundred, the path constantly loses or reorders packets.
const SERIOUS: f64 = 0.01;
/// Fewer retransmits may be due to chance.
pub(crate) const FEWEST: u64 = 10;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// No sender detected reordering, so the segments were lost.
    Loss,
    Unknown,
    /// Senders detected reordering, so some or all segments were late rather than lost.
    Reordering,
}

impl Kind {
    pub(crate) fn of(tcp: &TcpSummary) -> Self {
        match tcp.reorderings {
            Some(0) => Self::Loss,
            Some(_) => Self::Reordering,
            None => Self::Unknown,
        }
    }

    pub(crate) fn in_words(self, tcp: &TcpSummary) -> String {
        match self {
            Self::Loss => "no sender detected reordering, so they were lost on the path".into(),
            Self::Unknown => "it is unknown whether they were lost or only late".into(),
            Self::Reordering => format!(
                "senders detected reordering {}, so some or all were late, not lost",
                match tcp.reorderings {
                    Some(1) | None => "once".into(),
                    Some(times) => format!("{times} times"),
                }
            ),
        }
    }

    pub(crate) fn remedy(self, commands: Vec<String>) -> Remedy {
        match self {
            Self::Loss | Self::Unknown => Remedy::manual(
                "Check for drops on the path: full queues (a rate limit, a small txqueuelen or backlog) and \
                 mismatched MTUs",
                commands,
            ),
            Self::Reordering => Remedy::manual(
                "First check what can reorder packets: several queues or CPUs for one connection, a bond, data and \
                 acknowledgements processed on two CPUs",
                commands,
            )
            .explained("With both ends on one CPU there is no reordering."),
        }
    }
}

pub(crate) fn share_of(tcp: &TcpSummary, sockets: &[EndSocket], bytes: f64) -> Option<f64> {
    let sender = sockets.iter().find(|end| end.end == "sender")?;
    let mss = f64::from(sender.socket.mss.filter(|mss| *mss > 0)?);
    (bytes > 0.0).then(|| tcp.retransmits as f64 * mss / bytes)
}

/// Many retransmits are serious only if segments were lost.
pub(crate) fn severity(share: f64, kind: Kind) -> Severity {
    Severity::serious_if(share >= SERIOUS && kind == Kind::Loss)
}

struct Lossy<'a> {
    share: f64,
    result: &'a ResultSummary,
    tcp: TcpSummary,
}

fn look(context: &Context<'_>) -> Vec<Claim> {
    let lossy = context.results().filter_map(|(result, measured)| lossy(result, measured)).collect();
    strongest(lossy, |it: &Lossy<'_>| it.share, |worst, all| finding(worst, all, &context.commands()))
}

fn lossy<'a>(result: &'a ResultSummary, measured: &Observations<'_>) -> Option<Lossy<'a>> {
    let tcp = StreamSummary::of(result)?.tcp.filter(|tcp| tcp.retransmits >= FEWEST)?;
    let sent: f64 = measured.trials().flat_map(flows).map(|flow| flow.sender.bytes().0 as f64).sum();
    let share = share_of(&tcp, &result.sockets, sent)?;
    (share >= WORTH_A_WARNING).then_some(Lossy { share, result, tcp })
}

pub(super) fn is_lossy(result: &ResultSummary, context: &Context<'_>) -> bool {
    context.measured_of(&result.id).is_some_and(|measured| lossy(result, measured).is_some())
}

fn finding(worst: &Lossy<'_>, lossy: &[Lossy<'_>], commands: &Commands<'_>) -> Claim {
    let kind = Kind::of(&worst.tcp);
    let most = match lossy.len() {
        1 => Phrase::default(),
        results => phrase![", the most of ", count(results, "result")],
    };
    Claim::new(
        severity(worst.share, kind),
        phrase![worst.result, " retransmitted ", percent(worst.share), " of its segments", most],
    )
    .further(format!("{}.", capital(&kind.in_words(&worst.tcp))))
    .about(lossy, |lossy| lossy.result)
    .with_evidence(lossy.iter().map(evidence))
    .with_limits([
        "The share assumes full-sized segments; with smaller ones it is lower.",
        "Within one kernel, data is reordered if both the sender's CPU and the CPU \
             processing acknowledgements transmit. Place both ends on one CPU to distinguish \
             reordering from loss.",
    ])
    .with_remedy(remedy(worst, kind, commands))
}

fn remedy(worst: &Lossy<'_>, kind: Kind, commands: &Commands<'_>) -> Remedy {
    let softnet = "cat /proc/net/softnet_stat  # second column: dropped at net.core.netdev_max_backlog";
    let look = commands.at_sender(&worst.result.path, &["ip -s link", "tc -s qdisc", softnet]);
    Remedy { change: change(worst, kind), ..kind.remedy(look) }
}

fn change(worst: &Lossy<'_>, kind: Kind) -> Option<Change> {
    if kind == Kind::Reordering {
        return Some(Change::Placement { place: "same-cpu".into() });
    }
    let sender = worst.result.sockets.iter().find(|end| end.end == "sender")?;
    let own = sender.socket.congestion.as_deref()?;
    let name = if paces(own) { "cubic" } else { "bbr" };
    Some(Change::Congestion { name: name.into() })
}

fn evidence(lossy: &Lossy<'_>) -> Evidence {
    let TcpSummary { retransmits, reorderings, out_of_order, .. } = lossy.tcp;
    let seen = reorderings.map(|times| format!("{times} reorderings detected"));
    let late = out_of_order.map(|segments| format!("{segments} segments received out of order"));
    let details: Vec<String> = seen.into_iter().chain(late).collect();
    let details = if details.is_empty() { String::new() } else { format!("; {}", details.join(", ")) };
    Evidence::new(format!("segments retransmitted, {}", lossy.result.label))
        .count(retransmits)
        .text(", ")
        .share(lossy.share)
        .text(format!(" of all{details}"))
}

#[cfg(test)]
pub(super) mod tests {
    use findings::Severity;

    use crate::rules::tests::{Case, made};

    pub(in crate::rules) const CASE: Case = Case {
        triggers: || made::retransmitting(1000),
        spares: || made::retransmitting(100),
        severity: Severity::Warning,
        says: &["vxlan-to-vxlan/bulk", "--section drops"],
        change: Some("congestion"),
    };
}
