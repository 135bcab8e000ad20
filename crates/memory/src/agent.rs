//! The agent's balloon: the guest's agent takes huge pages that stay where they are, tells where they lie, and the host punches
//! holes into the file behind them: no exit and no message a page. Growing is the reverse.

use std::fs::File;

use machine::Monitor;
use serde_json::json;
use units::Bytes;

use crate::{
    balloon::{Balloon, Guest},
    error::MemoryError,
    layout::Layout,
    ownership::{BLOCK, Handed, Ownership},
    resident::Resident,
};

/// What is taken in one message: short enough that little is in nobody's hand when the guest is reset meanwhile.
const BATCH: u64 = 64 << 20;
const MEMORY: &str = "memory";
const TREE: &str = "human-monitor-command";

#[derive(Debug)]
pub(crate) struct AgentBalloon {
    file: File,
    layout: Layout,
    held: Ownership,
    wanted: u64,
}

impl AgentBalloon {
    pub(crate) fn new(mut monitor: Monitor, pid: u32) -> Result<Self, MemoryError> {
        let file = Resident::in_one_hand(pid)?;
        let answer = monitor.order(TREE, &json!({ "command-line": "info mtree -f" }))?;
        let layout = Layout::parse(answer.as_str().unwrap_or_default(), MEMORY);
        if layout == Layout::default() {
            return Err(MemoryError::Strange {
                command: TREE,
                answer: "no memory of this machine's".to_owned(),
            });
        }
        Ok(Self { file, layout, held: Ownership::default(), wanted: 0 })
    }

    /// Frees what the guest has just handed over. Nothing of a batch is freed in which anything is wrong.
    fn free(&mut self, blocks: &[u64]) -> Result<(), MemoryError> {
        let mut batch: Vec<Handed> = Vec::new();
        for &block in blocks {
            let taken = self.held.take(block, self.layout.offset(block, BLOCK));
            batch.push(taken.map_err(|because| MemoryError::NotIts { block, because })?);
        }
        batch.sort_by_key(|handed| handed.offset);
        for together in batch.chunk_by(|one, next| one.offset + BLOCK == next.offset) {
            sys::memory_file::punch(&self.file, together[0].offset, together.len() as u64 * BLOCK)?;
        }
        Ok(())
    }
}

impl Balloon for AgentBalloon {
    fn ask_for(&mut self, taken: Bytes) -> Result<(), MemoryError> {
        self.wanted = taken.0 / BLOCK;
        Ok(())
    }

    fn taken(&mut self, guest: &mut dyn Guest) -> Result<Bytes, MemoryError> {
        let held = self.held.held();
        if self.wanted > held {
            let blocks = guest.take(Bytes(((self.wanted - held) * BLOCK).min(BATCH)))?;
            self.free(&blocks)?;
        } else if self.wanted < held {
            let fewer = held - self.wanted;
            // From here on the guest may use them, so they are its own before it is told.
            self.held.give_back(fewer);
            guest.give_back(Bytes(fewer * BLOCK))?;
        }
        Ok(Bytes(self.held.held() * BLOCK))
    }

    fn steps(&self) -> bool {
        true
    }
}
