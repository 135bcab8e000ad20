//! Calls that have not ended when the probe is read: the kernel's program goes through all tasks then. Must not know
//! what a number of a call means.

use std::{fs::File, io::Read};

use aya::{
    Btf,
    programs::{Iter, Program},
};

use super::slot::{Slot, halves, text};
use crate::{bpf::BpfObject, observe::ProbeError};

const PROGRAM: &str = "each_task";
/// `struct under_way` of records.h in words.
const WORDS: usize = 11;

/// Loads the program that goes through the tasks.
pub(super) fn load(loaded: &mut BpfObject) -> Result<(), ProbeError> {
    let btf = Btf::from_sys_fs().map_err(|_| unreadable("the kernel tells its types no more"))?;
    program(loaded)?.load("task", &btf).map_err(|_| unreadable("the kernel does not take its program"))
}

/// The number of no call, -1 in the kernel's registers.
const NONE: u32 = u32::MAX;

/// One slot without a count for each call that is under way; the times are those so far.
pub(super) fn calls(loaded: &mut BpfObject) -> Result<Vec<Slot>, ProbeError> {
    let program = program(loaded)?;
    let link = program.attach().and_then(|id| program.take_link(id));
    let link = link.map_err(|_| unreadable("the kernel does not attach its program"))?;
    let file: File = link.into_file().map_err(|_| unreadable("the kernel does not run its program"))?;
    let mut bytes = Vec::new();
    { file }.read_to_end(&mut bytes).map_err(|error| unreadable(&error.to_string()))?;
    let all = (0..).zip(bytes.chunks_exact(WORDS * 8)).map(|(place, record)| slot(place, record));
    // A thread that is on its way out of a call has none any more.
    Ok(all.filter(|slot| slot.number != NONE).collect())
}

fn program(loaded: &mut BpfObject) -> Result<&mut Iter, ProbeError> {
    match loaded.program(PROGRAM) {
        Some(Program::Iter(program)) => Ok(program),
        _ => Err(unreadable("the object lacks its program")),
    }
}

fn unreadable(because: &str) -> ProbeError {
    ProbeError::Failed { operation: "look for calls under way".to_owned(), because: because.to_owned() }
}

/// A call that begins on another CPU while the tasks are gone through begins after the time that it is held against.
const fn elapsed(nanos: u64) -> u64 {
    if nanos > i64::MAX as u64 { 0 } else { nanos }
}

fn slot(place: u32, record: &[u8]) -> Slot {
    let mut words = [0; WORDS];
    for (word, bytes) in words.iter_mut().zip(record.chunks_exact(8)) {
        *word = u64::from_ne_bytes(bytes.try_into().expect("eight bytes each"));
    }
    let (tid, tgid) = halves(words[4]);
    let (number, subject) = halves(words[5]);
    let (thread, _unused) = halves(words[6]);
    Slot {
        calls: 0,
        errors: 0,
        total: elapsed(words[0]),
        waiting: elapsed(words[1]),
        guest: elapsed(words[2]),
        returned: 0,
        seen: words[3],
        tid,
        tgid,
        number,
        subject,
        // A thread without a slot is known by nothing else: each is one of its own.
        thread: if thread == 0 { u32::MAX - place } else { thread },
        comm: text(&words[7..9]),
        process: text(&words[9..11]),
        epoch: 0,
        times: Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_call_that_begins_while_it_is_looked_at_has_no_time_yet() {
        let record = |total: u64| {
            let mut record = [0; WORDS * 8];
            record[..8].copy_from_slice(&total.to_ne_bytes());
            record
        };
        assert_eq!(slot(0, &record(0_u64.wrapping_sub(305))).total, 0);
        assert_eq!(slot(0, &record(305)).total, 305);
    }
}
