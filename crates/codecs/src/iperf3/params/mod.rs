//! Test parameters, which the client sends as JSON.

mod limits;
mod translate;

use ::workload::{Direction, Mode, Transport};
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;
use serde_with::{apply, skip_serializing_none};
use units::Nanos;

use super::number::{flag, maybe_whole, whole};

pub use translate::Unsayable;

/// Absent keys are zero, false or `None`.
#[skip_serializing_none]
#[apply(
    i64 => #[serde(deserialize_with = "whole")],
    Option<i64> => #[serde(deserialize_with = "maybe_whole")],
    bool => #[serde(deserialize_with = "flag", skip_serializing_if = "std::ops::Not::not")],
)]
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Params {
    pub tcp: bool,
    pub udp: bool,
    pub sctp: bool,
    /// `-O`: seconds.
    pub omit: i64,
    /// `-A n,m`: the server's CPU.
    pub server_affinity: Option<i64>,
    /// `-t`: duration in seconds, or 0 if bytes or blocks end the test.
    pub time: i64,
    /// `-n`: total bytes over all streams; 0 means unlimited.
    pub num: i64,
    /// `-k`: total writes over all streams; 0 means unlimited.
    pub blockcount: i64,
    /// `-M`, in bytes.
    #[serde(rename = "MSS", skip_serializing_if = "zero")]
    pub mss: i64,
    pub nodelay: bool,
    /// `-P`: streams per direction.
    pub parallel: Option<i64>,
    /// `-R`: the server sends.
    pub reverse: bool,
    /// `--bidir`: both ends send.
    pub bidirectional: bool,
    /// `-w`, in bytes.
    #[serde(skip_serializing_if = "zero")]
    pub window: i64,
    /// `-l`: bytes per write, or the UDP payload size.
    #[serde(skip_serializing_if = "zero")]
    pub len: i64,
    #[serde(skip_serializing_if = "zero")]
    pub bandwidth: i64,
    /// `--fq-rate`: kernel pacing in bits per second.
    #[serde(skip_serializing_if = "zero")]
    pub fqrate: i64,
    /// `--pacing-timer`, in microseconds.
    #[serde(skip_serializing_if = "zero")]
    pub pacing_timer: i64,
    /// `-b rate/burst`: writes per burst.
    #[serde(skip_serializing_if = "zero")]
    pub burst: i64,
    /// `-S`: the IP TOS byte, 0 to 255.
    #[serde(rename = "TOS", skip_serializing_if = "zero")]
    pub tos: i64,
    /// `-L`: the IPv6 flow label.
    #[serde(skip_serializing_if = "zero")]
    pub flowlabel: i64,
    /// `-T`: a prefix on each line of output.
    pub title: Option<String>,
    /// `--extra-data`: copied to the JSON output.
    pub extra_data: Option<String>,
    /// `-C`.
    pub congestion: Option<String>,
    /// Always absent in parameters.
    pub congestion_used: Option<String>,
    #[serde(serialize_with = "one")]
    pub get_server_output: bool,
    #[serde(serialize_with = "one")]
    pub udp_counters_64bit: bool,
    #[serde(serialize_with = "one")]
    pub repeating_payload: bool,
    /// `-Z`: zero-copy send.
    #[serde(serialize_with = "one")]
    pub zerocopy: bool,
    /// `--dont-fragment`, for UDP over IPv4.
    #[serde(serialize_with = "one")]
    pub dont_fragment: bool,
    /// `--skip-rx-copy`: receive without copying. Available since 3.19.
    #[serde(serialize_with = "one")]
    pub skip_rx_copy: bool,
    /// See [`super::auth`].
    pub authtoken: Option<String>,
    pub client_version: Option<String>,
    #[serde(deserialize_with = "lenient")]
    pub plumb: Option<Extension>,
}

/// Settings that iperf3 lacks. A peer without support for them runs a normal iperf3 test.
#[skip_serializing_none]
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Extension {
    pub version: u32,
    pub mode: Option<Mode>,
    pub interval: Option<Nanos>,
    pub cpus: Option<Vec<u32>>,
}

/// A stream of the test. Both ends number streams in connection order, like iperf3: 1, 3, 4, 5 and so on, skipping 2.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PlannedStream {
    pub id: u32,
    /// In a bidirectional test, the streams on which the client sends are connected first.
    pub direction: Direction,
}

impl Params {
    #[must_use]
    pub const fn transport(&self) -> Transport {
        if self.udp { Transport::Udp } else { Transport::Tcp }
    }

    #[must_use]
    pub const fn direction(&self) -> Direction {
        match (self.bidirectional, self.reverse) {
            (true, _) => Direction::Both,
            (false, true) => Direction::Reverse,
            (false, false) => Direction::Forward,
        }
    }

    /// Returns at most 256 streams, in connection order.
    #[must_use]
    pub fn streams(&self) -> Vec<PlannedStream> {
        let parallel = usize::try_from(self.parallel.unwrap_or(1)).unwrap_or(0).min(limits::MAX_STREAMS);
        let directions =
            self.direction().flows().iter().flat_map(|direction| std::iter::repeat_n(*direction, parallel));
        let ids = std::iter::once(1).chain(3..);
        ids.zip(directions).map(|(id, direction)| PlannedStream { id, direction }).collect()
    }
}

fn zero(number: &i64) -> bool {
    *number == 0
}

fn one<S: serde::Serializer>(flag: &bool, to: S) -> Result<S::Ok, S::Error> {
    to.serialize_u8(u8::from(*flag))
}

/// Ignores an invalid extension, because a later version may use another format.
fn lenient<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Extension>, D::Error> {
    Value::deserialize(from).map(|value| serde_json::from_value(value).ok())
}
