//! virtio-mem: a device with memory of its own, of which the guest gives blocks back. Source: qapi/machine.json and
//! hw/virtio/virtio-mem.c of QEMU 7.2, VIRTIO 1.2, section 5.15.

use machine::Monitor;
use serde_json::{Value, json};
use units::Bytes;

use crate::{balloon::Balloon, error::MemoryError};

const QUERY: &str = "query-memory-devices";

#[derive(Debug)]
pub(crate) struct VirtioMem {
    monitor: Monitor,
    /// What QEMU calls its device.
    device: String,
    /// What the device has when nothing is taken.
    all: u64,
}

impl VirtioMem {
    pub(crate) fn new(monitor: Monitor, device: &str, all: Bytes) -> Self {
        Self { monitor, device: device.to_owned(), all: all.0 }
    }
}

impl Balloon for VirtioMem {
    fn ask_for(&mut self, taken: Bytes) -> Result<(), MemoryError> {
        let path = format!("/machine/peripheral/{}", self.device);
        ask_for(&mut self.monitor, &path, Bytes(self.all.saturating_sub(taken.0)))
    }

    fn taken(&mut self) -> Result<Bytes, MemoryError> {
        let devices = devices(&mut self.monitor)?;
        let device = devices.into_iter().find(|device| device.id == self.device);
        let size = device.map(|device| device.size);
        let answer = format!("no device `{}`", self.device);
        let size = size.ok_or(MemoryError::Strange { command: QUERY, answer })?;
        Ok(Bytes(self.all.saturating_sub(size.0)))
    }
}

/// A device, as QEMU tells of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Device {
    /// Empty of one that was given none.
    pub(crate) id: String,
    /// Of the guest's NUMA nodes.
    pub(crate) node: u32,
    pub(crate) size: Bytes,
    pub(crate) most: Bytes,
    /// Sizes are multiples of this.
    pub(crate) block: Bytes,
}

/// Asks that the device at this path of QEMU's have so much.
pub(crate) fn ask_for(monitor: &mut Monitor, path: &str, size: Bytes) -> Result<(), MemoryError> {
    let asked = json!({ "path": path, "property": "requested-size", "value": size.0 });
    monitor.order("qom-set", &asked)?;
    Ok(())
}

/// All virtio-mem devices of a machine.
pub(crate) fn devices(monitor: &mut Monitor) -> Result<Vec<Device>, MemoryError> {
    let answer = monitor.order(QUERY, &json!({}))?;
    let device = |device: &Value| {
        let (data, number) = (&device["data"], |name: &str| device["data"][name].as_u64());
        (device["type"] == "virtio-mem").then_some(())?;
        Some(Device {
            id: data["id"].as_str().unwrap_or_default().to_owned(),
            node: u32::try_from(number("node")?).ok()?,
            size: Bytes(number("size")?),
            most: Bytes(number("max-size")?),
            block: Bytes(number("block-size")?),
        })
    };
    Ok(answer.as_array().into_iter().flatten().filter_map(device).collect())
}
