//! Counts the system calls of selected processes by thread and call.

mod counts;
mod fold;
pub(crate) mod names;
mod settings;
mod slot;
#[cfg(test)]
mod tests;
mod under_way;

use protocol::Subject;
use samples::{Overflow, ProbeKind, ProbeResults};

use crate::{
    bpf::{BpfObject, Hook, failed},
    observe::{Probe, ProbeError, Watch},
};
use slot::{Slot, Words};

/// The maximum number of thread and call pairs, at 280 bytes each. Further pairs are reported as an overflow.
const SLOTS: u32 = 65_536;

const ROWS: usize = 10_000;

static OBJECT: &[u8] = aya::include_bytes_aligned!(concat!(env!("OUT_DIR"), "/syscalls.bpf.o"));

const HOOKS: [Hook; 7] = [
    // The exit program is attached before the entry program, so that no partial call is counted.
    Hook::needed("leave", "sys_exit"),
    Hook::needed("switched", "sched_switch"),
    Hook::needed("forked", "sched_process_fork"),
    Hook::needed("ended", "sched_process_exit"),
    Hook::optional("guest_entered", "kvm_entry"),
    Hook::optional("guest_left", "kvm_exit"),
    Hook::needed("enter", "sys_enter"),
];

pub(crate) fn probe() -> Result<Box<dyn Probe>, ProbeError> {
    Ok(Box::new(Syscalls::new(SLOTS)?))
}

struct Syscalls {
    loaded: BpfObject,
    slots: u32,
    epoch: u32,
    subjects: Vec<Subject>,
    stopped: Option<Vec<Slot>>,
}

impl Syscalls {
    fn new(slots: u32) -> Result<Self, ProbeError> {
        let mut loaded = BpfObject::new(OBJECT, &HOOKS, &[("slots", slots)])?;
        under_way::load(&mut loaded)?;
        Ok(Self { loaded, slots, epoch: 0, subjects: Vec::new(), stopped: Some(Vec::new()) })
    }

    fn slots(&mut self, taken: u32) -> Result<Vec<Slot>, ProbeError> {
        let array = self.loaded.array::<Words>("slots")?;
        let read = (0..taken).map(|index| array.get(&index, 0).map(|words| Slot::of(&words)));
        let slots = read.collect::<Result<Vec<_>, _>>().map_err(|error| failed("read", "slots", &error))?;
        Ok(slots.into_iter().filter(|slot| slot.epoch == self.epoch && slot.calls > 0).collect())
    }
}

impl Probe for Syscalls {
    fn kind(&self) -> ProbeKind {
        ProbeKind::Syscalls
    }

    fn start(&mut self, watch: &Watch) -> Result<(), ProbeError> {
        self.loaded.detach();
        self.epoch += 1;
        self.subjects.clone_from(&watch.subjects);
        settings::begin(&mut self.loaded, watch, self.epoch, self.slots)?;
        self.stopped = None;
        self.loaded.attach()
    }

    fn read(&mut self, results: &mut ProbeResults) -> Result<(), ProbeError> {
        let counters = settings::counters(&mut self.loaded)?;
        let ended = self.slots(counters.taken.min(self.slots))?;
        let under_way = match &self.stopped {
            Some(then) => then.clone(),
            None => under_way::calls(&mut self.loaded)?,
        };
        let counts = counts::counts(&ended, &under_way, &self.subjects);
        results.syscalls = fold::fold(counts.ended, ROWS);
        results.under_way = fold::fold(counts.under_way, ROWS);
        if counters.overflowed > 0 {
            results.overflowed.push(Overflow { probe: ProbeKind::Syscalls, events: counters.overflowed });
        }
        Ok(())
    }

    fn stop(&mut self) {
        if self.stopped.is_none() {
            self.stopped = Some(under_way::calls(&mut self.loaded).unwrap_or_default());
        }
        self.loaded.detach();
    }
}
