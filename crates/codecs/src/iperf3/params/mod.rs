//! Test parameters, sent by the client as JSON.

mod limits;
mod translate;

use ::workload::{Direction, Mode, Transport};
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;
use units::Nanos;

use super::number::{flag, maybe_whole, whole};

pub use translate::Unsayable;

/// Missing keys are zero, false or `None`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Params {
    #[serde(deserialize_with = "flag", skip_serializing_if = "no")]
    pub tcp: bool,
    #[serde(deserialize_with = "flag", skip_serializing_if = "no")]
    pub udp: bool,
    #[serde(deserialize_with = "flag", skip_serializing_if = "no")]
    pub sctp: bool,
    /// `-O`: seconds.
    #[serde(deserialize_with = "whole")]
    pub omit: i64,
    /// `-A n,m`: the server's CPU.
    #[serde(deserialize_with = "maybe_whole", skip_serializing_if = "Option::is_none")]
    pub server_affinity: Option<i64>,
    /// `-t`: seconds; 0 if bytes or blocks end the test.
    #[serde(deserialize_with = "whole")]
    pub time: i64,
    /// `-n`: bytes over all streams; 0 is unlimited.
    #[serde(deserialize_with = "whole")]
    pub num: i64,
    /// `-k`: writes over all streams; 0 is unlimited.
    #[serde(deserialize_with = "whole")]
    pub blockcount: i64,
    /// `-M`, in bytes.
    #[serde(rename = "MSS", deserialize_with = "whole", skip_serializing_if = "zero")]
    pub mss: i64,
    /// `-N`.
    #[serde(deserialize_with = "flag", skip_serializing_if = "no")]
    pub nodelay: bool,
    /// `-P`: streams per direction.
    #[serde(deserialize_with = "maybe_whole", skip_serializing_if = "Option::is_none")]
    pub parallel: Option<i64>,
    /// `-R`: the server sends.
    #[serde(deserialize_with = "flag", skip_serializing_if = "no")]
    pub reverse: bool,
    /// `--bidir`: both ends send.
    #[serde(deserialize_with = "flag", skip_serializing_if = "no")]
    pub bidirectional: bool,
    /// `-w`, in bytes.
    #[serde(deserialize_with = "whole", skip_serializing_if = "zero")]
    pub window: i64,
    /// `-l`: bytes per write, or UDP payload.
    #[serde(deserialize_with = "whole", skip_serializing_if = "zero")]
    pub len: i64,
    #[serde(deserialize_with = "whole", skip_serializing_if = "zero")]
    pub bandwidth: i64,
    /// `--fq-rate`: kernel pacing in bits per second.
    #[serde(deserialize_with = "whole", skip_serializing_if = "zero")]
    pub fqrate: i64,
    /// `--pacing-timer`, in microseconds.
    #[serde(deserialize_with = "whole", skip_serializing_if = "zero")]
    pub pacing_timer: i64,
    /// `-b rate/burst`: writes per burst.
    #[serde(deserialize_with = "whole", skip_serializing_if = "zero")]
    pub burst: i64,
    /// `-S`: IP TOS byte, 0 to 255.
    #[serde(rename = "TOS", deserialize_with = "whole", skip_serializing_if = "zero")]
    pub tos: i64,
    /// `-L`: IPv6 flow label.
    #[serde(deserialize_with = "whole", skip_serializing_if = "zero")]
    pub flowlabel: i64,
    /// `-T`: prefix of each output line.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// `--extra-data`: copied to the JSON output.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub extra_data: Option<String>,
    /// `-C`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub congestion: Option<String>,
    /// Always missing here.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub congestion_used: Option<String>,
    #[serde(deserialize_with = "flag", serialize_with = "one", skip_serializing_if = "no")]
    pub get_server_output: bool,
    #[serde(deserialize_with = "flag", serialize_with = "one", skip_serializing_if = "no")]
    pub udp_counters_64bit: bool,
    #[serde(deserialize_with = "flag", serialize_with = "one", skip_serializing_if = "no")]
    pub repeating_payload: bool,
    /// `-Z`: zero-copy send.
    #[serde(deserialize_with = "flag", serialize_with = "one", skip_serializing_if = "no")]
    pub zerocopy: bool,
    /// `--dont-fragment`, for UDP over IPv4.
    #[serde(deserialize_with = "flag", serialize_with = "one", skip_serializing_if = "no")]
    pub dont_fragment: bool,
    /// `--skip-rx-copy`: receive without copying; since 3.19.
    #[serde(deserialize_with = "flag", serialize_with = "one", skip_serializing_if = "no")]
    pub skip_rx_copy: bool,
    /// See [`super::auth`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub authtoken: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub client_version: Option<String>,
    #[serde(deserialize_with = "lenient", skip_serializing_if = "Option::is_none")]
    pub plumb: Option<Extension>,
}

/// Settings without equivalent in iperf3. A peer that does not know them runs a normal iperf3 test.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Extension {
    /// 1.
    pub version: u32,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mode: Option<Mode>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub interval: Option<Nanos>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cpus: Option<Vec<u32>>,
}

/// Both ends number streams in order of connection: 1, 3, 4, 5 and so on; iperf3 skips 2.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PlannedStream {
    pub id: u32,
    /// A single direction. In a bidirectional test the client's streams are connected first.
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

    /// At most 256 streams, in order of connection.
    #[must_use]
    pub fn streams(&self) -> Vec<PlannedStream> {
        let parallel = usize::try_from(self.parallel.unwrap_or(1)).unwrap_or(0).min(limits::MAX_STREAMS);
        let directions =
            self.direction().flows().iter().flat_map(|direction| std::iter::repeat_n(*direction, parallel));
        let ids = std::iter::once(1).chain(3..);
        ids.zip(directions).map(|(id, direction)| PlannedStream { id, direction }).collect()
    }
}

fn no(flag: &bool) -> bool {
    !flag
}

fn zero(number: &i64) -> bool {
    *number == 0
}

fn one<S: serde::Serializer>(flag: &bool, to: S) -> Result<S::Ok, S::Error> {
    to.serialize_u8(u8::from(*flag))
}

/// A later version may have an unknown format.
fn lenient<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Extension>, D::Error> {
    Value::deserialize(from).map(|value| serde_json::from_value(value).ok())
}
