//! One-line description of a workload.

use findings::EndSocket;
use samples::{ImportedKind, ImportedSettings, WorkloadSource};
use workload::{Direction, SocketSettings, Transport, WorkloadSettings};

use crate::words::count;

pub(crate) fn of(sent: &WorkloadSource, placement: &str, sockets: &[EndSocket]) -> String {
    match sent {
        WorkloadSource::Load(load) => in_words(load, placement, sockets),
        WorkloadSource::Imported(imported) => imported_in_words(imported),
    }
}

/// Returns e.g. `iperf3 3.12: 4 TCP streams forward, 128 KiB writes, cubic`. Omits unknown settings.
fn imported_in_words(imported: &ImportedSettings) -> String {
    let name = match imported.transport {
        Some(Transport::Tcp) => "TCP ",
        Some(Transport::Udp) => "UDP ",
        None => "",
    };
    let kind = match imported.kind {
        ImportedKind::Stream => {
            let streams = imported.streams.map_or_else(
                || format!("{name}streams"),
                |streams| count(streams as usize, &format!("{name}stream")).to_string(),
            );
            let direction = match imported.direction {
                Some(Direction::Forward) => " forward",
                Some(Direction::Reverse) => " in reverse",
                Some(Direction::Both) => " each way",
                None => "",
            };
            format!("{streams}{direction}")
        }
        ImportedKind::PingPong => format!("{name}ping-pong"),
        ImportedKind::Connect => format!("{name}connections"),
        ImportedKind::Other => String::new(),
    };
    let words: Vec<String> = (!kind.is_empty())
        .then_some(kind)
        .into_iter()
        .chain(imported.message.map(|size| format!("{size} messages")))
        .chain(imported.rate.map(|rate| rate.to_string()))
        .chain(imported.congestion.clone())
        .chain(imported.options.iter().map(|(name, value)| format!("{name} {value}")))
        .collect();
    if words.is_empty() { imported.tool.clone() } else { format!("{}: {}", imported.tool, words.join(", ")) }
}

/// For example, `1 TCP stream forward, app mode, 128 KiB writes, cubic, cross-cpu`.
pub(crate) fn in_words(load: &WorkloadSettings, placement: &str, sockets: &[EndSocket]) -> String {
    let kind = load.kind();
    let mut words = kind.in_words();
    if let Some(settings) = kind.socket() {
        if kind.transport() == Some(Transport::Tcp) {
            words.extend(settings.congestion.clone().or_else(|| used_congestion(sockets)));
        }
        words.extend(socket(settings));
    }
    // Omit the default placement of a workload with a single end.
    if kind.socket().is_some() || placement != "free" {
        words.push(self::placement(placement));
    }
    words.join(", ")
}

fn used_congestion(sockets: &[EndSocket]) -> Option<String> {
    sockets.iter().find(|end| end.end != "receiver" && end.end != "server")?.socket.congestion.clone()
}

fn socket(settings: &SocketSettings) -> Vec<String> {
    let switched = |on| if on { "no delay" } else { "delay allowed" };
    [
        settings.mss.map(|mss| format!("segments of {mss} B")),
        settings.window.map(|window| format!("buffers of {window}")),
        settings.dscp.map(|dscp| format!("DSCP {dscp}")),
        settings.nodelay.map(|on| switched(on).into()),
        // Omit ports that plumb fixed, because the user did not choose them.
        settings
            .source_port
            .filter(|_| settings.server_port.is_none())
            .map(|port| format!("from port {port}")),
        settings.busy_poll.map(|time| format!("busy poll {time}")),
    ]
    .into_iter()
    .flatten()
    .collect()
}

fn placement(placement: &str) -> String {
    let end = |name: &str, cpus: &str| match cpus.trim() {
        "" => format!("{name} free"),
        cpus => format!("{name} on CPU {cpus}"),
    };
    match placement.split_once(" | ") {
        _ if placement == "free" => "free placement".into(),
        Some((client, server)) => format!("{}, {}", end("client", client), end("server", server)),
        None => placement.into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use units::{BitRate, Bytes, Nanos};
    use workload::Background;
    use workload::ConnectSettings;
    use workload::Mode;
    use workload::PingPongSettings;
    use workload::Schedule;
    use workload::SocketFacts;
    use workload::StreamSettings;
    use workload::Until;
    use workload::Waiting;

    const TWO: Nanos = Nanos::from_secs(2);

    fn cubic() -> SocketSettings {
        SocketSettings { congestion: Some("cubic".into()), ..SocketSettings::kernel() }
    }

    fn streaming() -> StreamSettings {
        StreamSettings { socket: cubic(), ..StreamSettings::new(Until::Elapsed(TWO)) }
    }

    #[test]
    fn describes_stream_in_words() {
        let many = StreamSettings {
            streams: 8,
            direction: Direction::Both,
            rate: Some(BitRate(2e9)),
            socket: SocketSettings::kernel(),
            ..StreamSettings::new(Until::Sent(Bytes(1 << 30)))
        };
        let datagrams = StreamSettings {
            transport: Transport::Udp,
            mode: Mode::Limit,
            message: Bytes(1400),
            rate: Some(BitRate(5e8)),
            socket: SocketSettings {
                dscp: Some(46),
                window: Some(Bytes(1 << 20)),
                ..SocketSettings::kernel()
            },
            ..StreamSettings::new(Until::Elapsed(TWO))
        };
        for (load, placement, words) in [
            (streaming(), "cross-cpu", "1 TCP stream forward, app mode, 128 KiB writes, cubic, cross-cpu"),
            (
                StreamSettings { mode: Mode::Limit, message: Bytes(1 << 20), ..streaming() },
                "0,2 | 1",
                "1 TCP stream forward, limit mode (no copy), 1.00 MiB writes, cubic, client on CPU 0,2, server on CPU 1",
            ),
            (
                many,
                "free",
                "8 TCP streams each way, app mode, 1.00 GiB each way, 128 KiB writes, 2.00 Gbit/s each, free placement",
            ),
            (
                datagrams,
                "same-cpu",
                "1 UDP stream forward, limit mode (many datagrams a call), 1.37 KiB datagrams, 500 Mbit/s, buffers of \
                 1.00 MiB, DSCP 46, same-cpu",
            ),
        ] {
            assert_eq!(in_words(&WorkloadSettings::Stream(load), placement, &[]), words);
        }
    }

    #[test]
    fn shows_default_congestion_control_of_the_sender() {
        let end = |end: &str, name: &str| EndSocket {
            end: end.to_owned(),
            socket: SocketFacts { congestion: Some(name.to_owned()), ..SocketFacts::default() },
        };
        let ends = [end("receiver", "reno"), end("sender", "bbr")];
        let unchosen = StreamSettings { socket: SocketSettings::kernel(), ..streaming() };
        for (load, used) in [(unchosen, "bbr"), (streaming(), "cubic")] {
            let words = in_words(&WorkloadSettings::Stream(load), "free", &ends);
            assert!(words.ends_with(&format!("128 KiB writes, {used}, free placement")), "{words}");
        }
    }

    #[test]
    fn describes_schedule_waiting_and_background_stream() {
        let under = Background {
            mode: Mode::Limit,
            streams: 2,
            direction: Direction::Forward,
            rate: Some(BitRate(1e9)),
            message: Bytes(1 << 20),
        };
        let open = PingPongSettings {
            transport: Transport::Tcp,
            schedule: Schedule::Open { period: Nanos(100_000) },
            waiting: Waiting::Spin,
            under: Some(under),
            socket: cubic(),
            ..PingPongSettings::new(TWO)
        };
        for (load, words) in [
            (PingPongSettings::new(TWO), "UDP ping-pong, 64 B, closed loop, blocking, same-cpu"),
            (
                open,
                "TCP ping-pong, 64 B, open loop, one every 100 µs, spinning, during 2 TCP streams forward of 1.00 \
                 Gbit/s each (limit mode (no copy), 1.00 MiB writes), cubic, same-cpu",
            ),
        ] {
            assert_eq!(in_words(&WorkloadSettings::PingPong(load), "same-cpu", &[]), words);
        }
    }

    #[test]
    fn end_without_cpus_is_not_pinned() {
        let placement = workload::Placement::Cpus { client: vec![0], server: vec![] }.to_string();
        let words = in_words(&WorkloadSettings::PingPong(PingPongSettings::new(TWO)), &placement, &[]);
        assert!(words.ends_with("blocking, client on CPU 0, server free"), "{words}");
    }

    #[test]
    fn describes_sizes_of_connections() {
        let load = WorkloadSettings::Connect(ConnectSettings {
            clients: 4,
            socket: cubic(),
            ..ConnectSettings::new(TWO)
        });
        let words = "TCP connections of 4 clients, 64 B there and 64 B back on each, cubic, free placement";
        assert_eq!(in_words(&load, "free", &[]), words);
    }

    #[test]
    fn omits_unknown_settings_of_other_tools() {
        let bare = ImportedSettings::of("iperf3", ImportedKind::Stream);
        let full = ImportedSettings {
            transport: Some(Transport::Tcp),
            streams: Some(4),
            direction: Some(Direction::Reverse),
            message: Some(Bytes(131_072)),
            congestion: Some("cubic".into()),
            options: [("mss".to_owned(), "1400".to_owned())].into(),
            ..bare.clone()
        };
        let table = ImportedSettings::of("a table", ImportedKind::Other);
        for (imported, words) in [
            (bare, "iperf3: streams"),
            (full, "iperf3: 4 TCP streams in reverse, 128 KiB messages, cubic, mss 1400"),
            (table, "a table"),
        ] {
            assert_eq!(of(&WorkloadSource::Imported(imported), "unknown", &[]), words);
        }
    }
}
