//! virtio-mem, which the guest unplugs in blocks. Sources: qapi/machine.json and hw/virtio/virtio-mem.c of
//! QEMU 7.2, VIRTIO 1.2, section 5.15.

use machine::Monitor;
use serde_json::{Value, json};
use units::Bytes;

use crate::{balloon::Balloon, error::MemoryError, limits};

const QUERY: &str = "query-memory-devices";

#[derive(Debug)]
pub(crate) struct VirtioMem {
    monitor: Monitor,
    device: String,
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

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Device {
    pub(crate) id: String,
    pub(crate) node: u32,
    pub(crate) size: Bytes,
    pub(crate) most: Bytes,
    pub(crate) block: Bytes,
}

pub(crate) fn ask_for(monitor: &mut Monitor, path: &str, size: Bytes) -> Result<(), MemoryError> {
    let asked = json!({ "path": path, "property": "requested-size", "value": size.0 });
    monitor.order("qom-set", &asked)?;
    Ok(())
}

pub(crate) fn devices(monitor: &mut Monitor) -> Result<Vec<Device>, MemoryError> {
    let answer = monitor.order(QUERY, &json!({}))?;
    let device = |device: &Value| {
        let (data, size) = (&device["data"], |name: &str| limits::bytes(&device["data"][name]));
        Some(Device {
            id: data["id"].as_str().unwrap_or_default().to_owned(),
            node: u32::try_from(data["node"].as_u64()?).ok()?,
            size: size("size")?,
            most: size("max-size")?,
            block: size("block-size")?,
        })
    };
    let all = answer.as_array().into_iter().flatten();
    let devices = all.filter(|device| device["type"] == "virtio-mem").map(device);
    let devices: Option<Vec<Device>> = devices.collect();
    let possible = |devices: &Vec<Device>| {
        devices.iter().all(|device| device.size <= device.most)
            && limits::sum(devices.iter().map(|device| device.most)).is_some()
    };
    devices.filter(possible).ok_or_else(|| MemoryError::Strange {
        command: QUERY,
        answer: "virtio-mem devices with invalid sizes".to_owned(),
    })
}
