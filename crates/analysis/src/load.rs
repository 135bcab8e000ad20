//! What a workload sends, in a few words.

use load::{Direction, Load, PingPongLoad, StreamLoad, Transport, Until};

/// `1 TCP stream forward, 128 KiB writes, cubic, cross-cpu`.
pub(crate) fn in_words(load: &Load, placement: &str) -> String {
    let mut words = match load {
        Load::Stream(settings) => stream(settings),
        Load::PingPong(settings) => ping_pong(settings),
    };
    words.push(if placement == "free" { "free placement".into() } else { placement.into() });
    words.join(", ")
}

fn stream(settings: &StreamLoad) -> Vec<String> {
    let streams = if settings.streams == 1 { "stream" } else { "streams" };
    let direction = match settings.direction {
        Direction::Forward => "forward",
        Direction::Reverse => "in reverse",
        Direction::Both => "each way",
    };
    let mut words = vec![format!("{} TCP {streams} {direction}", settings.streams)];
    if let Until::Sent(bytes) = settings.until {
        let both = if settings.direction == Direction::Both { " each way" } else { "" };
        words.push(format!("{bytes}{both}"));
    }
    words.push(format!("{} writes", settings.message));
    words.push(congestion(settings.congestion.as_deref()));
    words
}

fn ping_pong(settings: &PingPongLoad) -> Vec<String> {
    let message = settings.message.to_string();
    match settings.transport {
        Transport::Udp => vec!["UDP ping-pong".into(), message],
        Transport::Tcp => {
            vec!["TCP ping-pong".into(), message, congestion(settings.congestion.as_deref())]
        }
    }
}

fn congestion(chosen: Option<&str>) -> String {
    chosen.unwrap_or("the kernel's congestion control").into()
}

#[cfg(test)]
mod tests {
    use super::*;
    use units::{Bytes, Nanos};

    fn stream_settings() -> StreamLoad {
        StreamLoad {
            streams: 1,
            direction: Direction::Forward,
            until: Until::Elapsed(Nanos::from_secs(2)),
            warmup: Nanos(0),
            message: Bytes(131_072),
            congestion: Some("cubic".into()),
            interval: Nanos::from_millis(100),
        }
    }

    #[test]
    fn a_load_reads_as_one_would_say_it() {
        let one = Load::Stream(stream_settings());
        let many = Load::Stream(StreamLoad {
            streams: 8,
            direction: Direction::Both,
            until: Until::Sent(Bytes(1 << 30)),
            congestion: None,
            ..stream_settings()
        });
        let ping = Load::PingPong(PingPongLoad {
            transport: Transport::Udp,
            message: Bytes(64),
            duration: Nanos::from_secs(2),
            warmup: Nanos(0),
            congestion: Some("cubic".into()),
        });
        for (load, placement, words) in [
            (one, "cross-cpu", "1 TCP stream forward, 128 KiB writes, cubic, cross-cpu"),
            (
                many,
                "free",
                "8 TCP streams each way, 1.00 GiB each way, 128 KiB writes, the kernel's congestion control, \
                 free placement",
            ),
            (ping, "same-cpu", "UDP ping-pong, 64 B, same-cpu"),
        ] {
            assert_eq!(in_words(&load, placement), words);
        }
    }
}
