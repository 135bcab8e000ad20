//! A workload: what is sent over which paths, with every default filled in.

use std::collections::HashSet;

use serde::{Deserialize, Serialize};
use units::Bytes;
use workload::{Mode, Placement, StreamSettings, Transport, WorkloadSettings};

use crate::names::{PathName, WorkloadName};

/// A workload of the scenario.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Workload {
    pub name: WorkloadName,
    /// What is sent.
    pub load: WorkloadSettings,
    /// Whether a stream's size of writes is the default, so that it follows the mode.
    pub default_message: bool,
    /// Where the ends run.
    pub placement: Placement,
    /// The paths it runs on, in the order of the document.
    pub paths: Vec<PathName>,
}

impl Workload {
    /// Its paths, for whoever asks of each path of a scenario: pairs of a thousand hosts are a million paths.
    pub(crate) fn path_set(&self) -> HashSet<&PathName> {
        self.paths.iter().collect()
    }

    /// What a cell needs of it: there are as many cells as paths.
    pub(crate) fn without_paths(&self) -> Self {
        let Self { name, load, default_message, placement, paths: _ } = self;
        let (name, load, placement) = (name.clone(), load.clone(), placement.clone());
        Self { name, load, default_message: *default_message, placement, paths: Vec::new() }
    }

    /// Gives a stream whose size of writes is the default the one of its mode.
    pub(crate) fn size_writes(&mut self) {
        if let Some(stream) = StreamSettings::of_mut(&mut self.load).filter(|_| self.default_message) {
            stream.message = stream_message(stream.transport, stream.mode);
        }
    }
}

/// The size of a stream's writes, or of its datagrams' payload, where the scenario says none. Datagrams of 1400 bytes
/// fit a VXLAN tunnel over Ethernet (1450, less 28 of IPv4 and UDP) and so every path of a usual lab alike.
pub(crate) const fn stream_message(transport: Transport, mode: Mode) -> Bytes {
    match (transport, mode) {
        (Transport::Udp, _) => Bytes(1400),
        (Transport::Tcp, Mode::App) => Bytes(128 << 10),
        (Transport::Tcp, Mode::Limit) => Bytes(1 << 20),
    }
}
