//! The agent's balloon: the guest's agent takes huge pages that stay where they are, tells where they lie, and the host punches
//! holes into the file behind them: no exit and no message a page. Growing is the reverse.

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

/// Whether this kernel frees what is handed over, tried with a file of its own.
///
/// # Errors
/// When it has no memory files, or does not free parts of them.
pub fn frees_behind_guests() -> Result<(), MemoryError> {
    let file = sys::memory_file::create("plumb-trial")?;
    let written = std::io::Write::write_all(&mut &file, &vec![1; sys::anonymous_memory::HUGE_PAGE]);
    written.map_err(|error| MemoryError::NotFreed { because: error.to_string() })?;
    sys::memory_file::punch(&file, 0, BLOCK)?;
    match sys::memory_file::allocated(&file)? {
        0 => Ok(()),
        left => Err(MemoryError::NotFreed { because: format!("{left} bytes are still there") }),
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
                answer: "no memory of this machine's".to_owned(),
            });
        }
        Ok(Self { file, layout, held: Ownership::default(), wanted: 0 })
    }

    /// Another agent is in the guest, or none: it begins by giving back what those before it have left, so all is the guest's.
    pub(crate) fn forget(&mut self) {
        (self.held, self.wanted) = (Ownership::default(), 0);
    }

    /// Frees what the guest has just handed over. Nothing of a batch is freed in which anything is wrong.
    fn free(&mut self, blocks: &[u64]) -> Result<(), MemoryError> {
        let mut batch: Vec<u64> = Vec::new();
        for &block in blocks {
            let taken = self.held.take(block, self.layout.offset(block, BLOCK));
            batch.push(taken.map_err(|because| MemoryError::NotIts { block, because })?);
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
            // From here on the guest may use them, so they are its own before it is told.
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

    /// A guest that hands over these blocks, whatever it is asked for.
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

    /// Eight blocks of memory, all of them there, from the guest's address zero on.
    fn machine() -> AgentBalloon {
        let file = sys::memory_file::create("plumb-test-guest").expect("made");
        let content = vec![1; 8 * usize::try_from(BLOCK).expect("it is small")];
        std::io::Write::write_all(&mut &file, &content).expect("there is room");
        let view = "FlatView #0\n AS \"memory\", root: system\n  0000000000000000-0000000000ffffff (prio 0, ram): memory\n";
        let layout = Layout::parse(view, MEMORY);
        AgentBalloon { file, layout, held: Ownership::default(), wanted: 0 }
    }

    fn there(machine: &AgentBalloon) -> u64 {
        sys::memory_file::allocated(&machine.file).expect("told") / BLOCK
    }

    #[test]
    fn what_is_handed_over_is_free_on_the_host() {
        let mut machine = machine();
        let done =
            resize(&mut machine, &mut ScriptedGuest(vec![4 * BLOCK, BLOCK, 2 * BLOCK]), Bytes(3 * BLOCK));
        assert_eq!((done.expect("it moves").moved, there(&machine)), (Bytes(3 * BLOCK), 5));
        resize(&mut machine, &mut ScriptedGuest(Vec::new()), Bytes(0)).expect("it is given back");
        assert_eq!(machine.held.held(), 0);
    }

    #[test]
    fn of_a_guest_that_lies_nothing_is_freed() {
        for (lie, said) in [
            (vec![BLOCK, BLOCK], "already"),
            (vec![BLOCK, BLOCK + 4096], "no beginning of a block"),
            (vec![BLOCK, 8 * BLOCK], "no memory of this machine's"),
            (vec![BLOCK, u64::MAX - BLOCK + 1], "no memory of this machine's"),
        ] {
            let mut machine = machine();
            let refused = resize(&mut machine, &mut ScriptedGuest(lie), Bytes(2 * BLOCK)).expect_err("a lie");
            assert!(refused.to_string().contains(said), "{refused}");
            assert_eq!(there(&machine), 8, "{said}");
        }
    }
}
