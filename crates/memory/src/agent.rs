//! The agent method: the guest's agent pins huge pages and reports their addresses, and the host punches
//! holes into the backing file.

use std::fs::File;

use machine::Monitor;
use serde_json::json;
use units::Bytes;

use crate::{
    balloon::{Balloon, GuestAgent},
    error::MemoryError,
    layout::Layout,
    ownership::{BLOCK, Ownership},
    resident::Resident,
};

/// Batches are small, so that little memory in transit is lost if the guest resets.
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

pub fn frees_behind_guests() -> Result<(), MemoryError> {
    let file = sys::memory_file::create("plumb-trial")?;
    let written = std::io::Write::write_all(&mut &file, &vec![1; sys::anonymous_memory::HUGE_PAGE]);
    written.map_err(|error| MemoryError::NotFreed { reason: error.to_string() })?;
    sys::memory_file::punch(&file, 0, BLOCK)?;
    match sys::memory_file::allocated(&file)? {
        0 => Ok(()),
        left => Err(MemoryError::NotFreed { reason: format!("{left} bytes are still allocated") }),
    }
}

impl AgentBalloon {
    pub(crate) fn new(monitor: &mut Monitor, pid: u32) -> Result<Self, MemoryError> {
        let file = Resident::in_one_hand(pid)?;
        let answer = monitor.order(TREE, &json!({ "command-line": "info mtree -f" }))?;
        let layout = Layout::parse(answer.as_str().unwrap_or_default(), MEMORY);
        if layout == Layout::default() {
            return Err(MemoryError::Strange {
                command: TREE,
                answer: "not memory of this machine".to_owned(),
            });
        }
        Ok(Self { file, layout, held: Ownership::default(), wanted: 0 })
    }

    /// A new agent first returns all memory taken by earlier agents.
    pub(crate) fn forget(&mut self) {
        (self.held, self.wanted) = (Ownership::default(), 0);
    }

    /// Frees nothing if any block of the batch is invalid.
    fn free(&mut self, blocks: &[u64]) -> Result<(), MemoryError> {
        let mut batch: Vec<u64> = Vec::new();
        for &block in blocks {
            let taken = self.held.take(block, self.layout.offset(block, BLOCK));
            batch.push(taken.map_err(|reason| MemoryError::NotIts { block, reason })?);
        }
        batch.sort_unstable();
        for together in batch.chunk_by(|one, next| one + BLOCK == *next) {
            sys::memory_file::punch(&self.file, together[0], together.len() as u64 * BLOCK)?;
        }
        Ok(())
    }
}

impl Balloon for AgentBalloon {
    fn ask_for(&mut self, taken: Bytes) -> Result<(), MemoryError> {
        self.wanted = taken.0 / BLOCK;
        Ok(())
    }

    fn taken(&mut self) -> Result<Bytes, MemoryError> {
        Ok(Bytes(self.held.held() * BLOCK))
    }

    fn step(&mut self, guest: &mut dyn GuestAgent) -> Result<bool, MemoryError> {
        let held = self.held.held();
        if self.wanted > held {
            let blocks = guest.take(Bytes(((self.wanted - held) * BLOCK).min(BATCH)))?;
            self.free(&blocks)?;
        } else if self.wanted < held {
            let fewer = held - self.wanted;
            // Change ownership before sending the message, because the guest may use the blocks at once.
            let given = self.held.give_back(fewer);
            guest.give_back(Bytes(given.len() as u64 * BLOCK))?;
        }
        Ok(self.held.held() != held)
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::balloon::resize;

    struct ScriptedGuest(Vec<u64>);

    impl GuestAgent for ScriptedGuest {
        fn take(&mut self, _: Bytes) -> Result<Vec<u64>, MemoryError> {
            Ok(self.0.clone())
        }

        fn give_back(&mut self, _: Bytes) -> Result<(), MemoryError> {
            Ok(())
        }

        fn glance(&mut self, _: Bytes, _: Duration) -> Result<(), MemoryError> {
            Ok(())
        }
    }

    fn machine() -> AgentBalloon {
        let file = sys::memory_file::create("plumb-test-guest").expect("made");
        let content = vec![1; 8 * usize::try_from(BLOCK).expect("it is small")];
        std::io::Write::write_all(&mut &file, &content).expect("there is room");
        let view = "FlatView #0\n AS \"memory\", root: system\n  0000000000000000-0000000000ffffff (prio 0, ram): memory\n";
        let layout = Layout::parse(view, MEMORY);
        AgentBalloon { file, layout, held: Ownership::default(), wanted: 0 }
    }

    fn there(machine: &AgentBalloon) -> u64 {
        sys::memory_file::allocated(&machine.file).expect("a memory file") / BLOCK
    }

    #[test]
    fn frees_blocks_taken_from_guest() {
        let mut machine = machine();
        let done =
            resize(&mut machine, &mut ScriptedGuest(vec![4 * BLOCK, BLOCK, 2 * BLOCK]), Bytes(3 * BLOCK));
        assert_eq!((done.expect("it moves").moved, there(&machine)), (Bytes(3 * BLOCK), 5));
        resize(&mut machine, &mut ScriptedGuest(Vec::new()), Bytes(0)).expect("it is given back");
        assert_eq!(machine.held.held(), 0);
    }

    #[test]
    fn frees_nothing_for_invalid_blocks() {
        for (lie, expected) in [
            (vec![BLOCK, BLOCK], "already"),
            (vec![BLOCK, BLOCK + 4096], "not the start of a 2 MiB block"),
            (vec![BLOCK, 8 * BLOCK], "not memory of this machine"),
            (vec![BLOCK, u64::MAX - BLOCK + 1], "not memory of this machine"),
        ] {
            let mut machine = machine();
            let refused = resize(&mut machine, &mut ScriptedGuest(lie), Bytes(2 * BLOCK)).expect_err("a lie");
            assert!(refused.to_string().contains(expected), "{refused}");
            assert_eq!(there(&machine), 8, "{expected}");
        }
    }
}
