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
        let value = self.all.saturating_sub(taken.0);
        let path = format!("/machine/peripheral/{}", self.device);
        let asked = json!({ "path": path, "property": "requested-size", "value": value });
        self.monitor.order("qom-set", &asked)?;
        Ok(())
    }

    fn taken(&mut self) -> Result<Bytes, MemoryError> {
        let answer = self.monitor.order(QUERY, &json!({}))?;
        let is_it = |device: &&Value| device["data"]["id"] == self.device;
        let device = answer.as_array().into_iter().flatten().find(is_it);
        let size = device.and_then(|device| device["data"]["size"].as_u64());
        let size = size.ok_or_else(|| MemoryError::Strange { command: QUERY, answer: answer.to_string() })?;
        Ok(Bytes(self.all.saturating_sub(size)))
    }
}
