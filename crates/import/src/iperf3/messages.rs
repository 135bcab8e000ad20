//! Parses single iperf3 lines outside tables.

use workload::Transport;

use super::{
    command::{self, Protocol},
    cpu::Cpu,
};

#[derive(Debug, Clone, PartialEq)]
pub(super) enum Message {
    Connecting {
        host: String,
        port: String,
    },
    Accepted {
        host: String,
    },
    Listening(String),
    Reverse,
    Ruler,
    Done,
    /// iperf3's error message, also printed after an interrupt.
    Failed(String),
    Version(String),
    Time(String),
    Starting {
        protocol: Protocol,
        message: Option<u64>,
        /// The seconds of `-O` and the type of service, if set.
        options: Vec<(String, String)>,
    },
    Rate(f64),
    Cpu(Cpu),
    Congestion(String),
    SegmentSize(String),
    Command(command::CommandSettings),
    Else,
    OlderTool,
}

type Reader = fn(&str, &str) -> Option<Message>;

/// A marker for each kind of line, in the order to try. `contains` is vectorized for markers of up to 32 bytes.
const LINES: &[(&str, Reader)] = &[
    ("- - - - -", |_, _| Some(Message::Ruler)),
    ("Connecting to host ", |_, after| {
        let (host, port) = host(after)?;
        Some(Message::Connecting { host, port })
    }),
    ("Accepted connection from ", |_, after| Some(Message::Accepted { host: host(after)?.0 })),
    ("Server listening on TCP port", |_, _| Some(Message::OlderTool)),
    ("Server listening on UDP port", |_, _| Some(Message::OlderTool)),
    ("Client connecting to ", |_, _| Some(Message::OlderTool)),
    ("Server listening on ", |_, after| Some(Message::Listening(digits(after)))),
    ("Reverse mode, remote host ", |_, _| Some(Message::Reverse)),
    ("iperf Done.", |_, _| Some(Message::Done)),
    ("iperf3: ", |_, after| failed(after)),
    ("iperf 3.", |line, after| version(line, after)),
    ("Starting Test: ", |_, after| Some(starting(after))),
    ("Target Bitrate: ", |_, after| {
        after.trim().parse().ok().filter(|rate: &f64| rate.is_finite() && *rate > 0.0).map(Message::Rate)
    }),
    ("CPU Utilization: ", |line, _| Cpu::parse(line).map(Message::Cpu)),
    ("snd_tcp_congestion ", |_, after| {
        Some(Message::Congestion(after.split_whitespace().next()?.to_owned()))
    }),
    ("rcv_tcp_congestion ", |_, _| Some(Message::Else)),
    ("Control connection MSS ", |_, _| Some(Message::Else)),
    ("      Cookie: ", |_, _| Some(Message::Else)),
    ("] (sender statistics not availa", |_, _| Some(Message::Else)),
    ("      TCP MSS: ", |_, after| Some(Message::SegmentSize(digits(after)))),
    ("Test Complete. Summary Results:", |_, _| Some(Message::Ruler)),
    ("perf", |line, _| command::parse(line).map(Message::Command)),
    ("PERF", |line, _| command::parse(line).map(Message::Command)),
    ("Time: ", |line, after| line.starts_with("Time: ").then(|| Message::Time(after.trim().to_owned()))),
];

pub(super) fn message(text: &str) -> Option<Message> {
    // In a longer line, a marker is a coincidence.
    if text.len() > 1000 {
        return None;
    }
    LINES.iter().find_map(|(words, read)| {
        // Most lines contain no marker, and `contains` is several times faster than `find`.
        let at = text.contains(words).then(|| text.find(words))??;
        read(text, &text[at + words.len()..])
    })
}

fn host(after: &str) -> Option<(String, String)> {
    let (host, port) = after.split_once(", port ")?;
    let sensible = !host.is_empty() && host.len() <= 255 && !host.contains(char::is_whitespace);
    (sensible && port.starts_with(|sign: char| sign.is_ascii_digit()))
        .then(|| (host.to_owned(), digits(port)))
}

fn digits(text: &str) -> String {
    text.chars().take_while(char::is_ascii_digit).take(5).collect()
}

fn failed(after: &str) -> Option<Message> {
    let fatal = after.starts_with("error") || after.starts_with("interrupt");
    fatal.then(|| Message::Failed(after.trim().chars().take(200).collect()))
}

fn version(line: &str, after: &str) -> Option<Message> {
    let number: String = after.chars().take_while(|sign| !sign.is_whitespace()).take(24).collect();
    (line.starts_with("iperf 3.") && !number.is_empty()).then(|| Message::Version(format!("3.{number}")))
}

fn starting(after: &str) -> Message {
    let message = after.split(", ").find_map(|part| part.strip_suffix(" byte blocks")?.parse().ok());
    let protocol = match after.strip_prefix("protocol: ").and_then(|it| it.split(',').next()) {
        Some("UDP") => Protocol::Known(Transport::Udp),
        Some("TCP") | None => Protocol::Known(Transport::Tcp),
        Some(_) => Protocol::Other,
    };
    let option = |part: &str| {
        let omit =
            part.strip_prefix("omitting ").and_then(|part| Some(("omit", part.strip_suffix(" seconds")?)));
        let (name, value) = omit.or_else(|| Some(("tos", part.strip_prefix("tos ")?.trim())))?;
        (value != "0").then(|| (name.to_owned(), value.to_owned()))
    };
    Message::Starting { protocol, message, options: after.split(", ").filter_map(option).collect() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parses_every_kind_of_line() {
        let text = str::to_owned;
        for (line, expected) in [
            (
                "Connecting to host 10.1.0.101, port 5201",
                Message::Connecting { host: text("10.1.0.101"), port: text("5201") },
            ),
            ("Sat Nov 21 2026 Accepted connection from ::1, port 4", Message::Accepted { host: text("::1") }),
            ("Server listening on 5201 (test #2)", Message::Listening(text("5201"))),
            ("Server listening on 5201", Message::Listening(text("5201"))),
            ("      TCP MSS: 1448 (default)", Message::SegmentSize(text("1448"))),
            ("Server listening on TCP port 5001", Message::OlderTool),
            ("Reverse mode, remote host ::1 is sending", Message::Reverse),
            ("iperf Done.", Message::Done),
            (
                "^Ciperf3: interrupt - the server has terminated",
                Message::Failed(text("interrupt - the server has terminated")),
            ),
            ("iperf 3.12", Message::Version(text("3.12"))),
            ("Time: Sat, 21 Nov 2026 18:00:15 GMT", Message::Time(text("Sat, 21 Nov 2026 18:00:15 GMT"))),
            (
                "Starting Test: protocol: TCP, 1 streams, 131072 byte blocks, omitting 0 seconds, 1 second test, tos 0",
                Message::Starting {
                    protocol: Protocol::Known(Transport::Tcp),
                    message: Some(131_072),
                    options: Vec::new(),
                },
            ),
            ("snd_tcp_congestion cubic", Message::Congestion(text("cubic"))),
            ("- - - - - - - - - - - - - - - - - - - - - - - - -", Message::Ruler),
        ] {
            assert_eq!(message(line), Some(expected), "{line}");
        }
    }

    #[test]
    fn ignores_prose() {
        for line in [
            "",
            "We ran iperf3: it was fast",
            "Connecting to host is hard",
            "iperf 3.12 is old, iperf 3. too",
        ] {
            let harmless = message(line).is_none_or(|message| matches!(message, Message::Version(_)));
            assert!(harmless, "{line}: {:?}", message(line));
        }
    }
}
