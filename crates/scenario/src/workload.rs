//! A resolved workload and its paths.

use std::collections::HashSet;

use serde::{Deserialize, Serialize};
use units::Bytes;
use workload::{Mode, Placement, StreamSettings, Transport, WorkloadSettings};

use crate::names::{PathName, WorkloadName};

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Workload {
    pub name: WorkloadName,
    pub load: WorkloadSettings,
    /// Whether the stream uses the default message size of its mode.
    pub default_message: bool,
    pub placement: Placement,
    pub paths: Vec<PathName>,
}

impl Workload {
    /// Returns a set, because there may be a million paths.
    pub(crate) fn path_set(&self) -> HashSet<&PathName> {
        self.paths.iter().collect()
    }

    pub(crate) fn without_paths(&self) -> Self {
        let Self { name, load, default_message, placement, paths: _ } = self;
        let (name, load, placement) = (name.clone(), load.clone(), placement.clone());
        Self { name, load, default_message: *default_message, placement, paths: Vec::new() }
    }

    pub(crate) fn size_writes(&mut self) {
        if let Some(stream) = StreamSettings::of_mut(&mut self.load).filter(|_| self.default_message) {
            stream.message = stream_message(stream.transport, stream.mode);
        }
    }
}

/// Datagrams of 1400 bytes fit most labs, including a VXLAN tunnel over Ethernet (1450 bytes, minus 28 for
/// IPv4 and UDP).
pub(crate) const fn stream_message(transport: Transport, mode: Mode) -> Bytes {
    match (transport, mode) {
        (Transport::Udp, _) => Bytes(1400),
        (Transport::Tcp, Mode::App) => Bytes(128 << 10),
        (Transport::Tcp, Mode::Limit) => Bytes(1 << 20),
    }
}
