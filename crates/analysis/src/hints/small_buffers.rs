//! `small-buffers`: a socket's buffer, and not the path, held the sender back.

use findings::{Severity, SingleMeasurement};
use units::Bytes;

use super::{Advice, Hint, tcp};
use crate::{
    rules::buffer_limited::{Buffer, MUCH, receivers_had_time},
    single_measurement::Single,
    words::percent,
};

pub(crate) const HINT: Hint = Hint { id: "small-buffers", look };

fn look(single: &Single<'_>, solo: &SingleMeasurement) -> Option<Advice> {
    let tcp = tcp(solo)?;
    let fixed = single.load.kind().socket()?.window;
    let (held, share) = Buffer::that_holds(&tcp, fixed.is_some())?;
    let (which, end) = (held.in_words(), held.end());
    let reads_late = held == Buffer::Receive && receivers_had_time(single.cpu) == Some(false);
    if share < MUCH || reads_late {
        return None;
    }
    let given = buffer(solo, end);
    let asked = fixed.map(|size| format!(" ({size} asked for, {given} given)")).unwrap_or_default();
    Some(Advice {
        severity: Severity::Warning,
        claim: format!("The {which}{asked} held the sender back for {} of the time.", percent(share)),
        evidence: vec![(format!("the {end}'s buffer as the kernel counts it"), given)],
        caveats: vec!["A receiver that reads slowly fills its window as well: look at its CPU first."],
        action: match fixed {
            Some(_) => {
                "Leave the window out, so that it grows, or give it the rate times the round trip.".into()
            }
            None => "Let buffers grow further, on the receiver's machine:".into(),
        },
        commands: match fixed {
            Some(_) => Vec::new(),
            None => vec!["sysctl -w net.ipv4.tcp_rmem=\"4096 131072 67108864\"".into()],
        },
    })
}

fn buffer(solo: &SingleMeasurement, end: &str) -> String {
    let socket = solo.sockets.iter().find(|known| known.end == end).map(|known| &known.socket);
    let size: Option<Bytes> =
        socket.and_then(|socket| if end == "sender" { socket.send_buffer } else { socket.receive_buffer });
    size.map_or_else(|| "unknown".into(), |size| size.to_string())
}
