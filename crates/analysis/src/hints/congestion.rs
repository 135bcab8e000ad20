//! `slow-congestion-control`: BBR paces although the path is fast enough for bursts.

use findings::{Remedy, Severity};

use super::{Claim, Rule, SingleTrial};
use crate::rules::slow_congestion_control::paces;

pub(super) const RULE: Rule =
    Rule::cause("slow-congestion-control", |trial| look(trial).into_iter().collect());

fn look(trial: &SingleTrial<'_>) -> Option<Claim> {
    trial.tcp()?;
    let uses = |congestion: &Option<String>| congestion.as_deref().is_some_and(paces);
    let end = trial.summary.sockets.iter().find(|end| end.end == "sender" && uses(&end.socket.congestion))?;
    let chosen = uses(&trial.summary.load.kind().socket()?.congestion);
    let whose = if chosen { "as requested" } else { "the machine's default" };
    let finding = Claim::new(
        Severity::Warning,
        format!("The sender used {}, {whose}", end.socket.congestion.as_deref().unwrap_or("bbr")),
    )
    .detail(
        "it paces, so on fast paths with short round trips it may be slower than \
             cubic and use more CPU",
    )
    .with_limits(["On long lossy paths bbr may be faster; measure both."])
    .with_remedy(Remedy::manual(
        "Measure with cubic, and make it the default if it is faster",
        vec![again(trial.single.peer), "sysctl -w net.ipv4.tcp_congestion_control=cubic".into()],
    ));
    Some(finding)
}

fn again(peer: &str) -> String {
    match peer.rsplit_once(':') {
        Some((host, port)) => {
            format!("plumb client {} -p {port} -C cubic", host.trim_start_matches('[').trim_end_matches(']'))
        }
        None => format!("plumb client {peer} -C cubic"),
    }
}
