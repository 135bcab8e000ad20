//! A factor: what a sweep varies, and its levels.

use serde::{Deserialize, Serialize};
use units::{BitRate, Bytes};
use workload::{Direction, Mode, Placement, Transport, Waiting, WorkloadSettings};

use std::collections::BTreeMap;

use crate::{
    lab::{DeviceSettings, Offloads},
    names::{DeviceRef, FactorName, PathName, WorkloadName},
    path::Path,
    workload::Workload,
};

/// A factor of the scenario.
///
/// It applies to a cell when it can change it: factors of a load to the workloads of their kind, factors of
/// devices to the paths that pass one of the devices, and only to `paths` and `workloads` where the scenario lists some.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Factor {
    /// Its name.
    pub name: FactorName,
    /// The paths it is confined to; empty means all.
    pub paths: Vec<PathName>,
    /// The workloads it is confined to; empty means all that it can change.
    pub workloads: Vec<WorkloadName>,
    /// The devices it sets; empty for factors of the load.
    pub devices: Vec<DeviceRef>,
    /// Its levels, in the order of the document. The first one is the reference of its effect.
    pub levels: Vec<Level>,
}

impl Factor {
    /// Whether it can change what `workload` measures on `path`, and is not confined to others.
    #[must_use]
    pub fn applies_to(&self, path: &Path, workload: &Workload) -> bool {
        let open = (self.paths.is_empty() || self.paths.contains(&path.name))
            && (self.workloads.is_empty() || self.workloads.contains(&workload.name));
        let passes = || self.devices.iter().any(|device| path.devices.contains(device));
        open && self.levels.first().is_some_and(|level| level.setting.changes(&workload.load, passes))
    }

    /// Puts a level into the settings of the factor's devices; nothing for factors of the load.
    pub(crate) fn set(&self, level: usize, settings: &mut BTreeMap<DeviceRef, DeviceSettings>) {
        for device in &self.devices {
            self.levels[level].setting.put(settings.entry(device.clone()).or_default());
        }
    }
}

/// One level of a factor.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Level {
    /// As written in the scenario and shown in reports: `on`, `9000`, `cross-cpu`.
    pub label: String,
    /// What it sets.
    pub setting: Setting,
}

/// What a level sets.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Setting {
    /// Offloads of the factor's devices.
    Offloads(Offloads),
    /// The MTU of the factor's devices.
    Mtu(u32),
    /// BIG TCP sizes of the factor's devices.
    BigTcp(Bytes),
    /// Queues of the factor's devices, each direction.
    Queues(u32),
    /// Parallel connections of a stream.
    Streams(u32),
    /// Parallel connections of a stream, as a multiple of another factor's number.
    StreamsPer {
        /// The other factor.
        of: FactorName,
        /// How many times its number.
        times: u32,
        /// But no more than these.
        most: u32,
    },
    /// Direction of a stream.
    Direction(Direction),
    /// Message size of either load.
    Message(Bytes),
    /// Congestion control of TCP loads; `kernel` leaves the host's own.
    Congestion(String),
    /// Where the two ends run.
    Placement(Placement),
    /// How a stream moves its bytes.
    Mode(Mode),
    /// The rate of each connection of a stream; `None` is as fast as it goes.
    Rate(Option<BitRate>),
    /// How the ends of a ping-pong wait.
    Waiting(Waiting),
    /// Whether a ping-pong keeps the schedule that its workload gives it, or sends when the last message is back.
    Open(bool),
}

impl Setting {
    /// The number that others can be multiples of.
    pub(crate) fn number(&self) -> Option<u32> {
        match self {
            Self::Queues(number) => Some(*number),
            _ => None,
        }
    }

    fn changes(&self, load: &WorkloadSettings, passes: impl FnOnce() -> bool) -> bool {
        match self {
            Self::Offloads(_) | Self::Mtu(_) | Self::BigTcp(_) | Self::Queues(_) => passes(),
            Self::Streams(_) | Self::StreamsPer { .. } => matches!(load, WorkloadSettings::Stream(_)),
            Self::Direction(_) | Self::Mode(_) | Self::Rate(_) => matches!(load, WorkloadSettings::Stream(_)),
            Self::Waiting(_) | Self::Open(_) => matches!(load, WorkloadSettings::PingPong(_)),
            Self::Message(_) => !matches!(load, WorkloadSettings::Connect(_)),
            Self::Placement(_) => true,
            Self::Congestion(_) => load.kind().transport() == Transport::Tcp,
        }
    }

    fn put(&self, device: &mut DeviceSettings) {
        match self {
            Self::Offloads(offloads) => device.offloads = device.offloads.with(*offloads),
            Self::Mtu(mtu) => device.mtu = Some(*mtu),
            Self::BigTcp(size) => device.big_tcp = Some(*size),
            Self::Queues(queues) => device.queues = Some(*queues),
            Self::Streams(_) | Self::StreamsPer { .. } | Self::Direction(_) | Self::Message(_) => {}
            Self::Congestion(_) | Self::Placement(_) | Self::Mode(_) | Self::Rate(_) => {}
            Self::Waiting(_) | Self::Open(_) => {}
        }
    }
}
