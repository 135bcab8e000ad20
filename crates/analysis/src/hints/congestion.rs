//! `slow-congestion-control`: BBR paces although the path is fast enough for bursts.

use findings::{Remedy, Severity};
use workload::{Direction, StreamSettings};

use super::{Claim, Rule, SingleTrial};
use crate::{rules::slow_congestion_control::paces, single_measurement::Single};

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
    .with_remedy(remedy(trial.single));
    Some(finding)
}

fn remedy(single: &Single<'_>) -> Remedy {
    let direction = StreamSettings::of(single.load).map(|load| load.direction);
    let default = "sysctl -w net.ipv4.tcp_congestion_control=cubic";
    match direction {
        Some(Direction::Forward) | None => Remedy::manual(
            "Measure with cubic, and make it the default if it is faster",
            vec![again(single.peer, ""), default.into()],
        ),
        Some(direction) => Remedy::manual(
            "Measure with cubic, and make it the server's default if it is faster. A server without \
             CAP_NET_ADMIN must be allowed to use it",
            vec![
                "sysctl net.ipv4.tcp_allowed_congestion_control  # on the server".into(),
                again(single.peer, if direction == Direction::Reverse { "-R " } else { "--bidir " }),
                format!("{default}  # on the server"),
            ],
        ),
    }
}

fn again(peer: &str, flags: &str) -> String {
    match peer.rsplit_once(':') {
        Some((host, port)) => {
            let host = host.trim_start_matches('[').trim_end_matches(']');
            format!("plumb client {host} -p {port} {flags}-C cubic")
        }
        None => format!("plumb client {peer} {flags}-C cubic"),
    }
}
