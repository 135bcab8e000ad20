//! Plumb's ping-pong: the traffic engine with one process per end.

use units::{Bytes, Nanos};
use workload::{PingPongSettings, Placement, Transport, Waiting, WorkloadSettings};

use super::{MEASURED, MESSAGE, WARMUP, every};
use crate::{
    ends,
    placement::cpus,
    rounds::{Contender, Measured},
    wire::Wire,
};

pub(super) struct Plumb<'a> {
    pub(super) name: &'static str,
    pub(super) wire: &'a Wire,
    pub(super) transport: Transport,
    pub(super) waiting: Waiting,
    pub(super) placement: Placement,
}

impl Contender for Plumb<'_> {
    fn name(&self) -> &'static str {
        self.name
    }

    fn works_in(&self, round: usize) -> bool {
        round.is_multiple_of(every(self.waiting))
    }

    fn measure(&mut self) -> anyhow::Result<Measured> {
        let load = WorkloadSettings::PingPong(PingPongSettings {
            transport: self.transport,
            message: Bytes(MESSAGE),
            waiting: self.waiting,
            warmup: Nanos::from(WARMUP),
            ..PingPongSettings::new(Nanos::from(MEASURED))
        });
        let client = ends::exchange(self.wire, &load, cpus(&self.placement), WARMUP + MEASURED)?;
        Ok(client.quantiles(|client| client.round_trips)?.to_vec().into())
    }
}
