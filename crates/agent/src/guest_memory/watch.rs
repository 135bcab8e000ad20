//! Detects stalls and damage while memory moves.

use std::thread::JoinHandle;

use probe::CpuReading;
use protocol::MemoryReply;
use units::Nanos;

use super::{background::Background, guard::Guard};
use crate::refusal::Refusal;

pub(super) struct Watch {
    background: Background,
    sleeper: JoinHandle<Nanos>,
    before: CpuReading,
    guard: Guard,
}

impl Watch {
    pub(super) fn begin(compact: bool) -> Result<Self, Refusal> {
        let (guard, before) = (Guard::fill(), cpu()?);
        let background = Background::default();
        let sleeper = background.detect_stalls()?;
        if compact {
            background.compact()?;
        }
        Ok(Self { background, sleeper, before, guard })
    }

    pub(super) fn end(self) -> Result<MemoryReply, Refusal> {
        drop(self.background);
        let machine = cpu()?.since(&self.before);
        let longest_stall = self.sleeper.join().unwrap_or_default();
        let (guarded, damaged) = (Guard::SIZE, self.guard.damaged());
        Ok(MemoryReply::Watched { longest_stall, guarded, damaged, machine })
    }
}

fn cpu() -> Result<CpuReading, Refusal> {
    CpuReading::now().map_err(|error| Refusal::new(error.to_string()))
}
