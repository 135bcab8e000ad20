//! Finds calls in progress when the probe is read, by iterating over all tasks inside the kernel.

use std::{fs::File, io::Read};

use aya::{
    Btf,
    programs::{Iter, Program},
};

use super::slot::{Slot, halves, text};
use crate::{bpf::BpfObject, observe::ProbeError};

const PROGRAM: &str = "each_task";
/// The size of `struct under_way` in words.
const WORDS: usize = 11;

pub(super) fn load(loaded: &mut BpfObject) -> Result<(), ProbeError> {
    let btf = Btf::from_sys_fs().map_err(|_| unreadable("BTF is no longer available"))?;
    program(loaded)?.load("task", &btf).map_err(|_| unreadable("the kernel rejects the iterator program"))
}

/// The value of the system call register while no call is in progress: -1.
const NONE: u32 = u32::MAX;

pub(super) fn calls(loaded: &mut BpfObject) -> Result<Vec<Slot>, ProbeError> {
    let program = program(loaded)?;
    let link = program.attach().and_then(|id| program.take_link(id));
    let link = link.map_err(|_| unreadable("the kernel does not attach the iterator program"))?;
    let file: File =
        link.into_file().map_err(|_| unreadable("the kernel does not run the iterator program"))?;
    let mut bytes = Vec::new();
    { file }.read_to_end(&mut bytes).map_err(|error| unreadable(&error.to_string()))?;
    let all = (0..).zip(bytes.chunks_exact(WORDS * 8)).map(|(place, record)| slot(place, record));
    // A thread that is leaving a call has no call number.
    Ok(all.filter(|slot| slot.number != NONE).collect())
}

fn program(loaded: &mut BpfObject) -> Result<&mut Iter, ProbeError> {
    match loaded.program(PROGRAM) {
        Some(Program::Iter(program)) => Ok(program),
        _ => Err(unreadable("the object lacks the iterator program")),
    }
}

fn unreadable(reason: &str) -> ProbeError {
    ProbeError::Failed { operation: "look for calls in progress".to_owned(), reason: reason.to_owned() }
}

/// Returns zero for a call that starts on another CPU during the iteration.
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
        // A thread without a slot has no other identity, so it counts as a separate thread.
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
    fn call_that_starts_during_iteration_has_no_time() {
        let record = |total: u64| {
            let mut record = [0; WORDS * 8];
            record[..8].copy_from_slice(&total.to_ne_bytes());
            record
        };
        assert_eq!(slot(0, &record(0_u64.wrapping_sub(305))).total, 0);
        assert_eq!(slot(0, &record(305)).total, 305);
    }
}
