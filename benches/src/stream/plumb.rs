//! Plumb's streams: the traffic engine with one process per end.

use std::process::Command;

use workload::{Mode, Placement, SocketSettings, StreamSettings, WorkloadSettings};

use super::{CONGESTION, LARGE, Report, Tool, for_a_time};
use crate::{
    ends,
    placement::cpus,
    process::{ProgramOutput, Running},
    wire::Wire,
};

pub(super) struct Plumb {
    pub(super) load: StreamSettings,
    pub(super) placement: Placement,
}

impl Plumb {
    pub(super) fn as_it_comes(placement: Placement) -> Self {
        Self { load: StreamSettings::new(for_a_time()), placement }
    }

    pub(super) fn app(placement: Placement) -> Self {
        let socket = SocketSettings { congestion: Some(CONGESTION.into()), ..SocketSettings::kernel() };
        Self { load: StreamSettings { socket, ..StreamSettings::new(for_a_time()) }, placement }
    }

    pub(super) fn limit(placement: Placement) -> Self {
        let Self { load, placement } = Self::app(placement);
        Self { load: StreamSettings { mode: Mode::Limit, message: LARGE, ..load }, placement }
    }

    fn cpus(&self) -> [Option<Vec<u32>>; 2] {
        cpus(&self.placement).map_or([None, None], |both| both.map(Some))
    }
}

impl Tool for Plumb {
    fn serve(&self, wire: &Wire, wrap: fn(Command) -> Command) -> anyhow::Result<(Running, u16)> {
        let [_, server] = self.cpus();
        ends::serve(wire, &WorkloadSettings::Stream(self.load.clone()), server, wrap)
    }

    fn send(&self, wire: &Wire, port: u16, wrap: fn(Command) -> Command) -> anyhow::Result<Running> {
        let [client, _] = self.cpus();
        ends::connect(wire, port, &WorkloadSettings::Stream(self.load.clone()), client, wrap)
    }

    fn report(&self, client: &ProgramOutput, server: &ProgramOutput) -> anyhow::Result<Report> {
        let (client, server) = (ends::account(client)?, ends::account(server)?);
        let share_lost = |(arrived, lost): (u64, i64)| {
            let lost = lost.max(0) as f64;
            (arrived, lost / (arrived as f64 + lost))
        };
        Ok(Report {
            received: server.bytes,
            seconds: server.seconds,
            retransmits: server.datagrams.is_none().then_some(client.retransmits),
            datagrams: server.datagrams.map(share_lost),
        })
    }
}
