//! `small-buffers`: the sender was limited by a socket buffer rather than the path.

use findings::{Evidence, Remedy, Severity, SingleMeasurement, phrase};
use units::Bytes;

use super::{Claim, Rule, SingleTrial};
use crate::{
    rules::buffer_limited::{Buffer, MUCH, receivers_had_time},
    words::percent,
};

pub(super) const RULE: Rule = Rule::cause("small-buffers", |trial| look(trial).into_iter().collect());

fn look(trial: &SingleTrial<'_>) -> Option<Claim> {
    let tcp = trial.tcp()?;
    let fixed = trial.single.load.kind().socket()?.window;
    let (held, share) = Buffer::that_holds(&tcp, fixed.is_some())?;
    let (which, end) = (held.in_words(), held.end());
    let reads_late = held == Buffer::Receive && receivers_had_time(trial.single.cpu) == Some(false);
    if share < MUCH || reads_late {
        return None;
    }
    let given = buffer(trial.summary, end);
    let setting = fixed.map(|size| format!(" ({size} requested, {given} granted)")).unwrap_or_default();
    let remedy = match fixed {
        Some(_) => Remedy::manual(
            "Leave the window unset so that it autotunes, or set it to rate times round trip",
            vec![],
        ),
        None => Remedy::manual(
            "Raise the autotuning limit on the receiver's machine",
            vec!["sysctl -w net.ipv4.tcp_rmem=\"4096 131072 67108864\"".into()],
        ),
    };
    let finding = Claim::new(
        Severity::Warning,
        phrase![format!("The {which}{setting} limited the sender for "), percent(share), " of the time"],
    )
    .with_evidence([Evidence::new(format!("the {end}'s buffer as reported by the kernel")).text(given)])
    .with_limits(["A slow reader also fills its window: check its CPU first."])
    .with_remedy(remedy);
    Some(finding)
}

fn buffer(summary: &SingleMeasurement, end: &str) -> String {
    let socket = summary.sockets.iter().find(|known| known.end == end).map(|known| &known.socket);
    let size: Option<Bytes> =
        socket.and_then(|socket| if end == "sender" { socket.send_buffer } else { socket.receive_buffer });
    size.map_or_else(|| "unknown".into(), |size| size.to_string())
}
