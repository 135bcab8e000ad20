//! Executes memory orders in a guest: touching, taking and returning memory, and detecting stalls.
#![expect(clippy::disallowed_methods, reason = "stall detection sleeps, and compaction writes to /proc")]

mod background;
mod guard;
mod touch;
mod watch;

use std::path::Path;

use memory::GuestTelemetry;
use parking_lot::Mutex;
use protocol::{MemoryOrder, MemoryReply, Reply};
use sys::{
    anonymous_memory::{AnonymousMemory, HUGE_PAGE},
    huge_page_file::HugePageFile,
};

use self::{
    touch::{touch, touch_free},
    watch::Watch,
};
use crate::refusal::Refusal;

const FOLDER: &str = "/run/plumb-balloon";

#[derive(Default)]
pub(crate) struct GuestMemory {
    taken: Mutex<Option<HugePageFile>>,
    held: Mutex<Option<AnonymousMemory>>,
    watch: Mutex<Option<Watch>>,
    telemetry: Mutex<GuestTelemetry>,
}

impl GuestMemory {
    pub(crate) fn obey(&self, order: MemoryOrder) -> Result<Reply, Refusal> {
        let done = match order {
            MemoryOrder::Touch { memory } => touch(memory.0)?.1,
            MemoryOrder::TouchFree => touch_free()?.1,
            MemoryOrder::Hold => {
                let (memory, done) = touch_free()?;
                *self.held.lock() = Some(memory);
                done
            }
            MemoryOrder::Release => {
                *self.held.lock() = None;
                MemoryReply::Done
            }
            MemoryOrder::Watch { compact } => {
                *self.watch.lock() = Some(Watch::begin(compact)?);
                MemoryReply::Done
            }
            MemoryOrder::Watched => {
                let watch = self.watch.lock().take();
                let watch = watch.ok_or_else(|| Refusal::new("no watch is running"))?;
                watch.end()?
            }
            MemoryOrder::Take { memory } => self.take(memory.0 / HUGE_PAGE as u64)?,
            MemoryOrder::GiveBack { memory } => {
                if let Some(taken) = self.taken.lock().as_mut() {
                    taken.shrink(memory.0 / HUGE_PAGE as u64)?;
                }
                MemoryReply::Done
            }
            MemoryOrder::Telemetry { source } => {
                let telemetry = self.telemetry.lock().look(source);
                MemoryReply::Telemetry(telemetry.map_err(|error| Refusal::new(error.to_string()))?)
            }
        };
        Ok(Reply::Memory { done })
    }

    fn take(&self, pages: u64) -> Result<MemoryReply, Refusal> {
        let mut taken = self.taken.lock();
        if taken.is_none() {
            *taken = Some(HugePageFile::create(Path::new(FOLDER))?);
        }
        let blocks = taken.as_mut().expect("just made").grow(pages)?;
        Ok(MemoryReply::Taken { blocks })
    }
}
