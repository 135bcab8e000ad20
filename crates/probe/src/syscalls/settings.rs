//! The settings and counters of the kernel program: `struct settings`, subjects and marks.

use crate::{
    bpf::{BpfObject, Subjects, failed},
    observe::{ProbeError, Watch},
};

/// Three words of 8 bytes: the epoch with the size of the slot table, the slots in use, and the calls without a slot.
type Words = [u64; 3];
/// One bit per process, selected by the low bits of its PID.
type Marks = [u64; 8192];

const SETTINGS: &str = ".data.settings";
const MARKS: &str = ".bss";

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Counters {
    pub(super) taken: u32,
    pub(super) overflowed: u64,
}

pub(super) fn begin(loaded: &mut BpfObject, watch: &Watch, epoch: u32, slots: u32) -> Result<(), ProbeError> {
    let subjects = (1..).zip(&watch.subjects).filter(|(_, subject)| subject.syscalls);
    let subjects = Subjects::of(subjects);
    loaded.set_subjects(&subjects)?;
    let mut array = loaded.array::<Marks>(MARKS)?;
    array.set(0, *marks(subjects.pids()), 0).map_err(|error| failed("write", MARKS, &error))?;
    let mut array = loaded.array::<Words>(SETTINGS)?;
    array.set(0, [join(epoch, slots), 0, 0], 0).map_err(|error| failed("write", SETTINGS, &error))
}

pub(super) fn counters(loaded: &mut BpfObject) -> Result<Counters, ProbeError> {
    let words = loaded.array::<Words>(SETTINGS)?.get(&0, 0);
    let words = words.map_err(|error| failed("read", SETTINGS, &error))?;
    Ok(Counters { taken: u32::try_from(words[1]).unwrap_or(u32::MAX), overflowed: words[2] })
}

fn marks(pids: impl IntoIterator<Item = u32>) -> Box<Marks> {
    let mut marks = Box::new([0; 8192]);
    for pid in pids {
        let mark = pid as usize % (marks.len() * 64);
        marks[mark / 64] |= 1 << (mark % 64);
    }
    marks
}

fn join(first: u32, second: u32) -> u64 {
    let (first, second) = (first.to_ne_bytes(), second.to_ne_bytes());
    u64::from_ne_bytes([first[0], first[1], first[2], first[3], second[0], second[1], second[2], second[3]])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_processes_by_low_bits_of_pid() {
        let marks = marks([0, 65, (1 << 19) + 3]);
        assert_eq!((marks[0], marks[1]), (0b1001, 0b10));
        assert_eq!(marks.iter().map(|word| word.count_ones()).sum::<u32>(), 3);
    }
}
