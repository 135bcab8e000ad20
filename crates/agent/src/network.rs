//! A guest's own devices: dressed as the lab says, set, and read. Must not know what a setting is for.

use std::{
    collections::BTreeMap,
    sync::{Mutex, PoisonError},
};

use protocol::Reply;
use samples::{DeviceState, PathCounters};
use scenario::{DeviceRef, DeviceSettings, HostName, Lab};
use topology::{ConfigureError, ReadError, Topology};

use crate::refusal::Refusal;

/// The devices of this guest, once they are dressed.
#[derive(Default)]
pub(crate) struct Network {
    dressed: Mutex<Option<Topology>>,
}

impl Network {
    pub(crate) fn dress(&self, lab: &Lab, host: &HostName) -> Result<Reply, Refusal> {
        let topology = Topology::inside(lab, host).map_err(|error| Refusal::new(error.to_string()))?;
        if let Some(missing) = topology.missing().first() {
            return Err(Refusal { because: missing.to_string(), unsupported: true });
        }
        *self.dressed.lock().unwrap_or_else(PoisonError::into_inner) = Some(topology);
        Ok(Reply::Done)
    }

    pub(crate) fn configure(&self, devices: &BTreeMap<DeviceRef, DeviceSettings>) -> Result<Reply, Refusal> {
        self.with(|topology| {
            topology.configure(devices).map_err(|error| Refusal {
                unsupported: matches!(error, ConfigureError::Unsupported { .. }),
                because: error.to_string(),
            })?;
            Ok(Reply::Done)
        })
    }

    pub(crate) fn states(&self, devices: &[DeviceRef]) -> Result<Reply, Refusal> {
        self.with(|topology| {
            let states = topology.device_states(devices).map_err(unread)?;
            Ok(Reply::DeviceStates(states.iter().map(DeviceState::from).collect()))
        })
    }

    pub(crate) fn counters(&self, devices: &[DeviceRef]) -> Result<Reply, Refusal> {
        self.with(|topology| {
            let reading = topology.reading(devices).map_err(unread)?;
            Ok(Reply::DeviceCounters(PathCounters::from(&reading).devices))
        })
    }

    fn with(&self, work: impl FnOnce(&Topology) -> Result<Reply, Refusal>) -> Result<Reply, Refusal> {
        let dressed = self.dressed.lock().unwrap_or_else(PoisonError::into_inner);
        let topology =
            dressed.as_ref().ok_or_else(|| Refusal::new("this guest's devices were not dressed yet"))?;
        work(topology)
    }
}

fn unread(error: ReadError) -> Refusal {
    Refusal::new(error.to_string())
}
