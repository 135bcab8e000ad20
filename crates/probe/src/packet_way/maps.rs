//! The maps of packet_way.bpf.c. The layouts mirror packet.h and trail.h.

use std::net::IpAddr;

use protocol::{BreakdownOrder, Subject};
use samples::CpuConsumer;
use workload::{LatencyHistogram, Transport};

use super::histogram::{self, BUCKETS};
use crate::{
    bpf::{BpfObject, Subjects, failed},
    observe::ProbeError,
};

/// These mirror `POINTS`, `WAYS` and `COUNTS` in trail.h.
pub(super) const POINTS: usize = 64;
const WAYS: u32 = 16;
const LOST: u32 = 0;
const EVENTS_LEFT_OUT: u32 = 1;
const WAYS_SEEN: u32 = 2;
/// These mirror `struct trail`, `struct way` and `struct settings`, in 8-byte words.
const TRAIL: usize = 14 + 4 * POINTS;
const WAY: usize = 2 + 3 * POINTS;
const SETTINGS: usize = 7;
/// These mirror `enum role` in packet_way.bpf.c.
const CLIENT: u32 = 1;
const SERVER: u32 = 2;

pub(super) struct Maps<'a>(pub(super) &'a mut BpfObject);

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct RouteMaps {
    pub(super) lost: u64,
    pub(super) events_left_out: u64,
    pub(super) ways: Vec<MessageRoute>,
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct MessageRoute {
    pub(super) taken: u64,
    pub(super) points: Vec<Point>,
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Point {
    pub(super) event: u8,
    pub(super) namespace: u64,
    pub(super) index: u32,
    pub(super) device: String,
}

impl Maps<'_> {
    pub(super) fn clear(&mut self) -> Result<(), ProbeError> {
        set(self.0, "trails", 0, [0_u64; TRAIL])?;
        let used = self.used()?;
        for way in 0..used {
            set(self.0, "ways", way, [0_u64; WAY])?;
            for place in 0..POINTS as u32 {
                set(self.0, "times", way * POINTS as u32 + place, [0_u32; BUCKETS])?;
            }
        }
        for count in [LOST, EVENTS_LEFT_OUT, WAYS_SEEN] {
            set(self.0, "counts", count, 0_u64)?;
        }
        self.0.replace::<u64, u32>("numbers", &[])
    }

    pub(super) fn follow(&mut self, way: &BreakdownOrder, subjects: &[Subject]) -> Result<(), ProbeError> {
        let subjects_of = |consumer| subjects.iter().filter(move |subject| subject.consumer == consumer);
        let clients = subjects_of(CpuConsumer::Client).map(|end| (CLIENT, end));
        self.0.set_subjects(&Subjects::of(
            clients.chain(subjects_of(CpuConsumer::Server).map(|end| (SERVER, end))),
        ))?;
        set(self.0, "wanted", 0, settings(way, subjects_of(CpuConsumer::Server).next().is_some()))
    }

    pub(super) fn routes(&mut self) -> Result<RouteMaps, ProbeError> {
        let ways = (0..self.used()?)
            .map(|way| Ok(read_route(&get(self.0, "ways", way)?)))
            .collect::<Result<_, _>>()?;
        let lost = get(self.0, "counts", LOST)?;
        Ok(RouteMaps { lost, events_left_out: get(self.0, "counts", EVENTS_LEFT_OUT)?, ways })
    }

    pub(super) fn times(&mut self, way: usize, place: usize) -> Result<LatencyHistogram, ProbeError> {
        let number = u32::try_from(way * POINTS + place).expect("16 ways of 64 points");
        Ok(histogram::open(&get::<[u32; BUCKETS]>(self.0, "times", number)?))
    }

    fn used(&mut self) -> Result<u32, ProbeError> {
        Ok(get::<u64>(self.0, "counts", WAYS_SEEN)?.min(u64::from(WAYS)) as u32)
    }
}

/// Builds `struct settings` (packet.h). The address and port are in network byte order.
fn settings(way: &BreakdownOrder, knows_server: bool) -> [u64; SETTINGS] {
    let transport = match way.transport {
        Transport::Tcp => 6,
        Transport::Udp => 17,
    };
    let [first, second] = match way.server {
        IpAddr::V4(address) => [u32::from_ne_bytes(address.octets()).into(), 0],
        IpAddr::V6(address) => {
            let bits = address.to_bits();
            [((bits >> 64) as u64).to_be(), (bits as u64).to_be()]
        }
    };
    [
        first,
        second,
        u64::from(way.port.to_be()),
        transport,
        way.message.0,
        u64::from(way.every.max(1)),
        u64::from(knows_server),
    ]
}

fn read_route(words: &[u64; WAY]) -> MessageRoute {
    let points = words[2..].chunks_exact(3).take(words[0] as usize);
    let read = |words: &[u64]| Point {
        event: (words[0] >> 56) as u8,
        namespace: words[0] & 0xffff_ffff,
        index: (words[0] >> 32) as u32 & 0x00ff_ffff,
        device: read_name([words[1], words[2]]),
    };
    MessageRoute { taken: words[1], points: points.map(read).collect() }
}

fn read_name(words: [u64; 2]) -> String {
    let bytes = words.map(u64::to_ne_bytes).concat();
    let name = bytes.split(|byte| *byte == 0).next().unwrap_or_default();
    String::from_utf8_lossy(name).into_owned()
}

fn get<V: aya::Pod>(loaded: &mut BpfObject, map: &str, at: u32) -> Result<V, ProbeError> {
    loaded.array::<V>(map)?.get(&at, 0).map_err(|error| failed("read", map, &error))
}

fn set<V: aya::Pod>(loaded: &mut BpfObject, map: &str, at: u32, value: V) -> Result<(), ProbeError> {
    loaded.array::<V>(map)?.set(at, value, 0).map_err(|error| failed("write", map, &error))
}
