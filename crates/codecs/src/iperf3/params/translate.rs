//! Converts between iperf3's parameters and stream settings.

use thiserror::Error;
use units::{BitRate, Bytes, Nanos};
use workload::{Direction, Mode, SocketSettings, StreamSettings, Transport, Until};

use super::{Extension, Params};

const SECOND: u64 = 1_000_000_000;
/// Maximum number of samples over all streams. A sample takes a few hundred bytes.
const MOST_SAMPLES: u64 = 200_000;
/// Assumed duration of a test with a byte limit.
const SUPPOSED: Nanos = Nanos::from_secs(600);
const SHORTEST: Nanos = Nanos::from_millis(10);
const LONGEST: Nanos = Nanos::from_secs(60);
const DAY: Nanos = Nanos::from_secs(86_400);
const TCP_LENGTH: u64 = 128 << 10;
const UDP_LENGTH: u64 = 1460;
/// iperf3's default pacing timer, in microseconds.
const PACING_TIMER: i64 = 1000;

const ALLOWED: &str = "1 to 128 streams, up to 1 MiB per write or 16 to 65507 bytes per datagram, windows up to \
                 512 MiB, segments up to 32767 bytes, up to a day with a warm-up of up to ten minutes";

#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("iperf3 does not support {what} of {value}; use {allowed}")]
pub struct Unsayable {
    pub what: &'static str,
    pub value: String,
    pub allowed: &'static str,
}

impl Params {
    /// Fails if the warm-up is not a whole number of seconds, if it is combined with a byte limit, or if a value
    /// exceeds the limits of an iperf3 server.
    pub fn of(load: &StreamSettings) -> Result<Self, Unsayable> {
        let (time, num) = match load.until {
            Until::Elapsed(time) => (whole(time.0.div_ceil(SECOND)), 0),
            Until::Sent(bytes) => (0, whole(bytes.0)),
        };
        let params = Self {
            tcp: load.transport == Transport::Tcp,
            udp: load.transport == Transport::Udp,
            omit: omit(load)?,
            time,
            num,
            mss: load.socket.mss.map_or(0, i64::from),
            nodelay: load.socket.nodelay == Some(true),
            parallel: Some(i64::from(load.streams)),
            reverse: load.direction == Direction::Reverse,
            bidirectional: load.direction == Direction::Both,
            window: load.socket.window.map_or(0, |window| whole(window.0)),
            len: whole(load.message.0),
            bandwidth: load.rate.map_or(0, |rate| rate.0 as i64),
            pacing_timer: PACING_TIMER,
            tos: load.socket.dscp.map_or(0, |dscp| i64::from(dscp) << 2),
            congestion: load.socket.congestion.clone(),
            plumb: Some(Extension {
                version: 1,
                mode: Some(load.mode),
                interval: Some(load.interval),
                cpus: None,
            }),
            ..Self::default()
        };
        params.check().map_err(|_| Unsayable {
            what: "a combination",
            value: format!("{} streams and {} bytes per message", load.streams, load.message.0),
            allowed: ALLOWED,
        })?;
        Ok(params)
    }

    /// Call [`Self::check`] first. The interval defaults to one second. Short intervals are lengthened to bound the
    /// memory for samples.
    #[must_use]
    pub fn load(&self) -> StreamSettings {
        let transport = self.transport();
        let length = match (self.len, transport) {
            (0, Transport::Tcp) => TCP_LENGTH,
            (0, Transport::Udp) => UDP_LENGTH,
            (length, _) => unsigned(length),
        };
        let asked = self.plumb.clone().unwrap_or_default();
        StreamSettings {
            transport,
            mode: asked.mode.unwrap_or(Mode::App),
            streams: u32::try_from(self.parallel.unwrap_or(1)).unwrap_or(1),
            direction: self.direction(),
            until: self.until(length),
            warmup: Nanos::from_secs(unsigned(self.omit)),
            message: Bytes(length),
            rate: (self.bandwidth > 0).then_some(BitRate(self.bandwidth as f64)),
            socket: self.socket(),
            interval: asked.interval.unwrap_or(Nanos(SECOND)).clamp(SHORTEST, LONGEST).max(self.finest()),
        }
    }

    fn finest(&self) -> Nanos {
        let time = match self.until(1) {
            Until::Elapsed(time) => Nanos::from_secs(unsigned(self.omit)) + time,
            Until::Sent(_) => SUPPOSED,
        };
        Nanos((time.0 / MOST_SAMPLES).saturating_mul(self.streams().len() as u64))
    }

    /// Assumes that blocks are full. An unlimited test ends after a day.
    fn until(&self, length: u64) -> Until {
        match (self.num, self.blockcount) {
            (0, 0) if self.time == 0 => Until::Elapsed(DAY),
            (0, 0) => Until::Elapsed(Nanos::from_secs(unsigned(self.time))),
            (0, blocks) => Until::Sent(Bytes(unsigned(blocks).saturating_mul(length))),
            (bytes, _) => Until::Sent(Bytes(unsigned(bytes))),
        }
    }

    fn socket(&self) -> SocketSettings {
        SocketSettings {
            congestion: self.congestion.clone(),
            mss: u32::try_from(self.mss).ok().filter(|mss| *mss > 0),
            window: (self.window > 0).then(|| Bytes(unsigned(self.window))),
            dscp: u8::try_from(self.tos >> 2).ok().filter(|dscp| *dscp > 0),
            nodelay: self.nodelay.then_some(true),
            ..SocketSettings::kernel()
        }
    }
}

fn omit(load: &StreamSettings) -> Result<i64, Unsayable> {
    let warmup = load.warmup;
    let unsayable =
        |allowed: &'static str| Err(Unsayable { what: "a warm-up", value: warmup.to_string(), allowed });
    match load.until {
        Until::Sent(_) if warmup.0 > 0 => unsayable("none with a byte limit"),
        _ if !warmup.0.is_multiple_of(SECOND) => unsayable("whole seconds"),
        _ => Ok(whole(warmup.0 / SECOND)),
    }
}

fn whole(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

fn unsigned(number: i64) -> u64 {
    u64::try_from(number).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn usual() -> StreamSettings {
        StreamSettings {
            interval: Nanos(SECOND),
            ..StreamSettings::new(Until::Elapsed(Nanos::from_secs(10)))
        }
    }

    #[test]
    fn load_round_trips_through_parameters() {
        let socket = SocketSettings {
            congestion: Some("cubic".into()),
            mss: Some(1200),
            window: Some(Bytes(1 << 18)),
            dscp: Some(46),
            nodelay: Some(true),
            ..SocketSettings::kernel()
        };
        for load in [
            usual(),
            StreamSettings { until: Until::Sent(Bytes(12_345_678_901)), streams: 7, ..usual() },
            StreamSettings {
                direction: Direction::Both,
                warmup: Nanos::from_secs(3),
                mode: Mode::Limit,
                ..usual()
            },
            StreamSettings {
                transport: Transport::Udp,
                message: Bytes(1448),
                rate: Some(BitRate(5e9)),
                ..usual()
            },
            StreamSettings { direction: Direction::Reverse, socket, ..usual() },
        ] {
            let encoded = serde_json::to_string(&Params::of(&load).unwrap()).unwrap();
            let decoded: Params = serde_json::from_str(&encoded).unwrap();
            assert_eq!(decoded.check(), Ok(()));
            assert_eq!(decoded.load(), load);
        }
    }

    #[test]
    fn missing_parameters_have_iperf3_defaults() {
        for (json, until, message) in [
            (r#"{"tcp":true,"time":10}"#, Until::Elapsed(Nanos::from_secs(10)), 131_072),
            (r#"{"tcp":true,"time":0,"num":0,"blockcount":0}"#, Until::Elapsed(DAY), 131_072),
            (r#"{"udp":true,"blockcount":10,"len":1000}"#, Until::Sent(Bytes(10_000)), 1000),
            (r#"{"udp":true,"num":1e4}"#, Until::Sent(Bytes(10_000)), 1460),
        ] {
            let params: Params = serde_json::from_str(json).unwrap();
            let load = params.load();
            assert_eq!((load.until, load.message, load.mode), (until, Bytes(message), Mode::App), "{json}");
        }
    }

    #[test]
    fn limits_number_of_samples() {
        for (json, interval) in [
            (r#"{"time":1,"plumb":{"version":1,"interval":1}}"#, SHORTEST),
            (r#"{"time":86400,"parallel":128,"bidirectional":true}"#, Nanos(432_000_000 * 256)),
            (r#"{"time":10,"plumb":{"version":1,"interval":100000000}}"#, Nanos::from_millis(100)),
        ] {
            assert_eq!(serde_json::from_str::<Params>(json).unwrap().load().interval, interval, "{json}");
        }
    }

    #[test]
    fn rejects_settings_iperf3_cannot_express() {
        let half = Nanos::from_millis(500);
        for (load, words) in [
            (StreamSettings { warmup: half, ..usual() }, "a warm-up of 500 ms; use whole seconds"),
            (
                StreamSettings { warmup: half, until: Until::Sent(Bytes(1)), ..usual() },
                "a warm-up of 500 ms; use none with a byte limit",
            ),
            (
                StreamSettings { streams: 129, ..usual() },
                "a combination of 129 streams and 131072 bytes per message; use 1 to 128 streams, up to 1 MiB \
                 per write or 16 to 65507 bytes per datagram, windows up to 512 MiB, segments up to 32767 bytes, \
                 up to a day with a warm-up of up to ten minutes",
            ),
        ] {
            let error = Params::of(&load).unwrap_err().to_string();
            assert_eq!(error, format!("iperf3 does not support {words}"));
        }
    }
}
