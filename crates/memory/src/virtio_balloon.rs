//! virtio-balloon, which frees single pages. Sources: qapi/machine.json of QEMU 7.2, VIRTIO 1.2, section 5.5.

use machine::Monitor;
use serde_json::json;
use units::Bytes;

use crate::{balloon::Balloon, error::MemoryError, limits};

const QUERY: &str = "query-balloon";

#[derive(Debug)]
pub(crate) struct VirtioBalloon {
    monitor: Monitor,
    all: u64,
}

impl VirtioBalloon {
    pub(crate) fn new(mut monitor: Monitor) -> Result<Self, MemoryError> {
        let all = actual(&mut monitor)?;
        Ok(Self { monitor, all })
    }
}

impl Balloon for VirtioBalloon {
    fn ask_for(&mut self, taken: Bytes) -> Result<(), MemoryError> {
        ask_for(&mut self.monitor, Bytes(self.all.saturating_sub(taken.0)))
    }

    fn taken(&mut self) -> Result<Bytes, MemoryError> {
        Ok(Bytes(self.all.saturating_sub(actual(&mut self.monitor)?)))
    }
}

pub(crate) fn ask_for(monitor: &mut Monitor, size: Bytes) -> Result<(), MemoryError> {
    monitor.order("balloon", &json!({ "value": size.0 }))?;
    Ok(())
}

pub(crate) fn actual(monitor: &mut Monitor) -> Result<u64, MemoryError> {
    let answer = monitor.order(QUERY, &json!({}))?;
    let actual = limits::bytes(&answer["actual"]).map(|actual| actual.0);
    actual.ok_or_else(|| MemoryError::Strange { command: QUERY, answer: answer.to_string() })
}
