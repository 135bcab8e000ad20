//! The parameters of a test, which the client sends as JSON.

mod limits;
mod translate;

use ::workload::{Direction, Mode, Transport};
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;
use units::Nanos;

use super::number::{flag, maybe_whole, whole};

pub use translate::Unsayable;

/// What the client asks for. A field is zero, false or `None` where its key is absent.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Params {
    /// Over TCP.
    #[serde(deserialize_with = "flag", skip_serializing_if = "no")]
    pub tcp: bool,
    /// Over UDP.
    #[serde(deserialize_with = "flag", skip_serializing_if = "no")]
    pub udp: bool,
    /// Over SCTP, which plumb does not have.
    #[serde(deserialize_with = "flag", skip_serializing_if = "no")]
    pub sctp: bool,
    /// `-O`: seconds that do not count at the start.
    #[serde(deserialize_with = "whole")]
    pub omit: i64,
    /// `-A n,m`: the server's CPU.
    #[serde(deserialize_with = "maybe_whole", skip_serializing_if = "Option::is_none")]
    pub server_affinity: Option<i64>,
    /// `-t`: seconds; 0 where bytes or blocks end the test.
    #[serde(deserialize_with = "whole")]
    pub time: i64,
    /// `-n`: bytes over all streams; 0 is without end.
    #[serde(deserialize_with = "whole")]
    pub num: i64,
    /// `-k`: writes over all streams; 0 is without end.
    #[serde(deserialize_with = "whole")]
    pub blockcount: i64,
    /// `-M`, in bytes.
    #[serde(rename = "MSS", deserialize_with = "whole", skip_serializing_if = "zero")]
    pub mss: i64,
    /// `-N`.
    #[serde(deserialize_with = "flag", skip_serializing_if = "no")]
    pub nodelay: bool,
    /// `-P`: streams in each direction.
    #[serde(deserialize_with = "maybe_whole", skip_serializing_if = "Option::is_none")]
    pub parallel: Option<i64>,
    /// `-R`: the server sends.
    #[serde(deserialize_with = "flag", skip_serializing_if = "no")]
    pub reverse: bool,
    /// `--bidir`: both send.
    #[serde(deserialize_with = "flag", skip_serializing_if = "no")]
    pub bidirectional: bool,
    /// `-w`, in bytes.
    #[serde(deserialize_with = "whole", skip_serializing_if = "zero")]
    pub window: i64,
    /// `-l`: bytes a write; a UDP datagram's payload.
    #[serde(deserialize_with = "whole", skip_serializing_if = "zero")]
    pub len: i64,
    /// `-b`: bits a second of each stream; 0 is without limit.
    #[serde(deserialize_with = "whole", skip_serializing_if = "zero")]
    pub bandwidth: i64,
    /// `--fq-rate`: bits a second for the kernel's pacing.
    #[serde(deserialize_with = "whole", skip_serializing_if = "zero")]
    pub fqrate: i64,
    /// `--pacing-timer`, in microseconds.
    #[serde(deserialize_with = "whole", skip_serializing_if = "zero")]
    pub pacing_timer: i64,
    /// `-b rate/burst`: writes at a time.
    #[serde(deserialize_with = "whole", skip_serializing_if = "zero")]
    pub burst: i64,
    /// `-S`: the IP byte, 0 to 255.
    #[serde(rename = "TOS", deserialize_with = "whole", skip_serializing_if = "zero")]
    pub tos: i64,
    /// `-L`: of IPv6.
    #[serde(deserialize_with = "whole", skip_serializing_if = "zero")]
    pub flowlabel: i64,
    /// `-T`: put before each line.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// `--extra-data`: put into the JSON output.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub extra_data: Option<String>,
    /// `-C`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub congestion: Option<String>,
    /// What the client's sockets have; never known when this is sent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub congestion_used: Option<String>,
    #[serde(deserialize_with = "flag", serialize_with = "one", skip_serializing_if = "no")]
    pub get_server_output: bool,
    #[serde(deserialize_with = "flag", serialize_with = "one", skip_serializing_if = "no")]
    pub udp_counters_64bit: bool,
    #[serde(deserialize_with = "flag", serialize_with = "one", skip_serializing_if = "no")]
    pub repeating_payload: bool,
    /// `-Z`: senders do not copy.
    #[serde(deserialize_with = "flag", serialize_with = "one", skip_serializing_if = "no")]
    pub zerocopy: bool,
    /// `--dont-fragment`, of UDP over IPv4.
    #[serde(deserialize_with = "flag", serialize_with = "one", skip_serializing_if = "no")]
    pub dont_fragment: bool,
    /// `--skip-rx-copy`: receivers do not copy. Since 3.19.
    #[serde(deserialize_with = "flag", serialize_with = "one", skip_serializing_if = "no")]
    pub skip_rx_copy: bool,
    /// Who it is: see [`super::auth`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub authtoken: Option<String>,
    /// The client's version of iperf3.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub client_version: Option<String>,
    /// What one plumb asks of another beyond that; iperf3 does not look at it.
    #[serde(deserialize_with = "lenient", skip_serializing_if = "Option::is_none")]
    pub plumb: Option<Extension>,
}

/// What iperf3 has no word for. Whoever knows none of it serves the test as iperf3 would.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Extension {
    /// Of this object; 1.
    pub version: u32,
    /// How both ends move bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mode: Option<Mode>,
    /// How often the server takes a sample.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub interval: Option<Nanos>,
    /// CPUs of the server's threads: thread n on the one number n, from the start again after the last.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cpus: Option<Vec<u32>>,
}

/// A stream of a test. Both ends number streams in the order in which they are connected: 1, 3, 4, 5 and so on,
/// for iperf3 never had a 2.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PlannedStream {
    /// Its number.
    pub id: u32,
    /// Which way it flows: never `both`. Where both flow, those that the client sends are connected first.
    pub direction: Direction,
}

impl Params {
    /// Which transport it runs over; TCP where nothing is said.
    #[must_use]
    pub const fn transport(&self) -> Transport {
        if self.udp { Transport::Udp } else { Transport::Tcp }
    }

    /// Which way it flows.
    #[must_use]
    pub const fn direction(&self) -> Direction {
        match (self.bidirectional, self.reverse) {
            (true, _) => Direction::Both,
            (false, true) => Direction::Reverse,
            (false, false) => Direction::Forward,
        }
    }

    /// Its streams in the order in which they are connected; at most 256.
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

/// What a later version says in a way that is unknown here is as if it had not been said.
fn lenient<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Extension>, D::Error> {
    Value::deserialize(from).map(|value| serde_json::from_value(value).ok())
}
