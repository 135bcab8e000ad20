//! A guest's own devices: dressed as the lab says, set, and read. Must not know what a setting is for.

use std::{
    collections::BTreeMap,
    sync::{Mutex, PoisonError},
    thread,
};

use protocol::Reply;
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
        has_its_cpus(lab, host)?;
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
            let states = topology.device_states(devices).map_err(|error| unread(&error))?;
            Ok(Reply::DeviceStates { states })
        })
    }

    pub(crate) fn counters(&self, devices: &[DeviceRef]) -> Result<Reply, Refusal> {
        self.with(|topology| {
            let reading = topology.reading(devices).map_err(|error| unread(&error))?;
            Ok(Reply::DeviceCounters { counters: reading.devices })
        })
    }

    fn with(&self, work: impl FnOnce(&Topology) -> Result<Reply, Refusal>) -> Result<Reply, Refusal> {
        let dressed = self.dressed.lock().unwrap_or_else(PoisonError::into_inner);
        let topology =
            dressed.as_ref().ok_or_else(|| Refusal::new("this guest's devices were not dressed yet"))?;
        work(topology)
    }
}

/// An emulated CPU that is slow to come up is left out by the kernel, with a line on the console.
fn has_its_cpus(lab: &Lab, host: &HostName) -> Result<(), Refusal> {
    let Some(wanted) = lab.vm(host).map(|vm| vm.vcpus as usize) else { return Ok(()) };
    let found = thread::available_parallelism().map_or(0, usize::from);
    if found == wanted {
        return Ok(());
    }
    Err(Refusal::new(format!(
        "virtual machine `{host}` has {found} CPUs where {wanted} were asked for: its kernel did not take them"
    )))
}

fn unread(error: &ReadError) -> Refusal {
    Refusal::new(error.to_string())
}
