//! Workload settings that a factor can vary.

use serde::{Deserialize, Serialize};
use units::{BitRate, Bytes};
use workload::{
    Direction, Mode, PingPongSettings, Placement, Schedule, SocketSettings, StreamSettings, Transport,
    Waiting, WorkloadSettings,
};

use crate::{names::FactorName, workload::Workload};

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum WorkloadSetting {
    Streams(u32),
    StreamsPer {
        of: FactorName,
        times: u32,
        most: u32,
    },
    Direction(Direction),
    Message(Bytes),
    /// `kernel` selects the host's default.
    Congestion(String),
    Placement(Placement),
    Mode(Mode),
    Rate(Option<BitRate>),
    Waiting(Waiting),
    Open(bool),
}

impl WorkloadSetting {
    pub(crate) fn put(&self, workload: &mut Workload) -> bool {
        let load = &mut workload.load;
        match self {
            Self::Placement(placement) => {
                put(load.kind().has_peer().then_some(&mut workload.placement), placement)
            }
            Self::Streams(streams) | Self::StreamsPer { times: streams, .. } => {
                put(StreamSettings::of_mut(load).map(|stream| &mut stream.streams), streams)
            }
            Self::Direction(direction) => {
                put(StreamSettings::of_mut(load).map(|stream| &mut stream.direction), direction)
            }
            Self::Mode(mode) => put(StreamSettings::of_mut(load).map(|stream| &mut stream.mode), mode),
            Self::Rate(rate) => put(StreamSettings::of_mut(load).map(|stream| &mut stream.rate), rate),
            Self::Congestion(word) => put(tcp(load).map(|socket| &mut socket.congestion), &congestion(word)),
            Self::Waiting(value) => put(waiting(load), value),
            Self::Open(open) => schedule(load).is_some_and(|schedule| {
                if !open {
                    *schedule = Schedule::Closed;
                }
                true
            }),
            Self::Message(size) => {
                workload.default_message = false;
                put(message(load), size)
            }
        }
    }
}

fn put<T: Clone>(place: Option<&mut T>, value: &T) -> bool {
    place.map(|place| place.clone_from(value)).is_some()
}

fn message(load: &mut WorkloadSettings) -> Option<&mut Bytes> {
    if StreamSettings::of(load).is_some() {
        return StreamSettings::of_mut(load).map(|stream| &mut stream.message);
    }
    PingPongSettings::of_mut(load).map(|ping| &mut ping.message)
}

fn schedule(load: &mut WorkloadSettings) -> Option<&mut Schedule> {
    PingPongSettings::of_mut(load).map(|ping| &mut ping.schedule)
}

fn waiting(load: &mut WorkloadSettings) -> Option<&mut Waiting> {
    PingPongSettings::of_mut(load).map(|ping| &mut ping.waiting)
}

fn tcp(load: &mut WorkloadSettings) -> Option<&mut SocketSettings> {
    let is_tcp = load.kind().transport() == Some(Transport::Tcp);
    load.kind_mut().socket_mut().filter(|_| is_tcp)
}

pub(crate) fn congestion(word: &str) -> Option<String> {
    (word != "kernel").then(|| word.to_owned())
}
