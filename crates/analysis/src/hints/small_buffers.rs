//! `small-buffers`: a socket's buffer, and not the path, held the sender back.

use findings::{Severity, Solo};
use units::Bytes;

use super::{Hint, Said, tcp};
use crate::{solo::Single, words::percent};

pub(crate) const HINT: Hint = Hint { id: "small-buffers", look };

/// A share of the time that is no accident.
const MUCH: f64 = 0.1;

fn look(single: &Single<'_>, solo: &Solo) -> Option<Said> {
    let tcp = tcp(solo)?;
    // With a rate, or none to grow into, a full buffer is what is wanted.
    let fixed = single.load.socket().window;
    let (share, which, end) = if tcp.receive_window_limited >= tcp.send_buffer_limited {
        (tcp.receive_window_limited, "receive window", "receiver")
    } else {
        (tcp.send_buffer_limited, "send buffer", "sender")
    };
    // A send buffer that grows is full whenever the path is the limit; a fixed one may be the limit itself.
    if share < MUCH || (fixed.is_none() && end == "sender") {
        return None;
    }
    let asked = fixed.map(|size| format!(" (fixed at {size})")).unwrap_or_default();
    Some(Said {
        severity: Severity::Warning,
        claim: format!("The {which}{asked} held the sender back for {} of the time.", percent(share)),
        evidence: vec![(format!("the {end}'s buffer as the kernel counts it"), buffer(solo, end))],
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

fn buffer(solo: &Solo, end: &str) -> String {
    let socket = solo.sockets.iter().find(|known| known.end == end).map(|known| &known.socket);
    let size: Option<Bytes> =
        socket.and_then(|socket| if end == "sender" { socket.send_buffer } else { socket.receive_buffer });
    size.map_or_else(|| "unknown".into(), |size| size.to_string())
}
