//! Whether there is room for the buffers of many connections.

use procfs::{Current, Meminfo};
use units::Bytes;

use super::{Area, Capability, Subject};

const MEMORY: Subject = Subject {
    id: "memory",
    title: "memory",
    needed_for: "many parallel streams: each holds a message and two socket buffers",
    area: Area::Machine,
    required: false,
};

/// 128 streams with messages of 1 MiB at both ends, and socket buffers that the kernel lets grow to 6 MiB.
const ENOUGH: Bytes = Bytes(1 << 30);

pub(super) fn probe() -> Capability {
    let available = Meminfo::current().ok().and_then(|memory| memory.mem_available);
    judge(available.map(Bytes))
}

fn judge(available: Option<Bytes>) -> Capability {
    match available {
        None => MEMORY.limited("unknown: /proc/meminfo does not tell", "mount -t proc proc /proc"),
        Some(bytes) if bytes >= ENOUGH => MEMORY.works(format!("{bytes} free to use")),
        Some(bytes) => MEMORY.limited(
            format!("{bytes} free to use: the kernel will keep socket buffers small"),
            format!("free {ENOUGH}, or ask for fewer streams"),
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::super::State;
    use super::*;

    #[test]
    fn little_memory_is_told_from_enough_and_from_unknown() {
        for (bytes, state) in [(1 << 29, State::Limited), (1 << 30, State::Works), (1 << 40, State::Works)] {
            assert_eq!(judge(Some(Bytes(bytes))).state, state, "{bytes}");
        }
        assert_eq!(judge(None).state, State::Limited);
    }
}
